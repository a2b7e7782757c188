# SPDX-License-Identifier: MIT
CLI_SRC := cshim/cli/main.c cshim/cli/options.c cshim/cli/option_rows.c cshim/cli/option_values.c \
	cshim/cli/help.c cshim/cli/near.c cshim/cli/complete.c cshim/cli/reading.c cshim/cli/input.c \
	cshim/cli/pager.c cshim/cli/show.c cshim/cli/report.c cshim/cli/graph.c cshim/cli/save.c \
	cshim/cli/info.c cshim/cli/diff.c cshim/cli/expect.c cshim/cli/record.c cshim/cli/losses.c cshim/cli/launch.c \
	cshim/cli/beside.c cshim/cli/preload.c cshim/cli/watch.c cshim/cli/stack.c cshim/cli/trace_file.c cshim/cli/preflight.c cshim/cli/gdb.c cshim/cli/naming.c \
	cshim/cli/binary.c cshim/cli/check.c cshim/cli/check_file.c \
	cshim/cli/check_hooks.c cshim/cli/check_libraries.c \
	cshim/cli/check_code.c cshim/cli/check_names.c cshim/cli/check_table.c \
	cshim/cli/check_verdict.c cshim/cli/check_facts.c \
	cshim/cli/check_units.c cshim/cli/check_page.c cshim/cli/check_fates.c
