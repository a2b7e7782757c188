/* SPDX-License-Identifier: MIT */
#include "sites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct asked {
	uint64_t addr;
	uint32_t subject; /* function, or call site */
	uint8_t kind;	  /* enum cst_question_kind */
	uint8_t is_answered;
	uint8_t is_named; /* the function has its linkage name */
};

void sites_init(struct sites *s, struct area *a, struct modules *m,
		struct names *n)
{
	*s = (struct sites){
		.area = a, .modules = m, .names = n, .n = CST_FIRST_SITE};
}

void sites_release(struct sites *s)
{
	addrmap_release(&s->functions);
	addrmap_release(&s->physicals);
	addrmap_release(&s->scopes);
	free(s->scope_parents);
	free(s->first_of_function);
	free(s->asked);
	free(s->all);
	free(s->places);
	*s = (struct sites){0};
}

static void sites_ask(struct sites *s, enum cst_question_kind kind,
		      uint64_t addr, uint32_t subject, int is_named)
{
	if (s->n_asked == s->cap_asked) {
		uint32_t cap = s->cap_asked ? 2 * s->cap_asked : 256;
		struct asked *all = realloc(s->asked, cap * sizeof(*all));

		if (!all)
			return;
		s->asked = all;
		s->cap_asked = cap;
	}
	s->asked[s->n_asked++] = (struct asked){
		.addr = addr,
		.subject = subject,
		.kind = (uint8_t)kind,
		.is_named = (uint8_t)is_named,
	};
}

static int sites_room_function(struct sites *s, uint32_t function)
{
	uint32_t cap = s->cap_functions ? s->cap_functions : 256;
	uint32_t *all;

	while (cap <= function)
		cap *= 2;
	if (cap == s->cap_functions)
		return 0;
	all = realloc(s->first_of_function, cap * sizeof(*all));
	if (!all)
		return -1;
	memset(all + s->cap_functions, 0,
	       (cap - s->cap_functions) * sizeof(*all));
	s->first_of_function = all;
	s->cap_functions = cap;
	return 0;
}

/* A symbol at addr; looks again at what is mapped when nothing is there. */
static int find_symbol(struct sites *s, uint64_t addr, struct symbol *out)
{
	int found = modules_symbol(s->modules, addr, out);

	if (!found && !out->module && s->pid && s->is_stale) {
		s->is_stale = 0;
		modules_refresh(s->modules, s->pid, NULL);
		found = modules_symbol(s->modules, addr, out);
	}
	return found;
}

static void name_function(struct sites *s, uint32_t id, uint64_t addr)
{
	struct symbol symbol = {0};
	char name[16384];
	int found = find_symbol(s, addr, &symbol) && symbol.offset == 0;

	if (found)
		cst_demangle(symbol.symbol, name, sizeof(name));
	else if (symbol.module)
		snprintf(name, sizeof(name), "%s+0x%llx", symbol.module,
			 (unsigned long long)symbol.module_offset);
	else
		snprintf(name, sizeof(name), "0x%llx",
			 (unsigned long long)addr);
	names_set_function(s->names, id, name, found ? symbol.symbol : NULL,
			   symbol.module, NULL);
	sites_ask(s, CST_ASK_FUNCTION, addr, id, found);
}

uint32_t sites_function(struct sites *s, uint64_t addr)
{
	uint32_t *known = addrmap_get(&s->functions, addr);
	uint32_t id;

	if (known)
		return *known;
	id = names_add_function(s->names, addr);
	if (id == UINT32_MAX || sites_room_function(s, id) < 0 ||
	    addrmap_put(&s->functions, addr ? addr : 1, id) < 0)
		return UINT32_MAX;
	name_function(s, id, addr);
	return id;
}

/* The number of the physical function that starts there. */
static uint32_t physical_number(struct sites *s, uint64_t start)
{
	uint32_t *known;

	if (!start)
		return 0;
	known = addrmap_get(&s->physicals, start);
	if (known)
		return *known;
	if (addrmap_put(&s->physicals, start, s->n_physical + 1) < 0)
		return 0;
	return ++s->n_physical;
}

uint32_t sites_physical(struct sites *s, uint64_t pc)
{
	struct code code;

	modules_code(s->modules, pc, &code);
	return physical_number(s, code.function);
}

