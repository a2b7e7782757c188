/* SPDX-License-Identifier: MIT
 *
 * Whether a call comes from a traced file is seen when it comes; which
 * functions can be called so is seen by their names.
 */
#include "plan/border.h"
#include "base/array.h"
#include "base/text.h"
#include "cstrace/engine.h"
#include "elf/dynsym.h"
#include "elf/forms.h"
#include "plan/choose.h"

#include <stdlib.h>
#include <string.h>

/* ---- which functions -------------------------------------------------------
 */

static int is_in(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return 1;
	return 0;
}
#define IS_IN(name, names) is_in(name, names, sizeof(names) / sizeof(*(names)))

/* No line of the source calls these: compilers and headers do, in place of
 * data.  Exceptions have rows of their own. */
static int is_unseen(const char *name)
{
	static const char *const names[] = {
		"__errno_location",
		"__ctype_b_loc",
		"__ctype_toupper_loc",
		"__ctype_tolower_loc",
		"__tls_get_addr",
		"__libc_start_main",
		"__cxa_finalize",
		"__stack_chk_fail",
		"__cxa_throw",
		"__cxa_rethrow",
		"__cxa_begin_catch",
		"__cxa_end_catch",
		"__cxa_allocate_exception",
		"__cxa_free_exception",
		"mcount",
		"_mcount",
		"__fentry__",
	};

	static const char *const begins[] = {
		"_Unwind_", "__cyg_profile_", "_ZSt17rethrow_exception",
		"_dl_",	    "__asan_",	      "__tsan_",
		"__ubsan_", "__sanitizer_",   "__gcov_",
	};

	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (text_begins(name, begins[i]))
			return 1;
	return IS_IN(name, names);
}

/* Returns twice, or where nobody called it, or on another stack. */
static int is_unusual(const char *name)
{
	static const char *const names[] = {
		"setjmp",	 "_setjmp",	"__setjmp",    "sigsetjmp",
		"__sigsetjmp",	 "longjmp",	"_longjmp",    "siglongjmp",
		"__longjmp_chk", "vfork",	"__vfork",     "getcontext",
		"setcontext",	 "swapcontext", "makecontext", "clone",
		"__clone",	 "__clone2",	"clone3",
	};

	return IS_IN(name, names);
}

/* Is it libcstrace.so's own that the program calls, which calls libc's? */
static int is_behind_shim(const char *name)
{
	static const char *const names[] = {"dlclose", "dlmopen",
					    "sigaltstack"};

	return IS_IN(name, names);
}

/* What is written in assembler is not left out: many system calls are, and it
 * has its call frame information. */
static enum cst_plan_reason reason_of(const struct plan_function *now,
				      const char *name)
{
	if (is_unusual(name))
		return CST_PLAN_UNUSUAL;
	if (is_behind_shim(name))
		return CST_PLAN_BEHIND_SHIM;
	if (now->is_hooked)
		return CST_PLAN_HOOKED;
	if (now->is_restartable)
		return CST_PLAN_RESTARTABLE;
	if (!now->frame)
		return CST_PLAN_NO_FRAME;
	return now->is_unreadable ? CST_PLAN_UNREADABLE : CST_PLAN_TRACED;
}

