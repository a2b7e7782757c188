/* SPDX-License-Identifier: MIT
 *
 * Learns each new site of the area: looks up its function, caller, frame rule
 * and inlined calls, and asks for its names.
 */
#include "sites/sites.h"
#include "base/array.h"
#include "elf/x86_64.h"
#include "sites/ahead.h"
#include "sites/own_place.h"
#include "sites/thrown.h"
#include "sites/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int sites_room(struct sites *s, uint32_t n)
{
	uint32_t before = s->cap, cap = before;

	if (array_room(&s->places, &cap, n) < 0 ||
	    array_room(&s->all, &s->cap, n) < 0)
		return CST_MEMORY;
	/* Numbers below the first site's are of no record. */
	for (uint32_t i = 0; !before && i < CST_FIRST_SITE; i++)
		s->all[i].is_muted = 1;
	return 0;
}

int sites_init(struct sites *s, struct area *a, struct names *n)
{
	*s = (struct sites){
		.area = a,
		.names = n,
		.n = CST_FIRST_SITE,
		.n_published = CST_FIRST_SITE,
		.questions = {.names = n, .spaces = &s->spaces},
	};
	/* A record can bear a low number before there is any site. */
	return sites_room(s, CST_FIRST_SITE) < 0 ? CST_MEMORY
						 : spaces_init(&s->spaces, a);
}

void sites_release(struct sites *s)
{
	questions_release(&s->questions);
	spaces_release(&s->spaces);
	hashmap_release(&s->by_place);
	scopes_release(&s->scopes);
	hashmap_release(&s->exceptions.functions);
	hashmap_release(&s->exceptions.sites);
	hashmap_release(&s->own_functions);
	hashmap_release(&s->own_places);
	copies_release(s);
	points_release(&s->points);
	tail_jumps_release(&s->tail_jumps);
	free(s->first_of_function);
	free(s->all);
	free(s->places);
	free(s->files);
	*s = (struct sites){0};
}

int sites_room_function(struct sites *s, uint32_t function)
{
	return array_room(&s->first_of_function, &s->cap_functions,
			  function + 1ull);
}

static void name_function(struct sites *s, struct space *space, uint32_t id,
			  uint64_t addr)
{
	struct symbol symbol = {0};
	char name[16384];
	int found = modules_symbol(space->modules, addr, &symbol) &&
		    symbol.offset == 0;
	const char *module =
		found && symbol.is_stub
			? modules_exporter(space->modules, symbol.symbol)
			: NULL;

	if (found && symbol.end > symbol.start && !symbol.is_stub)
		names_size_function(s->names, id, symbol.end - symbol.start);
	if (found)
		cst_demangle(symbol.symbol, name, sizeof(name));
	else if (symbol.module)
		snprintf(name, sizeof(name), "%s+0x%llx", symbol.module,
			 (unsigned long long)symbol.module_offset);
	else
		snprintf(name, sizeof(name), "0x%llx",
			 (unsigned long long)addr);
	names_set_function(s->names, id, name, found ? symbol.symbol : NULL,
			   module ? module : symbol.module, NULL);
	questions_add(&s->questions, CST_ASK_FUNCTION, space, addr, id, found);
}

static void hear_function(void *arg, const char *symbol)
{
	struct sites *s = arg;

	if (s->mute)
		s->has_news |= (uint8_t)filter_hear(s->mute, symbol);
	if (s->shown)
		filter_hear(s->shown, symbol);
}

static void file_tell(struct sites *s, const struct called_file *file)
{
	if (s->mute || s->shown)
		modules_functions(file->space->modules, file->addr,
				  hear_function, s);
}

/* A function of that file, by the number that modules_place() has for it, is
 * called. */
static void file_called(struct sites *s, struct space *space, uint64_t addr,
			uint32_t number)
{
	struct called_file *file;

	for (uint32_t i = s->n_files; i-- > 0;)
		if (s->files[i].number == number)
			return;
	if (array_room(&s->files, &s->cap_files, s->n_files + 1ull) < 0)
		return;
	file = &s->files[s->n_files++];
	*file = (struct called_file){space, addr, number};
	file_tell(s, file);
	if (s->has_news)
		verdict_all(s);
	s->has_news = 0;
}

