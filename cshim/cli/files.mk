# SPDX-License-Identifier: MIT
#
# The command's sources: what all of it uses, a file for each command, and what
# `cstrace check` consists of.

CLI_SRC := $(addprefix cshim/cli/, \
	main.c commands.c tell.c options.c option_rows.c option_values.c help.c spelling.c \
	complete.c complete_where.c trace_input.c trace_rows.c input.c pager.c losses.c launch.c patching.c install_dir.c \
	preload.c record_core.c watch.c big_stack.c trace_file.c bfd_names.c binary.c outside.c \
	remote_stack.c thread_event.c \
	process_names.c progress_line.c recorder_setup.c sample_process.c screen.c)

CLI_SRC += $(addprefix cshim/cli/commands/, \
	show.c list.c calls.c report.c graph.c save.c info.c diff.c expect.c record.c check.c gdb.c \
	sample.c top.c)

CLI_SRC += $(addprefix cshim/cli/attach/, \
	tracee.c remote_call.c write_code.c hook_words.c guest.c attach.c \
	record_process.c inside.c)

CLI_SRC += $(addprefix cshim/cli/check/, \
	check_file.c check_hooks.c check_libraries.c check_code.c \
	check_names.c check_table.c check_verdict.c check_facts.c check_units.c \
	check_page.c check_fates.c check_plan.c preflight.c)