static int is_exported(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static int has_forms(const struct border *b, const char *name)
{
	for (uint32_t i = 0; i < b->forms.n; i++)
		if (!strcmp(b->forms.entries[i].name, name))
			return 1;
	return 0;
}

/* The function, exported or a form of one, that begins there; NULL: there is
 * none, or no call of it is to be seen. */
static struct plan_function *wanted(const struct border *b,
				    const struct functions *f, const char *name,
				    uint64_t start)
{
	uint32_t at = functions_at(f, start);

	if (at == FUNCTION_NONE || f->all[at].start != start ||
	    f->all[at].is_cold || !imports_has(b->called, name) ||
	    is_unseen(name))
		return NULL;
	return &f->all[at];
}

/* The best of several names comes last. */
static void name_forms(const struct border *b, struct functions *f)
{
	for (uint32_t i = 0; i < b->forms.n; i++) {
		const struct symtab_entry *e = &b->forms.entries[i];
		uint32_t at = functions_at(f, e->range.start);

		if (at != FUNCTION_NONE)
			f->all[at].name = e->name;
	}
}

static void note(struct border *b, const struct functions *f,
		 struct plan_function *now, const char *name, int is_resolver)
{
	now->is_chosen = 1;
	if (array_room(&b->choices, &b->cap_choices, b->n_choices + 1ull))
		b->failed = CST_MEMORY;
	else
		b->choices[b->n_choices++] = (struct border_choice){
			name, (uint32_t)(now - f->all), is_resolver};
}

static void choose_forms(struct border *b, struct functions *f)
{
	for (uint32_t i = 0; i < b->forms.n; i++) {
		const struct symtab_entry *e = &b->forms.entries[i];
		struct plan_function *now =
			wanted(b, f, e->name, e->range.start);

		if (!now)
			continue;
		now->reason = (uint8_t)reason_of(now, e->name);
		note(b, f, now, e->name, 0);
	}
}

/* The shim writes a jump over this empty function, by which debuggers hear of
 * libraries that are opened. */
static int is_shims(const struct plan_function *f)
{
	return !strcmp(f->name, "_dl_debug_state");
}

/* musl has no call frame information, and the shim calls it in many places: its
 * functions have no entries.  But where a return leads to traced code, whatever
 * was called there ends. */
static void choose_ends(const struct border *b, struct functions *f)
{
	for (uint32_t i = 0; i < b->n_choices; i++)
		f->all[b->choices[i].function].reason = CST_PLAN_OF_RUNTIME;
	for (uint32_t i = 0; i < f->n; i++) {
		struct plan_function *now = &f->all[i];

		if (now->is_chosen || now->is_unreadable || is_shims(now))
			continue;
		now->is_chosen = now->ends_others = 1;
		now->reason = CST_PLAN_ENDS_OTHERS;
	}
}

static void choose_exported(struct border *b, struct functions *f,
			    const struct image *im)
{
	struct dynsym_entry e;
	struct dynsym d;

	dynsym_init(&d, im->file.elf);
	while (dynsym_next(&d, &e)) {
		int is_late = GELF_ST_TYPE(e.symbol.st_info) == STT_GNU_IFUNC;
		struct plan_function *now;

		if (!is_exported(&e.symbol) ||
		    (is_late && has_forms(b, e.name)))
			continue;
		now = wanted(b, f, e.name, e.symbol.st_value);
		if (!now)
			continue;
		/* It may have several names, one of which says more. */
		if (!now->is_chosen || now->reason == CST_PLAN_TRACED)
			now->reason = is_late ? CST_PLAN_CHOSEN_LATE
					      : (uint8_t)reason_of(now, e.name);
		note(b, f, now, e.name, is_late);
	}
}

/* ---- what they jump to -----------------------------------------------------
 */

enum { MOST_TARGETS = 32 };

struct targets {
	uint32_t all[MOST_TARGETS]; /* functions of this file: indexes */
	uint32_t n;
	const char *elsewhere; /* or the name of another file's; or NULL */
};

static void add_target(const struct functions *f, uint64_t addr,
		       struct targets *out)
{
	uint32_t i = functions_at(f, addr);

	if (i != FUNCTION_NONE && f->all[i].whole != FUNCTION_NONE &&
	    out->n < MOST_TARGETS)
		out->all[out->n++] = f->all[i].whole;
}

static void add_forms(const struct border *b, const struct functions *f,
		      const char *name, struct targets *out)
{
	for (uint32_t i = 0; i < b->forms.n; i++)
		if (!strcmp(b->forms.entries[i].name, name))
			add_target(f, b->forms.entries[i].range.start, out);
}

/* Another file may have one of that name, too, which goes before this one's. */
static void add_named(const struct border *b, const struct functions *f,
		      const char *name, struct targets *out)
{
	add_forms(b, f, name, out);
	for (uint32_t i = 0; !out->n && i < f->exports.n; i++)
		if (!strcmp(f->exports.entries[i].name, name))
			add_target(f, f->exports.entries[i].range.start, out);
	if (!out->n)
		out->elsewhere = name;
}

static void find_targets(const struct placements *p, const struct insn *jump,
			 struct targets *out)
{
	const struct symtab_entry *resolver;
	const struct stub *stub;

	out->n = 0;
	out->elsewhere = NULL;
	if (jump->kind == INSN_JUMP || jump->kind == INSN_BRANCH)
		add_target(p->f, jump->target, out);
	if (out->n)
		return;
	stub = stubs_find(p->border->stubs, jump);
	if (!stub)
		return;
	if (stub->name) {
		add_named(p->border, p->f, stub->name, out);
		return;
	}
	resolver = symtab_find(&p->f->exports, stub->resolver);
	if (resolver)
		add_forms(p->border, p->f, resolver->name, out);
}

static int has_row(const struct plan_function *f)
{
	return f->is_chosen && f->reason == CST_PLAN_TRACED;
}

/* Does what the jump leads to have rows of its own? */
static int leads_to_row(const struct placements *p, const struct insn *jump)
{
	struct targets t;

	find_targets(p, jump, &t);
	if (t.elsewhere)
		return imports_has(p->border->called, t.elsewhere) &&
		       !is_unseen(t.elsewhere) && !is_unusual(t.elsewhere);
	for (uint32_t i = 0; i < t.n; i++)
		if (!has_row(&p->f->all[t.all[i]]))
			return 0;
	return t.n != 0;
}

/* Does it lead into the middle of a function that can report its ends? */
static int leads_inside(const struct placements *p, const struct insn *jump)
{
	struct targets t;

	if (jump->kind != INSN_JUMP && jump->kind != INSN_BRANCH)
		return 0;
	find_targets(p, jump, &t);
	return t.n && p->f->all[t.all[0]].frame &&
	       !p->f->all[t.all[0]].is_unreadable;
}

enum ending border_ending(const struct placements *p, uint32_t function,
			  const struct insn *i, int is_bare)
{
	enum ending ending = placement_ending(p, function, i, is_bare);

	if (!p->border)
		return ending;
	if (ending == ENDING_TAIL ? !leads_to_row(p, i)
				  : ending == ENDING_LOST && leads_inside(p, i))
		return ENDING_HANDED;
	return ending;
}

int border_is_ended(const struct placements *p, const struct insn *jump)
{
	struct targets t;

	find_targets(p, jump, &t);
	if (t.elsewhere)
		return imports_has(&p->border->jumped, t.elsewhere);
	for (uint32_t i = 0; i < t.n; i++) {
		const struct plan_function *to = &p->f->all[t.all[i]];

		if (!to->ends_others || (to->reason != CST_PLAN_ENDS_OTHERS &&
					 !to->ends_only && !to->entry_end))
			return 0;
	}
	return t.n != 0;
}

/* Returns whether it was chosen. */
static int choose_for_others(struct plan_function *now)
{
	if (now->is_chosen || now->is_cold || !now->frame || now->is_unreadable)
		return 0;
	now->is_chosen = now->ends_others = 1;
	now->reason = CST_PLAN_ENDS_OTHERS;
	return 1;
}

static void choose_handed(const struct border *b, struct functions *f)
{
	for (uint32_t i = 0; b->handed && i < b->handed->n; i++) {
		const char *name = b->handed->names[i];
		struct targets t = {.n = 0};

		add_named(b, f, name, &t);
		for (uint32_t k = 0; k < t.n; k++)
			choose_for_others(&f->all[t.all[k]]);
	}
}

/* Does code go on behind the last instruction of the function? */
static int is_open(const struct image *im, const struct plan_function *f)
{
	uint64_t at = f->end - 1, n = 0;
	const uint8_t *code;
	struct insn i;

	while (at > f->start && !(image_marks(im, at) & MARK_CODE))
		at--;
	code = image_bytes(im, at, &n);
	return code && insn_decode(&i, code, n, at) &&
	       at + i.length == f->end && insn_goes_on(&i);
}

/* The function that it goes on in, which padding may lie before; or NULL. */
static struct plan_function *next_of(const struct functions *f,
				     const struct image *im,
				     const struct plan_function *now)
{
	struct plan_function *next = &f->all[now - f->all + 1];
	struct insn i = {.length = 0};
	uint64_t n = 0;

	if (next == &f->all[f->n] || !is_open(im, now))
		return NULL;
	for (uint64_t at = now->end; at < next->start; at += i.length) {
		const uint8_t *code = image_bytes(im, at, &n);

		if (!code || !insn_decode(&i, code, n, at) ||
		    i.kind != INSN_NOP)
			return NULL;
	}
	return next;
}

/* __memcpy_chk() goes on in memcpy(), which has the row if both could. */
static void choose_next(struct functions *f, const struct image *im)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct plan_function *now = &f->all[i];
		struct plan_function *next =
			has_row(now) ? next_of(f, im, now) : NULL;

		if (next && has_row(next))
			now->is_chosen = 0;
		else if (next)
			choose_for_others(next);
	}
}