/* Not known at this address of the space; in another it may be. */
static uint32_t function_new(struct sites *s, struct space *space,
			     uint64_t addr)
{
	uint64_t place = modules_place(space->modules, addr);
	uint32_t *known = place ? hashmap_get(&s->by_place, place) : NULL;
	uint32_t id;

	if (known)
		return *known;
	id = names_add_function(s->names, addr);
	if (id == UINT32_MAX || sites_room_function(s, id) < 0)
		return UINT32_MAX;
	if (place)
		hashmap_put(&s->by_place, place, id);
	names_place_function(s->names, id, space->number);
	name_function(s, space, id, addr);
	if (place)
		file_called(s, space, addr, modules_number(place));
	return id;
}

/* memmove() may be the code of memcpy(): the stub that was called says which of
 * them is meant.  Returns its address, or that of the code. */
static uint64_t meant(struct space *space, const struct cst_site *raw)
{
	struct modules *m = space->modules;
	uint64_t called = raw->hook <= CST_PATCHED_LAST
				  ? modules_called(m, raw->caller)
				  : 0;
	struct symbol stub;

	return called && called != raw->callee &&
			       modules_symbol(m, called, &stub) &&
			       stub.is_stub && !stub.offset &&
			       modules_is_form(m, raw->callee, stub.symbol)
		       ? called
		       : raw->callee;
}

static uint32_t function_at(struct sites *s, struct space *space, uint64_t addr)
{
	uint32_t *known = hashmap_get(&space->functions, addr);
	uint32_t id;

	if (known)
		return *known;
	id = function_new(s, space, addr);
	if (id == UINT32_MAX ||
	    hashmap_put(&space->functions, addr ? addr : 1, id) < 0)
		return UINT32_MAX;
	return id;
}

uint32_t sites_function(struct sites *s, uint64_t addr)
{
	struct space *space = spaces_asker(&s->spaces);

	spaces_look(&s->spaces, space, UINT32_MAX, addr);
	return function_at(s, space, addr);
}

uint32_t sites_function_with(struct sites *s, uint32_t process, uint64_t pc)
{
	struct space *space = spaces_of(&s->spaces, process);
	struct symbol symbol = {0};
	struct code code = {0};

	if (!modules_has(space->modules, pc))
		return UINT32_MAX;
	modules_code(space->modules, pc, &code);
	if (!code.function && modules_symbol(space->modules, pc, &symbol))
		code.function = pc - symbol.offset;
	return function_at(s, space, code.function ? code.function : pc);
}

/* The number of the physical function that starts there. */
static uint32_t physical_number(struct sites *s, struct space *space,
				uint64_t start)
{
	uint32_t *known;

	if (!start)
		return 0;
	known = hashmap_get(&space->physicals, start);
	if (known)
		return *known;
	if (hashmap_put(&space->physicals, start, s->n_physical + 1) < 0)
		return 0;
	return ++s->n_physical;
}

static uint32_t physical_at(struct sites *s, struct space *space, uint64_t pc)
{
	struct code code;

	modules_code(space->modules, pc, &code);
	return physical_number(s, space, code.function);
}

uint32_t sites_physical(struct sites *s, uint64_t pc)
{
	return physical_at(s, spaces_asker(&s->spaces), pc);
}

uint64_t sites_function_start(struct sites *s, uint64_t pc)
{
	struct code code;

	modules_code(spaces_asker(&s->spaces)->modules, pc, &code);
	return code.function;
}

void sites_ask_line(struct sites *s, uint32_t number, uint32_t call_site)
{
	struct space *space =
		spaces_of(&s->spaces, s->area->sites[number].process);

	questions_add(&s->questions, CST_ASK_LINE, space,
		      s->places[number].caller - 1, call_site, 0);
}

uint32_t sites_add_call(struct sites *s, uint32_t function, uint64_t caller)
{
	uint32_t id = names_add_site(s->names, function);
	struct space *space = spaces_asker(&s->spaces);

	if (id == UINT32_MAX || !caller)
		return id;
	names_place_site(s->names, id, space->number, caller, 0);
	questions_add(&s->questions, CST_ASK_LINE, space, caller - 1, id, 0);
	return id;
}

int sites_scope(struct sites *s, uint32_t process, uint32_t physical,
		uint64_t pc, uint32_t *out)
{
	struct space *space = spaces_of(&s->spaces, process);
	struct inline_call inlined = {0};
	uint32_t *known;

	if (physical_at(s, space, pc) != physical)
		return 0;
	known = hashmap_get(&space->scopes, pc);
	if (!known) {
		modules_inline_call(space->modules, pc, 0, &inlined);
		*out = scopes_innermost(&s->scopes, &inlined);
		return hashmap_put(&space->scopes, pc, *out) == 0;
	}
	*out = *known;
	return 1;
}

