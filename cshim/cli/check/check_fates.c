/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints what becomes of each function that the user asks about: traced,
 * excluded, without hooks, imported, or not there, with names that are near.
 */
#include "check/check_print.h"
#include "base/search.h"
#include "cstrace/engine.h"
#include "spelling.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct check_unit *unit_of(const struct check *c,
					const struct check_name *n)
{
	return &c->code.units[n->unit];
}

/* How its code is patched, or NULL: it is not. */
static const struct cst_plan_function *planned(const struct check *c,
					       const struct check_name *n)
{
	uint64_t addr = n->addr - c->file.bias;
	const struct plan *p = c->plan;
	uint32_t all = p ? p->header->functions.n : 0, i;

	i = search_while(k, all, p->functions[k].address < addr);
	return n->n_copies && i < all && p->functions[i].address == addr
		       ? &p->functions[i]
		       : NULL;
}

static int is_patched(const struct check *c, const struct check_name *n)
{
	const struct cst_plan_function *f = planned(c, n);

	return f && !f->reason;
}

static int is_hooked(const struct check_name *n)
{
	return n->n_copies_hooked || n->n_inlined_hooked;
}

static const char *places(uint32_t n)
{
	static char text[32];

	snprintf(text, sizeof(text), "%u place%s", n, n == 1 ? "" : "s");
	return text;
}

/* Is text found in one of the words of FLAG=word,word?  Then out is that flag.
 * That is how gcc reads it; it tells its flags in the producer. */
static int is_excluded(const char *producer, const char *flag, const char *text,
		       char *out, size_t size)
{
	const char *at = producer;

	while (text && (at = strstr(at, flag))) {
		const char *word = at + strlen(flag);
		size_t all = strcspn(at, " ");
		char one[256];

		for (; word < at + all; word += strlen(one)) {
			word += *word == ',';
			snprintf(one, sizeof(one), "%.*s",
				 (int)strcspn(word, ", "), word);
			if (!*one)
				break;
			if (!strstr(text, one))
				continue;
			snprintf(out, size, "%.*s", (int)all, at);
			return 1;
		}
		at += all;
	}
	return 0;
}

static void tell_hooked(const struct check_name *n)
{
	uint32_t all = n->n_inlined, bare = all - n->n_inlined_hooked;

	if (n->is_std) {
		print_fate("calls the hooks, but is hidden: it is the C++ "
			   "library's or a system header's");
		print_mend(page_is_in_gdb() ? "set cstrace std on"
					    : "--std shows it (in gdb: set "
					      "cstrace std on)");
	} else if (bare) {
		print_fate("calls the hooks, but not where it was inlined "
			   "(%u of %s)",
			   bare, places(all));
		print_mend("__attribute__((noinline)), or with clang "
			   "-finstrument-functions without -after-inlining");
	} else {
		print_fate("calls the hooks: if it is not in the trace, it was "
			   "not called or a filter hides it");
	}
}

static void tell_excluded(const struct check_unit *u,
			  const struct check_name *n)
{
	static const char list[] = "-finstrument-functions-exclude-";
	char flag[512], by_name[64], by_file[64];

	snprintf(by_name, sizeof(by_name), "%sfunction-list=", list);
	snprintf(by_file, sizeof(by_file), "%sfile-list=", list);
	if (is_excluded(u->producer, by_name, n->name, flag, sizeof(flag)) ||
	    is_excluded(u->producer, by_file, n->file, flag, sizeof(flag))) {
		print_fate("was left out by %s", shown(flag));
		print_mend("compile %s without that", shown(u->name));
	} else if (!n->n_copies && strstr(u->producer, "clang")) {
		print_fate("was inlined everywhere (%s), and so without the "
			   "hooks",
			   places(n->n_inlined));
		print_mend("compile %s with -finstrument-functions, not "
			   "-finstrument-functions-after-inlining, or make it "
			   "__attribute__((noinline))",
			   shown(u->name));
	} else {
		print_fate("was left out, others in %s were not: it is marked "
			   "no_instrument_function",
			   shown(u->name));
		print_mend("take __attribute__((no_instrument_function)) from "
			   "it");
	}
}

static void tell_bare(const struct check *c, const struct check_name *n)
{
	const struct check_unit *u = unit_of(c, n);

	if (!n->has_debug) {
		print_fate("does not call the hooks (without debug information "
			   "nothing tells why)");
		print_mend("compile it with -g -finstrument-functions");
	} else if (u->is_assembler) {
		print_fate("is written in assembler (%s)", shown(u->name));
		print_mend("call the hooks by hand");
	} else if (check_unit_is_instrumented(u)) {
		tell_excluded(u, n);
	} else {
		if (n->n_copies)
			print_fate("does not call the hooks: %s was compiled "
				   "without them",
				   shown(u->name));
		else
			print_fate("was inlined everywhere (%s), and %s was "
				   "compiled without the hooks",
				   places(n->n_inlined), shown(u->name));
		if (check_unit_is_rust(u))
			print_mend("rustc has no option for the hooks");
		else
			print_mend("compile %s with -finstrument-functions",
				   shown(u->name));
	}
}

