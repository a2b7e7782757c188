# SPDX-License-Identifier: MIT
#
# The sampler's sources: a library of its own, so that the shim needs libc alone.

SAMPLER_SRC := $(addprefix cshim/sampler/, \
	sampler.c tasks.c handler.c stack.c rules.c interpose.c)

# -g0: as the shim's, gdb's `step` does not stop in it.  Thread variables are
# reached without a call that could allocate them.
SAMPLER_CFLAGS := -iquote cshim/sampler -O2 -g0 -fPIC -fvisibility=hidden \
	-ftls-model=initial-exec -fasynchronous-unwind-tables -fcf-protection=full \
	-fno-stack-protector -fno-sanitize=all -fno-lto

# All is bound at load time: a handler must not enter the dynamic linker.
SAMPLER_LDFLAGS := -Wl,-z,now -Wl,-z,nodelete -Wl,-Bsymbolic-functions -Wl,-z,shstk