int sites_is_return(struct sites *s, uint32_t process, uint64_t pc)
{
	return modules_is_return(spaces_of(&s->spaces, process)->modules, pc);
}

uint64_t sites_cfa(struct sites *s, uint32_t process, uint64_t pc, uint64_t sp,
		   uint64_t fp)
{
	struct code code;

	modules_code(spaces_of(&s->spaces, process)->modules, pc - 1, &code);
	if (code.cfa_base == CFA_UNKNOWN)
		return 0;
	return (code.cfa_base == CFA_SP ? sp : fp) +
	       (uint64_t)(int64_t)code.cfa_offset;
}

/* Inlined, but the tables do not tell where (the compiler made one of two
 * calls): the line of its frame's caller is another call's. */
static int is_lost_inlined(const struct space *space,
			   const struct site_place *place, uint64_t callee)
{
	return place->is_inlined && !place->is_patched &&
	       modules_is_inlined(space->modules, place->hook - 1, callee);
}

/* The call line of an entry: from the inline tables where the function was
 * inlined (its frame's return address says nothing of it), else gdb's.  A
 * recursive function may be inlined into itself: its physical function does
 * not tell. */
static void site_find_line(struct sites *s, struct space *space,
			   struct site *site, struct site_place *place,
			   uint64_t callee)
{
	struct inline_call inlined = {0};

	site->call_site = names_add_site(s->names, site->function);
	if (site->call_site == UINT32_MAX)
		return;
	names_place_site(s->names, site->call_site, space->number,
			 place->caller, place->is_patched ? 0 : place->hook);
	if (!place->is_patched)
		modules_inline_call(space->modules, place->hook - 1, callee,
				    &inlined);
	place->scope = scopes_innermost(&s->scopes, &inlined);
	if (inlined.file)
		questions_set_site(&s->questions, space, place->hook - 1,
				   site->call_site, inlined.file, inlined.line);
	else if (place->caller && !is_lost_inlined(space, place, callee))
		questions_add(&s->questions, CST_ASK_LINE, space,
			      place->caller - 1, site->call_site, 0);
}

/* The call line of a function that reports itself: the innermost one that is
 * inlined where it does so. */
static void site_find_own_line(struct sites *s, struct space *space,
			       const struct site *site,
			       const struct site_place *place)
{
	struct inline_call inlined = {0};

	names_place_site(s->names, site->call_site, space->number,
			 place->caller, 0);
	modules_inline_call_around(space->modules, place->hook - 1,
				   "cstrace_begin_", &inlined);
	if (inlined.file)
		questions_set_site(&s->questions, space, place->hook - 1,
				   site->call_site, inlined.file, inlined.line);
	else
		questions_add(&s->questions, CST_ASK_LINE, space,
			      place->caller - 1, site->call_site, 0);
}

/* Nothing was called from there: makecontext() and its like put the start of a
 * function, or anything, where a return address belongs. */
static int is_made_up(struct space *space, uint64_t caller)
{
	return !caller || caller >> PROCESSOR_ADDRESS_BITS ||
	       !modules_is_return(space->modules, caller);
}

/* Is it a part of a coroutine that goes on later, as clang names those? */
static int is_resumed_part(struct space *space, uint64_t function)
{
	static const char *const parts[] = {".resume", ".destroy", ".cleanup"};
	struct symbol symbol;

	if (!function || !modules_symbol(space->modules, function, &symbol))
		return 0;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		const char *at = strstr(symbol.symbol, parts[i]);
		size_t n = strlen(parts[i]);

		if (at && (!at[n] || at[n] == '.'))
			return 1;
	}
	return 0;
}

/* The hook of what is inlined into such a part gets the caller of the part
 * before: the maker of the coroutine, not the one that resumed it. */
static int is_old_caller(struct sites *s, struct space *space,
			 const struct site *site,
			 const struct site_place *place, uint64_t callee)
{
	struct code code;

	if (place->is_patched ||
	    site->physical == physical_at(s, space, callee))
		return 0;
	modules_code(space->modules, place->hook - 1, &code);
	return is_resumed_part(space, code.function);
}