static void tell_planned(const struct cst_plan_function *f)
{
	if (f->reason)
		print_fate("is left out: it %s", plan_reason(f->reason));
	else if (f->n_missed)
		print_fate("is patched; %u of %u ends are estimated",
			   f->n_missed, f->n_exits + f->n_missed);
	else
		print_fate("is patched: if it is not in the trace, it was not "
			   "called or a filter hides it");
	if (f->reason == CST_PLAN_NO_ROOM)
		print_mend("-fpatchable-function-entry=5 makes room");
}

static void tell_imported(const struct check *c, const struct check_name *n,
			  const char *regex)
{
	const struct library *l = NULL;

	for (int i = 0; i < c->file.n_symbols && !l; i++) {
		char name[4096];
		struct check_symbol s;

		if (!check_file_symbol(&c->file, i, &s) || s.is_defined)
			continue;
		cst_demangle(s.name, name, sizeof(name));
		if (!strcmp(name, n->name))
			l = libraries_owner(&c->libraries, s.name);
	}
	if (!l) {
		print_fate("is in another file");
		return;
	}
	print_fate("is in a library: %s", shown(l->path));
	print_mend("cstrace check %s '%s'", shown(l->path), shown(regex));
}

static void tell(const struct check *c, const struct check_name *n,
		 const char *regex)
{
	const struct cst_plan_function *f = planned(c, n);

	print_function(n->name, n->file, n->line);
	if (f)
		tell_planned(f);
	else if (is_hooked(n))
		tell_hooked(n);
	else if ((n->n_copies || n->n_inlined) && !c->sites.n &&
		 c->file.hooks == HOOKS_IMPORTED)
		print_fate("may call the hooks: no call of them is seen in the "
			   "file (-mcmodel=large?)");
	else if (n->n_copies || n->n_inlined)
		tell_bare(c, n);
	else if (n->is_imported)
		tell_imported(c, n, regex);
	else
		print_fate("has no code in the file: nothing calls it, or its "
			   "calls were computed away");
}

static void tell_stripped(void)
{
	print_mend("do not strip the file: only exported functions have a name "
		   "in it");
}

/* What of a name people remember: neither scope nor parameters. */
static void short_name(const char *name, char *out, size_t size)
{
	size_t end = strcspn(name, "(<$"), start = end;

	while (start && (isalnum((unsigned char)name[start - 1]) ||
			 name[start - 1] == '_'))
		start--;
	snprintf(out, size, "%.*s", (int)(end - start), name + start);
}

static void tell_near(const struct check *c, const char *regex)
{
	char wanted[128], offered[2][128], name[4096];
	struct near near = {.wanted = wanted};
	const char *found = NULL;
	int kept = 0;

	short_name(regex + (*regex == '^'), wanted, sizeof(wanted));
	for (uint32_t i = 0; i < c->code.n_functions; i++) {
		cst_demangle(c->code.functions[i].name, name, sizeof(name));
		short_name(name, offered[!kept], sizeof(offered[0]));
		spelling_offer(&near, offered[!kept]);
		if (near.word != offered[!kept])
			continue;
		kept = !kept;
		found = c->code.functions[i].name;
	}
	if (!found)
		return;
	cst_demangle(found, name, sizeof(name));
	print_mend("there is %s", shown(name));
}

static void tell_none(const struct check *c, const char *regex)
{
	print_none(regex);
	if (c->file.is_stripped)
		tell_stripped();
	tell_near(c, regex);
}

int print_fates(const struct check *c, const struct check_names *names,
		const char *regex, uint32_t limit)
{
	uint32_t n_own = 0;
	int is_any = 0;

	while (n_own < names->n && !names->all[n_own].is_std)
		n_own++;
	if (n_own && n_own < limit && limit != UINT32_MAX)
		limit = n_own;
	if (!names->n)
		tell_none(c, regex);
	for (uint32_t i = 0; i < names->n; i++) {
		if (i < limit)
			tell(c, &names->all[i], regex);
		is_any |= is_hooked(&names->all[i]) ||
			  is_patched(c, &names->all[i]);
	}
	if (names->n && !names->all[0].has_debug && !names->all[0].n_copies &&
	    c->file.is_stripped)
		tell_stripped();
	if (names->n > limit && page_is_text())
		printf("\n  and %u more functions%s: %s shows them\n",
		       names->n - limit,
		       limit == n_own ? " of the C++ library or system headers"
				      : "",
		       page_is_in_gdb() ? "-all" : "--all");
	return is_any;
}
