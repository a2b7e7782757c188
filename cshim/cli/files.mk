# SPDX-License-Identifier: MIT
CLI_SRC := cshim/cli/main.c cshim/cli/options.c cshim/cli/option_rows.c \
	cshim/cli/help.c cshim/cli/near.c cshim/cli/complete.c cshim/cli/reading.c cshim/cli/input.c \
	cshim/cli/pager.c cshim/cli/show.c cshim/cli/report.c cshim/cli/save.c \
	cshim/cli/info.c cshim/cli/diff.c cshim/cli/expect.c cshim/cli/record.c cshim/cli/launch.c \
	cshim/cli/preload.c cshim/cli/watch.c cshim/cli/gdb.c cshim/cli/naming.c \
	cshim/cli/binary.c
