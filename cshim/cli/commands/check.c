/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * cstrace check: what a file needs so that it can be traced.
 */
#include "base/error.h"
#include "check/check_plan.h"
#include "check/check_print.h"
#include "command.h"
#include "options.h"
#include "plan/plan_cache.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

enum { N_ROWS = 20 };

/* More rights than we have: the dynamic linker takes nothing from the
 * environment then. */
static void look_at_rights(struct check *c)
{
	struct stat st;
	struct passwd *who;

	if (c->file.kind != FILE_PROGRAM || stat(c->file.path, &st))
		return;
	who = getpwuid(st.st_uid);
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		snprintf(c->rights, sizeof(c->rights), "setuid %s",
			 who ? who->pw_name : "of another user");
	else if (st.st_mode & S_ISGID && st.st_mode & S_IXGRP &&
		 st.st_gid != getegid())
		snprintf(c->rights, sizeof(c->rights), "setgid");
	else if (getxattr(c->file.path, "security.capability", NULL, 0) > 0)
		snprintf(c->rights, sizeof(c->rights), "capabilities");
}

static int check_init(struct check *c)
{
	int is_done = hook_sites_init(&c->sites, &c->file) &&
		      check_code_init(&c->code, &c->file, &c->sites) &&
		      libraries_init(&c->libraries, c->file.path);

	for (uint32_t i = 0; i < c->libraries.n; i++)
		if (c->libraries.all[i].is_shim)
			c->file.hooks = HOOKS_SHIM;
	look_at_rights(c);
	return is_done;
}

/* Functions that nobody can patch stay without a plan. */
static void plan(struct check *c, const struct options *o)
{
	const struct plan_choice choice = {
		.is_for_gdb = o->is_in_gdb,
		.debug_file = o->debug_file,
	};
	struct cst_error err;

	if (check_is_patched(c))
		plan_get(c->file.path, &choice, &c->plan, &err);
}

static int tell(struct check *c, const struct options *o)
{
	const char *regex = o->n_names > 1 ? o->names[1] : NULL;
	uint32_t limit = o->is_all || o->output_as ? UINT32_MAX : N_ROWS;
	struct check_names names;
	struct cst_error err;
	int status, is_good;

	page_begin(o->names[0], o->output_as, o->is_in_gdb);
	if (!regex) {
		is_good = print_verdict(c);
		print_facts(c);
		print_units(c, limit);
		return page_end(is_good ? STATUS_OK : STATUS_FAILED);
	}
	plan(c, o);
	status = check_names_find(&names, &c->file, &c->code, &c->sites, regex,
				  &err);
	if (status == CST_BAD_INPUT)
		return usage_error(&command_check, "%s", err.text);
	if (status < 0)
		return failure("%s", err.text);
	is_good = print_verdict(c);
	is_good &= print_fates(c, &names, regex, limit);
	check_names_release(&names);
	return page_end(is_good ? STATUS_OK : STATUS_FAILED);
}

static int tell_untraceable(const struct options *o, const char *why)
{
	page_begin(o->names[0], o->output_as, o->is_in_gdb);
	print_verdict_line("%s cannot be traced: %s", shown(o->names[0]), why);
	return page_end(STATUS_FAILED);
}

/* gdb names what it has found; a user expects his file to be taken. */
static int is_debug_file_taken(const struct check *c, const struct options *o)
{
	char real[PATH_MAX];

	return !o->debug_file || o->is_in_gdb ||
	       (realpath(o->debug_file, real) &&
		!strcmp(real, c->file.debug_path));
}

/* What no hooks are needed for. */
static int tell_plan(const struct options *o)
{
	const char *regex = o->n_names > 1 ? o->names[1] : o->patch_of;

	if (o->n_names > 1 && o->patch_of)
		return usage_error(&command_check,
				   "one REGEX: '%s' or --patch=%s", o->names[1],
				   o->patch_of);
	return print_plan(o, regex,
			  o->is_all || o->output_as ? UINT32_MAX : N_ROWS);
}

static int check_run(int argc, char **argv)
{
	struct options o;
	struct check c = {0};
	const char *why = NULL;
	int go = options_parse(&command_check, argc, argv, 1, 2, &o);
	int status = STATUS_FAILED;

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (o.patch == PATCH_ALWAYS)
		return tell_plan(&o);
	go = check_file_open(&c.file, o.names[0], o.debug_file, &why);
	if (go < 0)
		failure("cannot open '%s': %s", o.names[0], strerror(errno));
	else if (!go)
		status = tell_untraceable(&o, why);
	else if (!is_debug_file_taken(&c, &o))
		failure("no use for '%s': '%s' has debug information of its "
			"own, or is of another build",
			o.debug_file, o.names[0]);
	else if (!check_init(&c))
		failure("out of memory");
	else
		status = tell(&c, &o);
	plan_free(c.plan);
	libraries_release(&c.libraries);
	check_code_release(&c.code);
	hook_sites_release(&c.sites);
	check_file_close(&c.file);
	return status;
}

const struct command command_check = {
	.name = "check",
	.arguments = "[OPTION...] FILE [REGEX]",
	.summary = "Say what a file needs so that it can be traced",
	.details =
		"FILE is a program, a library or an object file.  It is only "
		"read, never run.\nBelow a finding, `->' tells what mends it.\n"
		"\nWith REGEX: what became of the functions whose name it is "
		"found in, and so why\nthey are not in a trace: not there at "
		"all, inlined, left out, compiled without\nthe hooks, or just "
		"not called.\n\nWith --patch: the functions that `cstrace "
		"record "
		"--patch' traces without hooks,\nand why it leaves others "
		"out.\n\n"
		"Exit status: 0 it can be traced (with REGEX: one of these "
		"functions can), 1 not.\n",
	.examples = "check ./app\n"
		    "check ./app '^parse'\n"
		    "check --patch /usr/bin/git\n",
	.options = FOR_CHECK,
	.takes = {TAKES_FILE, TAKES_WORD},
	.run = check_run,
};