static void site_set_caller(struct sites *s, struct space *space,
			    struct site *site, struct site_place *place,
			    uint64_t callee)
{
	struct code code;

	if (is_old_caller(s, space, site, place, callee)) {
		place->caller = 0;
		return;
	}
	modules_code(space->modules, place->caller - 1, &code);
	site->caller_physical = physical_number(s, space, code.function);
	place->is_signal = code.is_signal;
	place->is_by_part = code.is_part;
	place->is_bare = code.is_bare && !place->is_bare;
	place->is_first = code.is_outermost ||
			  (!code.is_signal && is_made_up(space, place->caller));
	s->n_first += place->is_first || place->is_bare;
	if (code.cfa_base == CFA_SP && code.cfa_offset > 0)
		place->caller_frame = code.cfa_offset;
}

static void site_set_physical(struct sites *s, struct space *space,
			      struct site *site, struct site_place *place,
			      uint64_t callee)
{
	struct code code;

	if (place->is_patched) { /* sp is where the return address is */
		modules_code(space->modules, callee, &code);
		site->physical = physical_number(s, space, code.function);
		place->is_bare = code.is_bare;
		site->cfa_offset = 8;
		return;
	}
	if (place->is_tail) { /* the hook's frame is the function's */
		site->physical = physical_at(s, space, callee);
		return;
	}
	modules_code(space->modules, place->hook - 1, &code);
	site->physical = physical_number(s, space, code.function);
	place->is_inlined = site->physical != physical_at(s, space, callee);
	place->is_bare = code.is_bare; /* so far: the function itself */
	place->is_part = code.is_part;
	site_set_frame(site, &code);
}

static int is_one_of(const char *name, const char *const *names)
{
	while (*names && strncmp(name, *names, strlen(*names)) != 0)
		names++;
	return *names != NULL;
}

/* What the libraries of C++ do with an exception that nobody catches: catch it
 * themselves, then throw it once more for its text. */
static uint8_t exception_kind(struct space *space, uint8_t kind, uint64_t at)
{
	static const char *const enders[] = {
		"__cxa_throw",
		"__cxa_rethrow",
		"_ZSt17rethrow_exception",
		"__cxa_call_terminate",
		"__cxa_call_unexpected",
		"__clang_call_terminate",
		"_Unwind_Resume",
		NULL,
	};
	static const char *const handlers[] = {
		"_ZN9__gnu_cxx27__verbose_terminate_handlerEv",
		"_ZL28demangling_terminate_handlerv", NULL};
	struct symbol symbol;
	struct code code;

	modules_code(space->modules, at, &code);
	if (!modules_symbol(space->modules, code.function ? code.function : at,
			    &symbol))
		return kind;
	if (is_one_of(symbol.symbol, handlers))
		return KIND_HIDDEN;
	return kind == CST_CATCH && is_one_of(symbol.symbol, enders)
		       ? KIND_UNCAUGHT
		       : kind;
}

/* Where one is thrown or caught; the record will tell which. */
static void site_learn_exception(struct sites *s, struct space *space,
				 struct site *site, struct site_place *place)
{
	struct exception_name e = {0};

	site->kind = exception_kind(space, site->kind, place->caller - 1);
	e.kind = site->kind;
	e.name = exception_word(site->kind);

	site->function = thrown_function(&s->exceptions, s->names, &e);
	if (site->function == UINT32_MAX)
		return;
	site->call_site = names_add_site(s->names, site->function);
	if (site->call_site == UINT32_MAX)
		return;
	names_place_site(s->names, site->call_site, space->number,
			 place->caller, 0);
	questions_add(&s->questions, CST_ASK_LINE, space, place->caller - 1,
		      site->call_site, 0);
}

static void site_chain(struct sites *s, uint32_t number)
{
	uint32_t function = s->all[number].function;

	s->places[number].next_of_function = s->first_of_function[function];
	s->first_of_function[function] = number;
	if (verdict_is_muted(s, function))
		verdict_mute(s, number, 1);
}

/* A place of cstrace.h.  Its records hold no frame pointer, so that its frame
 * is known only where it is found by the stack pointer. */
static void site_learn_own(struct sites *s, struct space *space,
			   uint32_t number, const struct cst_site *raw)
{
	struct site_place *place = &s->places[number];
	struct site *site = &s->all[number];
	struct own_place own;
	struct code code = {0};

	spaces_look(&s->spaces, space, raw->process, raw->caller);
	own_place_learn(s, space, raw, &own);
	if (own.function == UINT32_MAX)
		return;
	site->call_site = names_add_site(s->names, own.function);
	if (site->call_site == UINT32_MAX)
		return;
	site->kind = (uint8_t)raw->kind;
	site->is_own = 1;
	site->function = own.function;
	place->hook = own.code;
	site->cfa_offset = 1;
	site->is_near = NEAR_FP;
	if (own.code) {
		modules_code(space->modules, own.code - 1, &code);
		site->physical = physical_number(s, space, code.function);
	}
	if (code.cfa_base == CFA_SP && code.function) {
		site->cfa_offset = code.cfa_offset;
		site->is_near = 0;
	}
	if (raw->kind == CST_CALL) {
		site_set_caller(s, space, site, place, own.code);
		site_find_own_line(s, space, site, place);
	} else if (*own.file) {
		names_set_site(s->names, site->call_site, own.file, own.line);
	}
	site_chain(s, number);
}

