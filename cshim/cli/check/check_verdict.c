/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints the verdict of `cstrace check`: whether the file can be traced, and if
 * not, why and what to do.
 */
#include "check/check_print.h"
#include "base/text.h"
#include "cstrace/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct library *with_hooks(const struct check *c)
{
	for (uint32_t i = 0; i < c->libraries.n; i++)
		if (c->libraries.all[i].has_hooks)
			return &c->libraries.all[i];
	return NULL;
}

static int say_no(const struct check *c, const char *why)
{
	print_verdict_line("%s cannot be traced: %s", shown(c->file.path), why);
	return 0;
}

static void say_yes(const struct check *c)
{
	const struct check_unit *units = c->code.units;
	uint32_t n_units = c->code.n_units, n = 0, n_hooked = 0;

	/* What has no debug information is a library's, linked in; unless
	 * nothing has. */
	for (uint32_t i = 0; i < n_units && (i + 1 < n_units || !n); i++) {
		n += units[i].n_functions;
		n_hooked += units[i].n_hooked;
	}
	if (c->file.is_lto)
		print_verdict_line("%s can be traced once it is linked",
				   shown(c->file.path));
	else if (!c->sites.n)
		print_verdict_line("%s can be traced: it imports the hooks, "
				   "though no call of them is seen "
				   "(-mcmodel=large?)",
				   shown(c->file.path));
	else if (n)
		print_verdict_line("%s can be traced: %u of %u functions call "
				   "the hooks",
				   shown(c->file.path), n_hooked, n);
	else
		print_verdict_line("%s can be traced: its code calls the hooks "
				   "in %u places",
				   shown(c->file.path), c->sites.n);
}

/* gcc's -finstrument-functions-exclude-... that a unit was compiled with; ""
 * where there is none. */
static void find_exclusion(const struct check *c, char *out, size_t size)
{
	*out = 0;
	for (uint32_t i = 0; i < c->code.n_units && !*out; i++) {
		const char *flag = strstr(c->code.units[i].producer,
					  "-finstrument-functions-exclude-");

		if (flag)
			snprintf(out, size, "%.*s", (int)strcspn(flag, " "),
				 flag);
	}
}

/* All that it was compiled from, as far as that is known. */
static int is_rust(const struct check *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i + 1 < c->code.n_units; i++) {
		const struct check_unit *u = &c->code.units[i];

		if (u->is_assembler || !u->n_functions)
			continue;
		if (!check_unit_is_rust(u))
			return 0;
		n++;
	}
	return n > 0;
}

/* What the dynamic linker starts, and libcstrace.so can get into; and what such
 * a program loads. */
int check_is_patched(const struct check *c)
{
	const struct check_file *f = &c->file;

	return f->hooks == HOOKS_NONE && !f->has_words && !f->is_lto &&
	       (f->kind == FILE_LIBRARY ||
		(f->kind == FILE_PROGRAM && f->is_dynamic)) &&
	       !*c->rights;
}

/* Libraries in the system's folders are patched if somebody names them. */
static void say_patched(const struct check *c, const char *flag)
{
	const char *path = shown(c->file.path);
	char real[PATH_MAX];
	struct cst_error err;

	print_verdict_line("%s can be traced: it has no -finstrument-functions "
			   "hooks, and is patched in memory",
			   path);
	if (c->file.kind == FILE_LIBRARY && realpath(c->file.path, real) &&
	    !cst_plan_wants(real, NULL, &err))
		print_mend("name it, for it lies in the system's folders: %s "
			   "%.*s",
			   page_is_in_gdb() ? "cstrace start -modules"
					    : "cstrace record --modules",
			   (int)strcspn(text_last_name(path), "."),
			   text_last_name(path));
	print_mend(page_is_in_gdb()
			   ? "cstrace check -patch %s tells of which functions"
			   : "cstrace check --patch %s tells of which "
			     "functions",
		   path);
	if (*flag)
		print_mend("for its hooks, compile it without %s", shown(flag));
	else if (!is_rust(c))
		print_mend("for calls that were inlined, compile it with gcc "
			   "or clang -g -finstrument-functions");
}

