# SPDX-License-Identifier: MIT
#
# The shim's sources, and the flags that its promises rest on.

# The rooms of the shim, from the ground up, and which each may use.  tools/layers
# reads this and holds the code to it.
# kernel: system calls, the processor, other code's bytes, what is configured.
kernel_USES :=
# core: the hooks, sites, records, chunks, threads, processes.
core_USES := kernel
# program: what cstrace.h offers to the program itself.
program_USES := core kernel
# libc: the functions that stand before libc's and the unwinder's, and how all
# begins.
libc_USES := core kernel program

SHIM_SRC := \
	cshim/shim/core/hook.c \
	cshim/shim/core/patched.c \
	cshim/shim/core/ends_check.c \
	cshim/shim/core/event.c \
	cshim/shim/core/quick.c \
	cshim/shim/core/copy.c \
	cshim/shim/core/bare.c \
	cshim/shim/core/readable.c \
	cshim/shim/core/watch.c \
	cshim/shim/core/stops.c \
	cshim/shim/core/stop_values.c \
	cshim/shim/core/open_calls.c \
	cshim/shim/core/function_at.c \
	cshim/shim/core/depth.c \
	cshim/shim/core/site.c \
	cshim/shim/core/edge.c \
	cshim/shim/core/chunk.c \
	cshim/shim/core/thread.c \
	cshim/shim/core/process.c \
	cshim/shim/core/raw_clone.c \
	cshim/shim/kernel/syscall_gate.c \
	cshim/shim/kernel/bpf.c \
	cshim/shim/kernel/handed.c \
	cshim/shim/core/area.c \
	cshim/shim/core/reader.c \
	cshim/shim/core/sync.c \
	cshim/shim/core/control.c \
	cshim/shim/kernel/config.c \
	cshim/shim/kernel/maps.c \
	cshim/shim/kernel/task.c \
	cshim/shim/kernel/symbols.c \
	cshim/shim/kernel/state.c \
	cshim/shim/core/mappings.c \
	cshim/shim/kernel/buildid.c \
	cshim/shim/core/file.c \
	cshim/shim/core/flight.c \
	cshim/shim/core/sigstack.c \
	cshim/shim/libc/clone.c \
	cshim/shim/libc/jump.c \
	cshim/shim/libc/passing.c \
	cshim/shim/core/exception.c \
	cshim/shim/libc/sandbox.c \
	cshim/shim/program/shim.c \
	cshim/shim/program/introduce.c \
	cshim/shim/program/own.c \
	cshim/shim/program/place.c \
	cshim/shim/program/values.c \
	cshim/shim/program/kept_spans.c \
	cshim/shim/program/backtrace.c

# Only where there is a dynamic linker.
SHIM_SO_SRC := \
	cshim/shim/core/plans.c \
	cshim/shim/core/patches.c \
	cshim/shim/core/attach.c \
	cshim/shim/libc/begin.c \
	cshim/shim/libc/opened.c \
	cshim/shim/libc/find_object.c \
	cshim/shim/libc/unload.c \
	cshim/shim/libc/interpose.c \
	cshim/shim/libc/unwind.c \
	cshim/shim/libc/next_symbol.c \
	cshim/shim/kernel/loaded_object.c \
	cshim/shim/kernel/all_objects.c \
	cshim/shim/libc/exec.c \
	cshim/shim/libc/deepbind.c

# Only in the archive.
SHIM_A_SRC := \
	cshim/shim/libc/begin_static.c \
	cshim/shim/libc/sigaltstack.c \
	cshim/shim/libc/interpose_static.c

# What the linker is told, by a file: for what to call ours (interpose_static.c), and what to
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
SHIM_CFLAGS := -iquote cshim/shim -O2 -g0 -fPIC -fvisibility=hidden -ftls-model=initial-exec \
	-fomit-frame-pointer -fasynchronous-unwind-tables \
	-mgeneral-regs-only -ffreestanding -fno-builtin -fcf-protection=full \
	-fno-stack-protector -U_FORTIFY_SOURCE \
	-fno-sanitize=all -fno-lto -fno-profile-arcs -fno-test-coverage

# gcc alone: no memset() for a loop, rbp left as the caller had it (x86_64.h),
# hot functions not split or cloned.
ifneq ($(shell $(CC) --version | grep -c 'Free Software Foundation'),0)
SHIM_CFLAGS += -fno-tree-loop-distribute-patterns -ffixed-rbp
$(BUILD)/obj/cshim/shim/core/quick.o: SHIM_CFLAGS += -fno-jump-tables \
	-ffixed-rbx -ffixed-r12 -ffixed-r13 -ffixed-r14 -ffixed-r15
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
# initfirst: begin.c.
SHIM_LDFLAGS := -Wl,-z,now -Wl,-z,nodelete -Wl,-Bsymbolic-functions \
	-Wl,-z,shstk -Wl,-z,initfirst