static void site_learn(struct sites *s, uint32_t number)
{
	struct cst_site raw = s->area->sites[number];
	struct space *space = spaces_of(&s->spaces, raw.process);
	struct site_place *place = &s->places[number];
	struct site *site = &s->all[number];

	*place = (struct site_place){
		.caller = raw.caller,
		.hook = raw.hook,
		.is_tail = raw.kind == CST_EXIT && raw.hook == raw.caller,
		.is_patched = raw.hook <= CST_PATCHED_LAST,
	};
	spaces_take_mappings(&s->spaces, number);
	*site = (struct site){.is_muted = 1};
	if (is_own_kind(raw.kind))
		site_learn_own(s, space, number, &raw);
	if (raw.kind > CST_CATCH)
		return;
	spaces_look(&s->spaces, space, raw.process, raw.callee);
	site->kind = (uint8_t)raw.kind;
	if (raw.kind >= CST_THROW) {
		site_learn_exception(s, space, site, place);
		return;
	}
	site->is_muted = 0;
	site->function = function_at(s, space, meant(space, &raw));
	if (site->function == UINT32_MAX ||
	    (raw.kind != CST_ENTER && raw.kind != CST_EXIT)) {
		site->is_muted = 1;
		return;
	}
	site_set_physical(s, space, site, place, raw.callee);
	site_set_caller(s, space, site, place, raw.callee);
	if (site->kind == CST_ENTER)
		site_find_line(s, space, site, place, raw.callee);
	if (raw.hook == CST_PATCHED_BORDER)
		names_set_border(s->names, site->function);
	/* That of a return is not the function that is wanted or not. */
	site->is_return = cst_patched_ends_any(raw.hook);
	site->is_jump = cst_patched_jumps(raw.hook);
	if (!site->is_return)
		site_chain(s, number);
	if (!site->is_muted && s->copies.args) {
		/* Before the hook may go on. */
		ahead_look(s, &raw);
		copies_judge(s, number);
	}
	points_judge(s, number);
}

uint32_t sites_learn(struct sites *s)
{
	uint32_t before = s->n;
	uint32_t n = __atomic_load_n(&s->area->head->n_sites, __ATOMIC_ACQUIRE);

	if (n > CST_MAX_SITES)
		n = CST_MAX_SITES;
	if (n <= s->n || sites_room(s, n) < 0)
		return s->n;
	for (uint32_t i = 0; i < s->spaces.n; i++)
		s->spaces.all[i]->is_stale = 1;
	/* Pairs with the release in the hook: a site with a kind is complete.
	 */
	while (s->n < n &&
	       __atomic_load_n(&s->area->sites[s->n].kind, __ATOMIC_ACQUIRE))
		site_learn(s, s->n++);
	copies_answer(s, before);
	return s->n;
}

void sites_filter(struct sites *s, struct filter *mute, struct filter *shown)
{
	s->mute = mute;
	s->shown = shown;
	for (uint32_t i = 0; i < s->n_files; i++)
		file_tell(s, &s->files[i]);
	verdict_all(s);
}

void sites_keep(struct sites *s, uint32_t bytes)
{
	if (bytes == s->keep_bytes)
		return;
	s->keep_bytes = bytes;
	verdict_all(s);
}

void sites_unmap(struct sites *s, uint64_t start, uint64_t end)
{
	struct space *space = spaces_asker(&s->spaces);

	space_forget(space, start, end);
	modules_unmap(space->modules, start, end);
}

uint32_t sites_answer(struct sites *s, uint32_t id, const char *name,
		      const char *file, uint32_t line)
{
	uint32_t function =
		questions_answer(&s->questions, id, name, file, line);

	if (function != UINT32_MAX && s->mute)
		filter_forget(s->mute, function);
	if (function != UINT32_MAX && verdict_is_muted(s, function))
		verdict_function(s, function);
	return function;
}