/* Does a call of a function that is chosen end with what it jumps to there? */
static int hands_on(const struct placements *p, const struct function_end *e)
{
	const struct plan_function *part = &p->f->all[e->function], *whole;

	if (part->whole == FUNCTION_NONE)
		return 0;
	whole = &p->f->all[part->whole];
	return whole->is_chosen &&
	       (whole->reason == CST_PLAN_TRACED || whole->ends_only ||
		whole->reason == CST_PLAN_ENDS_OTHERS) &&
	       border_ending(p, e->function, &e->insn,
			     placement_is_bare(p, part, e->addr)) ==
		       ENDING_HANDED;
}

/* Returns whether a function was chosen for that. */
static int follow(const struct placements *p, const struct function_end *e,
		  int *status)
{
	struct targets t;
	int is_new = 0;

	if (e->insn.kind == INSN_RETURN || !hands_on(p, e))
		return 0;
	find_targets(p, &e->insn, &t);
	if (t.elsewhere && !is_unseen(t.elsewhere) && !is_unusual(t.elsewhere))
		*status |= imports_add(&p->border->jumped, t.elsewhere);
	for (uint32_t i = 0; i < t.n; i++) {
		p->f->all[t.all[i]].ends_others = 1;
		is_new |= choose_for_others(&p->f->all[t.all[i]]);
	}
	return is_new;
}