/* Returns whether it can be traced all the same. */
static int say_no_hooks(const struct check *c)
{
	char flag[512];

	find_exclusion(c, flag, sizeof(flag));
	if (check_is_patched(c)) {
		say_patched(c, flag);
		return 1;
	}
	if (*flag) {
		say_no(c, "all its functions were left out of "
			  "-finstrument-functions");
		print_mend("compile it without %s", shown(flag));
		return 0;
	}
	say_no(c, "it has no -finstrument-functions hooks");
	if (is_rust(c))
		print_mend(
			"rustc has no option for the hooks: in Rust programs "
			"only C and C++ code can be traced");
	else
		print_mend("compile it with gcc or clang -g "
			   "-finstrument-functions%s",
			   c->file.kind == FILE_PROGRAM && !c->file.is_dynamic
				   ? ", and link libcstrace.a into it: "
				     "-lcstrace"
				   : "");
	return 0;
}

static int without_hooks(const struct check *c)
{
	const struct library *l = with_hooks(c);
	int can_be_traced;

	if (l && c->file.kind != FILE_OBJECT && !check_is_patched(c)) {
		print_verdict_line(
			"%s itself has no hooks: only calls in %s are traced",
			shown(c->file.path), shown(l->name));
		return 1;
	}
	if (c->file.has_words && !c->file.is_dynamic &&
	    c->file.hooks != HOOKS_ARCHIVE && c->file.kind == FILE_PROGRAM) {
		say_no(c, "it is static, and libcstrace.a is not linked in");
		print_mend("link libcstrace.a into it: -lcstrace");
		return 0;
	}
	if (c->file.has_words) {
		print_verdict_line("%s has no hooks: what it says by cstrace.h "
				   "is traced",
				   shown(c->file.path));
		if (c->file.kind == FILE_PROGRAM && !*c->rights)
			print_mend(page_is_in_gdb()
					   ? "cstrace start -patch traces its "
					     "calls, too"
					   : "cstrace record --patch traces "
					     "its calls, too");
		return 1;
	}
	if (c->file.is_lto) {
		say_no(c, "it holds the compiler's own code (-flto)");
		print_mend("check the program that it is linked into");
		return 0;
	}
	if (!c->file.is_dynamic && c->file.is_stripped) {
		say_no(c, "it is static and stripped, so that no symbol tells "
			  "where its hooks are");
		print_mend("do not strip it (no -s, no strip), and link "
			   "libcstrace.a into it: -lcstrace");
		return 0;
	}
	can_be_traced = say_no_hooks(c);
	if (*c->rights)
		print_mend("and trace a copy without another user's rights: "
			   "cp %s /tmp",
			   shown(c->file.path));
	if (c->file.loads_more)
		print_mend("or check what it loads while it runs (dlopen): "
			   "that may have them");
	return can_be_traced;
}

/* It has hooks, but no shim can be put before them. */
static int in_gdb_only(const struct check *c, const char *why)
{
	print_verdict_line("%s can be traced in gdb only: %s",
			   shown(c->file.path), why);
	return 1;
}

int print_verdict(const struct check *c)
{
	const struct check_file *f = &c->file;

	if (*c->rights && (f->hooks != HOOKS_NONE || with_hooks(c)) &&
	    f->hooks != HOOKS_SHIM && f->hooks != HOOKS_ARCHIVE) {
		say_no(c, "it runs with another user's rights, so "
			  "libcstrace.so cannot get into it");
		print_mend("trace a copy without them: cp %s /tmp",
			   shown(f->path));
		return 0;
	}
	if (f->hooks == HOOKS_ARCHIVE && f->kind == FILE_LIBRARY && !c->sites.n)
		return say_no(c, "it is libcstrace.so itself");
	if (f->hooks == HOOKS_NONE ||
	    (f->hooks != HOOKS_IMPORTED && !c->sites.n))
		return without_hooks(c);
	if (f->hooks == HOOKS_OWN && f->is_dynamic) {
		in_gdb_only(c, "it defines the hooks itself, so that "
			       "libcstrace.so's are not called");
		print_mend("take its __cyg_profile_func_enter and _exit out");
		return 1;
	}
	if (f->hooks == HOOKS_OWN && f->kind == FILE_PROGRAM) {
		in_gdb_only(c, "a static program cannot take libcstrace.so");
		print_mend("link libcstrace.a into it: -lcstrace");
		return 1;
	}
	say_yes(c);
	return 1;
}
