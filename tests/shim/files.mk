# SPDX-License-Identifier: MIT
#
# Each program maps one area for its life, as the shim does: so one scene, one
# program.  All of them are traced by the shim they test.

SHIM_TESTS := ring signals forks lost wait_limit sync retire no_area hot_path \
	guests guests_raw vforked strict filters alternate own_words watch kept depth copy quick \
	patched

MINI_READER := -finstrument-functions
MINI_READER_SRC := tests/shim/mini_reader.c

ring_CFLAGS := $(MINI_READER)
ring_LIBS := $(MINI_READER_SRC)
signals_CFLAGS := $(MINI_READER)
signals_LIBS := $(MINI_READER_SRC)
forks_CFLAGS := $(MINI_READER)
forks_LIBS := $(MINI_READER_SRC)
lost_CFLAGS := $(MINI_READER)
lost_LIBS := $(MINI_READER_SRC)
wait_limit_CFLAGS := $(MINI_READER)
wait_limit_LIBS := $(MINI_READER_SRC)
sync_CFLAGS := $(MINI_READER)
sync_LIBS := $(MINI_READER_SRC)
retire_CFLAGS := $(MINI_READER)
retire_LIBS := $(MINI_READER_SRC)
no_area_CFLAGS := $(MINI_READER)
no_area_LIBS := $(MINI_READER_SRC)
guests_CFLAGS := $(MINI_READER)
guests_LIBS := $(MINI_READER_SRC)
guests_raw_CFLAGS := $(MINI_READER)
guests_raw_LIBS := $(MINI_READER_SRC)
vforked_CFLAGS := $(MINI_READER)
vforked_LIBS := $(MINI_READER_SRC)
alternate_CFLAGS := $(MINI_READER)
alternate_LIBS := $(MINI_READER_SRC)
copy_LIBS := $(MINI_READER_SRC)
quick_LIBS := $(MINI_READER_SRC)
patched_LIBS := $(MINI_READER_SRC)
depth_CFLAGS := $(MINI_READER) -fno-omit-frame-pointer
depth_LIBS := $(MINI_READER_SRC)
strict_CFLAGS := $(MINI_READER)
strict_LIBS := $(MINI_READER_SRC)
filters_CFLAGS := -iquote cshim/shim
filters_SRC := cshim/shim/kernel/bpf.c
own_words_CFLAGS := $(MINI_READER) -DCSTRACE -DCSTRACE_LINKED
own_words_LIBS := $(MINI_READER_SRC)
watch_CFLAGS := $(MINI_READER) -DCSTRACE -DCSTRACE_LINKED
watch_LIBS := $(MINI_READER_SRC)
kept_CFLAGS := $(MINI_READER) -DCSTRACE -DCSTRACE_LINKED
kept_LIBS := $(MINI_READER_SRC)