uint32_t sites_add_call(struct sites *s, uint32_t function, uint64_t caller)
{
	uint32_t id = names_add_site(s->names, function);

	if (id != UINT32_MAX && caller)
		sites_ask(s, CST_ASK_LINE, caller - 1, id, 0);
	return id;
}

/* The number of a scope within another; 0: no memory. */
static uint32_t scope_number(struct sites *s, uint64_t id, uint32_t parent)
{
	uint32_t *known = addrmap_get(&s->scopes, id);
	uint32_t n = s->n_scopes + 1;

	if (known)
		return *known;
	if (n >= s->cap_scopes) {
		uint32_t cap = s->cap_scopes ? 2 * s->cap_scopes : 256;
		uint32_t *all = realloc(s->scope_parents, cap * sizeof(*all));

		if (!all)
			return 0;
		s->scope_parents = all;
		s->cap_scopes = cap;
	}
	if (addrmap_put(&s->scopes, id, n) < 0)
		return 0;
	s->scope_parents[n] = parent;
	return s->n_scopes = n;
}

int sites_is_inside(const struct sites *s, uint32_t inner, uint32_t outer)
{
	while (inner && inner != outer)
		inner = s->scope_parents[inner];
	return inner != 0;
}

static int is_muted(struct sites *s, uint32_t function)
{
	return s->mute && filter_excludes(s->mute, s->names, function);
}

static void site_set_muted(struct sites *s, uint32_t number, int muted)
{
	s->all[number].is_muted = (uint8_t)muted;
	/* No fence: a hook that sees it late makes a record more, which is
	 * dropped here. */
	__atomic_store_n(&s->area->sites[number].verdict,
			 muted ? CST_MUTED : CST_RECORDED, __ATOMIC_RELAXED);
}

/* The call line of an entry: from the inline tables where the function was
 * inlined (its frame's return address says nothing of it), else gdb's.  A
 * recursive function may be inlined into itself: its physical function does
 * not tell. */
static void site_find_line(struct sites *s, struct site *site,
			   struct site_place *place, uint64_t callee)
{
	struct inline_call inlined = {0};

	site->call_site = names_add_site(s->names, site->function);
	if (site->call_site == UINT32_MAX)
		return;
	modules_inline_call(s->modules, place->hook - 1, callee, &inlined);
	for (int i = 0; i < inlined.n_scopes; i++)
		place->scope = scope_number(s, inlined.scopes[i], place->scope);
	if (inlined.file)
		names_set_site(s->names, site->call_site, inlined.file,
			       inlined.line);
	else if (place->caller)
		sites_ask(s, CST_ASK_LINE, place->caller - 1, site->call_site,
			  0);
}

static void site_set_frame(struct site *site, const struct code *code)
{
	site->is_cfa_of_fp =
		code->cfa_base == CFA_FP || code->cfa_base == CFA_FP_NEAR;
	site->is_near =
		code->cfa_base == CFA_UNKNOWN || code->cfa_base == CFA_FP_NEAR;
	if (code->cfa_base != CFA_UNKNOWN)
		site->cfa_offset = code->cfa_offset;
}

/* Nothing was called from there: makecontext() and its like put the start of a
 * function where a return address belongs. */
static int is_made_up(struct sites *s, uint64_t caller)
{
	struct code code;

	modules_code(s->modules, caller, &code);
	return code.function == caller;
}

static void site_set_caller(struct sites *s, struct site *site,
			    struct site_place *place)
{
	struct code code;

	modules_code(s->modules, place->caller - 1, &code);
	site->caller_physical = physical_number(s, code.function);
	place->is_first = !place->caller || code.is_outermost ||
			  (!code.function && is_made_up(s, place->caller));
	s->n_first += place->is_first;
	if (code.cfa_base == CFA_SP && code.cfa_offset > 0)
		place->caller_frame = code.cfa_offset;
}

static void site_set_physical(struct sites *s, struct site *site,
			      const struct site_place *place, uint64_t callee)
{
	struct code code;

	if (place->is_tail) { /* the hook's frame is the function's */
		site->physical = sites_physical(s, callee);
		return;
	}
	modules_code(s->modules, place->hook - 1, &code);
	site->physical = physical_number(s, code.function);
	site_set_frame(site, &code);
}

