/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints a plan: what is left out first, then what ends where nobody sees it.
 */
#include "check/check_plan.h"
#include "check/check_page.h"
#include "check/preflight.h"
#include "command.h"
#include "elf/elffile.h"
#include "plan/plan_cache.h"
#include "tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The lower, the sooner it is worth a look. */
static int rank_of(const struct cst_plan_function *f)
{
	return f->reason ? 0 : f->n_missed ? 1 : 2;
}

static int compare(const void *a, const void *b, void *of)
{
	const struct plan *p = of;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int p_rank = rank_of(&p->functions[x]);
	int q_rank = rank_of(&p->functions[y]);
	int order = strcmp(plan_name(p, x), plan_name(p, y));

	if (p_rank != q_rank)
		return p_rank - q_rank;
	return order ? order : (x > y) - (x < y);
}

static void print_one(const struct plan *p, uint32_t i)
{
	const struct cst_plan_function *f = &p->functions[i];
	uint32_t n_ends = f->n_exits + f->n_missed;
	char name[1024], address[32];

	cst_demangle(plan_name(p, i), name, sizeof(name));
	snprintf(address, sizeof(address), "0x%llx",
		 (unsigned long long)f->address);
	print_function(*name ? name : address, NULL, 0);
	if (f->reason)
		print_fate("left out: it %s", plan_reason(f->reason));
	else if (f->n_missed)
		print_fate("traced; %u of %u ends are estimated", f->n_missed,
			   n_ends);
	else
		print_fate("traced");
}

/* Does the file hold code that clang compiled? */
static int is_clangs(const char *path)
{
	static const char mark[] = "clang version";
	struct elf_file f;
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *data;
	int found = 0;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	section = elf_file_section_named(f.elf, ".comment", &header);
	data = section ? elf_getdata(section, NULL) : NULL;
	found = data && data->d_buf &&
		memmem(data->d_buf, data->d_size, mark, sizeof(mark) - 1);
	elf_file_close(&f);
	return found;
}

/* Prints which flag makes the room that is not there. */
static void print_flag(const struct plan *p, const char *path)
{
	uint32_t n_tight = 0, n_missed = 0;

	for (uint32_t i = 0; i < p->header->functions.n; i++) {
		n_tight += p->functions[i].reason == CST_PLAN_NO_ROOM;
		n_missed += !p->functions[i].reason && p->functions[i].n_missed;
	}
	if (!n_tight && !n_missed)
		return;
	print_row("room", "begins without: %u; functions with ends without: %u",
		  n_tight, n_missed);
	if (is_clangs(path))
		print_mend("clang -fxray-instrument "
			   "-fxray-instruction-threshold=1 makes room for all");
	else if (n_tight)
		print_mend("-fpatchable-function-entry=5 makes room at all "
			   "begins, gcc's -O2 at most ends");
	else
		print_mend("gcc's -O2 makes room at most ends");
}

static uint32_t print_sum(const struct plan *p, const char *path)
{
	uint32_t n = p->header->functions.n, n_traced = 0, n_missed = 0;
	uint32_t n_ends = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct cst_plan_function *f = &p->functions[i];

		if (f->reason)
			continue;
		n_traced++;
		n_missed += f->n_missed;
		n_ends += f->n_exits + f->n_missed;
	}
	print_verdict_line("%s: %u of %u functions can be traced without hooks",
			   shown(path), n_traced, n);
	if (n_missed)
		print_row("ends", "%u of %u are estimated (~)", n_missed,
			  n_ends);
	print_flag(p, path);
	return n_traced;
}

static void print_lineless(uint32_t n)
{
	if (!n)
		return;
	print_row("lines", "%u more %s no line information, and %s left out", n,
		  n == 1 ? "has" : "have", n == 1 ? "is" : "are");
	print_mend("the REGEX . adds %s: %s", n == 1 ? "it" : "them",
		   page_is_in_gdb() ? "-functions ." : "--patch=.");
}

static int print_all(const struct plan *p, const char *path, uint32_t n_away,
		     uint32_t limit)
{
	uint32_t n = p->header->functions.n, n_traced;
	uint32_t *order = calloc(n + 1ull, sizeof(*order));

	if (!order)
		return failure("out of memory");
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare, (void *)p);
	n_traced = print_sum(p, path);
	if (n_away)
		print_row("inlined",
			  "%u more %s no code of %s own, and so no "
			  "calls",
			  n_away, n_away == 1 ? "has" : "have",
			  n_away == 1 ? "its" : "their");
	print_lineless(p->header->n_lineless);
	for (uint32_t i = 0; i < n && i < limit; i++)
		print_one(p, order[i]);
	if (n > limit && page_is_text())
		printf("  and %u more functions: %s shows them\n", n - limit,
		       page_is_in_gdb() ? "-all" : "--all");
	free(order);
	return n_traced ? STATUS_OK : STATUS_FAILED;
}

static int print_static(const struct options *o)
{
	page_begin(o->names[0], o->output_as, o->is_in_gdb);
	print_verdict_line(
		"%s cannot be patched: it is static, and " PREFLIGHT_NO_LOADER,
		shown(o->names[0]));
	print_mend(PREFLIGHT_STATIC_MEND);
	return page_end(STATUS_FAILED);
}

int print_plan(const struct options *o, const char *regex, uint32_t limit)
{
	const char *path = o->names[0];
	struct plan_choice choice = {.functions = regex,
				     .is_for_gdb = o->is_in_gdb,
				     .debug_file = o->debug_file};
	struct cst_error err;
	struct plan *plan;
	int status;

	if (preflight_is_static(path))
		return print_static(o);
	status = plan_get(path, &choice, &plan, &err);
	if (status < 0)
		return failure("cannot plan '%s': %s", path, err.text);
	page_begin(path, o->output_as, o->is_in_gdb);
	status = print_all(plan, path, plan->header->n_inlined, limit);
	if (!plan->header->functions.n && regex)
		print_none(regex);
	status = page_end(status);
	plan_free(plan);
	return status;
}
