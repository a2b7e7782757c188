/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The options and arguments behind a command's name.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "command.h"
#include "cstrace/engine.h"

enum { MAX_DEBUG_DIRS = 32 };

struct options {
	struct cst_look look;
	struct cst_choice choice;
	struct cst_report report;
	struct cst_graph graph;
	struct cst_calls calls;
	int no_pager;
	uint32_t limit;
	int is_limited; /* --limit was given */
	int32_t times;	/* percent, or negative: not looked at; of diff */
	int fail_on_time;
	enum cst_diff_by diff_by;
	enum cst_diff_sort diff_sort;
	int is_percent; /* diff shows changes of calls in percent */
	int make;	/* of expect: write the golden tree */
	int is_forced;
	const char *debug_dirs[MAX_DEBUG_DIRS];
	int n_debug_dirs;
	const char *debug_file;	   /* of check; or NULL */
	int is_in_gdb;		   /* of check: gdb runs it for its user */
	const char *format;	   /* of save */
	enum cst_output output_as; /* of the commands that sum up */
	int is_all;    /* all calls, also those that record's choice hides */
	int is_chosen; /* record's choice is applied: --all shows more */
	const char *output; /* of record, as the three below */
	uint64_t max_bytes;
	uint64_t flight_bytes; /* 0: all is kept */
	int is_for_core; /* nothing of cstrace's runs beside the program */
	int on_signal;
	uint32_t keep_depth, keep_bytes; /* 0: all is kept */
	uint64_t keep_ns;
	int has_no_what; /* of record: an exception's own what() is not called
			  */
	/* For record: functions without hooks are patched (--patch), or not
	 * (--hooks), or if the program has no hooks. */
	enum patch_wish { PATCH_AS_NEEDED, PATCH_NEVER, PATCH_ALWAYS } patch;
	const char *patch_of; /* functions that match; NULL: all */
	const char *modules; /* libraries of the system that are patched, too */
	int has_border;	     /* calls into libraries that are not traced, too */
	int has_args;	     /* of record: values of calls are recorded */
	int has_members;     /* with members of *this */
	uint32_t text_bytes; /* of a text, at most; 0: as usual */
	const char *args_of; /* of the functions that match; NULL: of all */
	uint32_t sample_hz;  /* 0: no samples */
	uint64_t sample_ns;  /* 0: to the end */
	int is_wall;
	int is_outside;		      /* nothing is loaded into a process */
	int pid;		      /* of sample */
	int is_stacks;		      /* of report */
	uint64_t every_ns, recent_ns; /* of top */
	char **names;		      /* the arguments, borrowed from argv */
	int n_names;
};

/* Reads argv into *out; the number of arguments must be between min_names and
 * max_names.  Returns 1 to go on, 0 if the help was asked for and printed, or a
 * negative number for bad usage, which was reported.  argv must stay valid; its
 * words may be moved, and a default trace may be put before or behind them. */
int options_parse(const struct command *c, int argc, char **argv, int min_names,
		  int max_names, struct options *out);

#endif