int border_follow(const struct placements *p)
{
	int has_more = 1, status = 0;

	while (has_more && !status) {
		has_more = 0;
		for (uint32_t i = 0; i < p->f->n_ends; i++)
			has_more |= follow(p, &p->f->ends[i], &status);
		imports_order(&p->border->jumped);
	}
	return status;
}

/* ---- all of it -------------------------------------------------------------
 */

void border_init(struct border *b, const struct image *im,
		 const struct stubs *stubs, const struct plan_choice *choice)
{
	*b = (struct border){
		.called = choice->border,
		.handed = choice->handed,
		.stubs = stubs,
	};
	forms_init(&b->forms, &im->file);
}

void border_release(struct border *b)
{
	symtab_release(&b->forms);
	imports_release(&b->jumped);
	free(b->choices);
}

int border_choose(struct border *b, struct functions *f, const struct image *im)
{
	if (choose_is_loader(im))
		return 0;
	name_forms(b, f);
	choose_exported(b, f, im);
	choose_forms(b, f);
	if (choose_is_musl(im))
		choose_ends(b, f);
	choose_next(f, im);
	choose_handed(b, f);
	return b->failed;
}

static int is_left_out(const struct functions *f, const struct border_choice *c)
{
	const struct plan_function *now = &f->all[c->function];

	return now->is_chosen && now->reason != CST_PLAN_TRACED &&
	       now->reason != CST_PLAN_ENDS_OTHERS;
}

static int has_form_left_out(const struct border *b, const struct functions *f,
			     const char *name)
{
	for (uint32_t i = 0; i < b->n_choices; i++)
		if (!strcmp(b->choices[i].name, name) &&
		    is_left_out(f, &b->choices[i]))
			return 1;
	return 0;
}

int border_drop_forms(const struct placements *p)
{
	const struct border *b = p->border;
	int is_changed = 0;

	for (uint32_t i = 0; i < b->n_choices; i++) {
		const struct border_choice *c = &b->choices[i];
		struct plan_function *now = &p->f->all[c->function];

		if (!now->is_chosen || now->reason != CST_PLAN_TRACED ||
		    !has_form_left_out(b, p->f, c->name))
			continue;
		now->reason = CST_PLAN_CHOSEN_LATE;
		is_changed = 1;
	}
	return is_changed;
}

void border_end_left_out(const struct placements *p)
{
	const struct border *b = p->border;

	for (uint32_t i = 0; i < b->n_choices; i++) {
		const struct border_choice *c = &b->choices[i];
		struct plan_function *now = &p->f->all[c->function];

		if (is_left_out(p->f, c) && !c->is_resolver &&
		    !now->is_unreadable && !now->is_restartable &&
		    !now->is_hooked)
			now->ends_only = now->ends_others = 1;
	}
}

enum cst_border_name border_name(const struct functions *f,
				 const struct border_choice *c)
{
	const struct plan_function *now = &f->all[c->function];

	if (!is_left_out(f, c))
		return CST_BORDER_SEEN;
	return now->reason == CST_PLAN_BEHIND_SHIM ||
			       (now->ends_only && !now->n_missed)
		       ? CST_BORDER_ENDS
		       : CST_BORDER_OPEN;
}
