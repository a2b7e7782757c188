# SPDX-License-Identifier: MIT
#
# The shim's sources, and the flags that its promises rest on.

SHIM_SRC := \
	cshim/shim/hook.c \
	cshim/shim/event.c \
	cshim/shim/site.c \
	cshim/shim/chunk.c \
	cshim/shim/thread.c \
	cshim/shim/process.c \
	cshim/shim/guest.c \
	cshim/shim/gate.c \
	cshim/shim/bpf.c \
	cshim/shim/area.c \
	cshim/shim/reader.c \
	cshim/shim/sync.c \
	cshim/shim/control.c \
	cshim/shim/config.c \
	cshim/shim/mappings.c \
	cshim/shim/buildid.c \
	cshim/shim/file.c \
	cshim/shim/alternate.c \
	cshim/shim/clone.c \
	cshim/shim/jump.c \
	cshim/shim/exception.c \
	cshim/shim/sandbox.c

# Only where there is a dynamic linker.
SHIM_SO_SRC := \
	cshim/shim/unload.c \
	cshim/shim/libcs.c \
	cshim/shim/unwind.c \
	cshim/shim/next.c \
	cshim/shim/object.c \
	cshim/shim/exec.c \
	cshim/shim/redirect.c

# Only in the archive.
SHIM_A_SRC := \
	cshim/shim/sigaltstack.c \
	cshim/shim/wrap.c

# What the linker is told, by a file: for what to call ours (wrap.c), and what to
# link in though nobody else may want it: ours, wherever the archive stands, and
# libc's.  What only some programs have must not be both called by us and asked
# for: most of a library of C++ comes as a whole, __cxa_throw and, which LLVM's
# unwinder may lack, _Unwind_GetCFA with another function beside them.
SHIM_WRAPPED_LIBCS := longjmp _longjmp siglongjmp __longjmp_chk setcontext \
	swapcontext clone _Fork syscall prctl
SHIM_WRAPPED := $(SHIM_WRAPPED_LIBCS) _Unwind_SetIP __cxa_begin_catch \
	__cxa_throw __cxa_rethrow \
	_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE \
	_ZSt17rethrow_exceptionSt13exception_ptr
SHIM_STATIC_OPTIONS := $(SHIM_WRAPPED:%=--wrap=%) \
	$(patsubst %,--undefined=%,__wrap_longjmp _Unwind_Backtrace \
		__cxa_init_primary_exception \
		$(SHIM_WRAPPED_LIBCS))

# -g0: gdb's `step` walks into what has line information; the unwind tables
# stay.  General registers only, and no loop or copy turned into a call of
# libc: the hooks run in places where neither may be touched.
SHIM_CFLAGS := -O2 -g0 -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fomit-frame-pointer -fasynchronous-unwind-tables \
	-mgeneral-regs-only -ffreestanding -fno-builtin -fcf-protection=full \
	-fno-stack-protector -U_FORTIFY_SOURCE \
	-fno-sanitize=all -fno-lto -fno-profile-arcs -fno-test-coverage

# gcc alone: no memset() for a loop, rbp left as the caller had it (x86_64.h),
# hot functions not split or cloned.
ifneq ($(shell $(CC) --version | grep -c 'Free Software Foundation'),0)
SHIM_CFLAGS += -fno-tree-loop-distribute-patterns -ffixed-rbp
endif

# To debug the shim itself, by a gdb that has no cstrace in it: `make SHIM_DEBUG=1
# BUILD=build/debug`, then run a program with build/debug/libcstrace.so as its
# LD_PRELOAD, or a test of build/debug/tests/shim.
ifneq ($(SHIM_DEBUG),)
SHIM_CFLAGS += -Og -g
endif

# Bound at load time: the first call of a libc function would otherwise enter
# the dynamic linker from wherever the program stands.
# A library that does not say so would take a program's shadow stack away.
SHIM_LDFLAGS := -Wl,-z,now -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
	-Wl,-z,shstk