static void site_learn(struct sites *s, uint32_t number)
{
	struct cst_site raw = s->area->sites[number];
	struct site_place *place = &s->places[number];
	struct site *site = &s->all[number];

	*place = (struct site_place){
		.caller = raw.caller,
		.hook = raw.hook,
		.is_tail = raw.kind == CST_EXIT && raw.hook == raw.caller,
	};
	*site = (struct site){
		.kind = (uint8_t)raw.kind,
		.function = sites_function(s, raw.callee),
	};
	if (site->function == UINT32_MAX ||
	    (raw.kind != CST_ENTER && raw.kind != CST_EXIT)) {
		site->is_muted = 1;
		return;
	}
	site_set_physical(s, site, place, raw.callee);
	site_set_caller(s, site, place);
	if (site->kind == CST_ENTER)
		site_find_line(s, site, place, raw.callee);
	place->next_of_function = s->first_of_function[site->function];
	s->first_of_function[site->function] = number;
	if (is_muted(s, site->function))
		site_set_muted(s, number, 1);
}

static int sites_room(struct sites *s, uint32_t n)
{
	uint32_t cap = s->cap ? s->cap : 1024;
	struct site_place *places;
	struct site *all;

	while (cap < n)
		cap *= 2;
	if (cap == s->cap)
		return 0;
	places = realloc(s->places, cap * sizeof(*places));
	if (!places)
		return -1;
	s->places = places;
	all = realloc(s->all, cap * sizeof(*all));
	if (!all)
		return -1;
	/* Numbers below the first site's are of no record. */
	for (uint32_t i = 0; !s->cap && i < CST_FIRST_SITE; i++) {
		all[i] = (struct site){.is_muted = 1};
		places[i] = (struct site_place){0};
	}
	s->all = all;
	s->cap = cap;
	return 0;
}

uint32_t sites_learn(struct sites *s)
{
	uint32_t n = __atomic_load_n(&s->area->head->n_sites, __ATOMIC_ACQUIRE);

	if (n > CST_MAX_SITES)
		n = CST_MAX_SITES;
	if (n <= s->n || sites_room(s, n) < 0)
		return s->n;
	s->is_stale = 1;
	/* Pairs with the release in the hook: a site with a kind is whole. */
	while (s->n < n &&
	       __atomic_load_n(&s->area->sites[s->n].kind, __ATOMIC_ACQUIRE))
		site_learn(s, s->n++);
	return s->n;
}

static void function_mute(struct sites *s, uint32_t function)
{
	int muted = is_muted(s, function);

	for (uint32_t i = s->first_of_function[function]; i;
	     i = s->places[i].next_of_function)
		site_set_muted(s, i, muted);
}

void sites_mute(struct sites *s, struct filter *filter)
{
	s->mute = filter;
	for (uint32_t i = 0; i < s->names->n_functions; i++) {
		if (i < s->cap_functions)
			function_mute(s, i);
	}
}

void sites_unmap(struct sites *s, uint64_t start, uint64_t end)
{
	addrmap_drop(&s->functions, start, end);
	addrmap_drop(&s->physicals, start, end);
	modules_unmap(s->modules, start, end);
}

uint32_t sites_n_open(const struct sites *s)
{
	return s->n_asked - s->n_answered;
}

uint32_t sites_n_waiting(const struct sites *s)
{
	return s->n_asked - s->n_told;
}

int sites_questions(struct sites *s, struct cst_question *out, int n)
{
	int i;

	for (i = 0; i < n && s->n_told < s->n_asked; i++, s->n_told++) {
		const struct asked *a = &s->asked[s->n_told];

		out[i] = (struct cst_question){
			.addr = a->addr, .id = s->n_told, .kind = a->kind};
	}
	return i;
}

static void answer_function(struct sites *s, const struct asked *a,
			    const char *name, const char *file)
{
	const struct function *f = &s->names->functions[a->subject];

	if (a->is_named || !name)
		names_set_function(s->names, a->subject, f->name, f->symbol,
				   f->module, file);
	else
		names_set_function(s->names, a->subject, name, NULL, f->module,
				   file);
}

uint32_t sites_answer(struct sites *s, uint32_t id, const char *name,
		      const char *file, uint32_t line)
{
	struct asked *a = &s->asked[id];

	if (id >= s->n_told || a->is_answered)
		return UINT32_MAX;
	a->is_answered = 1;
	s->n_answered++;
	if (a->kind == CST_ASK_LINE) {
		names_set_site(s->names, a->subject, file, line);
		return UINT32_MAX;
	}
	answer_function(s, a, name, file);
	if (is_muted(s, a->subject))
		function_mute(s, a->subject);
	return a->subject;
}
