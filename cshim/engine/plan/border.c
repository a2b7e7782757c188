/* SPDX-License-Identifier: MIT
 *
 * Whether a call comes from a traced file is seen when it comes; which
 * functions can be called so is seen by their names.
 */
#include "plan/border.h"
#include "base/text.h"
#include "elf/forms.h"

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
		"__clone",	 "__clone2",	"clone3",      "mcount",
		"_mcount",	 "__fentry__",
	};

	return IS_IN(name, names);
}

/* What is written in assembler is not left out: many system calls are, and it
 * has its call frame information. */
static enum cst_plan_reason reason_of(const struct plan_function *now,
				      const char *name)
{
	if (is_unusual(name))
		return CST_PLAN_UNUSUAL;
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

static int has_forms(const struct symtab *forms, const char *name)
{
	for (uint32_t i = 0; i < forms->n; i++)
		if (!strcmp(forms->entries[i].name, name))
			return 1;
	return 0;
}

/* The function, exported or a form of one, that begins there; NULL: there is
 * none, or no call of it is to be seen. */
static struct plan_function *wanted(const struct functions *f,
				    const struct imports *names,
				    const char *name, uint64_t start)
{
	uint32_t at = functions_at(f, start);

	if (at == FUNCTION_NONE || f->all[at].start != start ||
	    f->all[at].is_cold || !imports_has(names, name) || is_unseen(name))
		return NULL;
	return &f->all[at];
}

static void choose_forms(struct functions *f, const struct symtab *forms,
			 const struct imports *names)
{
	for (uint32_t i = 0; i < forms->n; i++) {
		const struct symtab_entry *e = &forms->entries[i];
		struct plan_function *now =
			wanted(f, names, e->name, e->range.start);

		if (!now)
			continue;
		now->name = e->name;
		now->reason = (uint8_t)reason_of(now, e->name);
		now->is_chosen = 1;
	}
}

static void choose_exported(struct functions *f, const struct image *im,
			    const struct symtab *forms,
			    const struct imports *names)
{
	Elf *elf = im->file.elf;
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(elf, SHT_DYNSYM, &header);
	Elf_Data *symbols = section ? elf_getdata(section, NULL) : NULL;
	GElf_Sym symbol;

	for (int i = 1; symbols && gelf_getsym(symbols, i, &symbol); i++) {
		const char *name =
			elf_strptr(elf, header.sh_link, symbol.st_name);
		int is_late = GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC;
		struct plan_function *now;

		if (!name || !is_exported(&symbol) ||
		    (is_late && has_forms(forms, name)))
			continue;
		now = wanted(f, names, name, symbol.st_value);
		if (!now)
			continue;
		/* It may have several names, one of which says more. */
		if (!now->is_chosen || now->reason == CST_PLAN_TRACED)
			now->reason = is_late ? CST_PLAN_CHOSEN_LATE
					      : (uint8_t)reason_of(now, name);
		now->is_chosen = 1;
	}
}

void border_choose(struct functions *f, const struct image *im,
		   const struct imports *names)
{
	struct symtab forms;

	forms_init(&forms, &im->file);
	choose_exported(f, im, &forms, names);
	choose_forms(f, &forms, names);
	symtab_release(&forms);
}

/* ---- what they jump to -----------------------------------------------------
 */

static uint32_t target_of(const struct functions *f, const struct insn *jump)
{
	uint32_t i;

	if (jump->kind != INSN_JUMP && jump->kind != INSN_BRANCH)
		return FUNCTION_NONE;
	i = functions_at(f, jump->target);
	return i == FUNCTION_NONE ? i : f->all[i].whole;
}

int border_target(const struct functions *f, const struct insn *jump)
{
	uint32_t i = target_of(f, jump);

	return i != FUNCTION_NONE && (f->all[i].entry_end ||
				      f->all[i].reason == CST_PLAN_ENDS_OTHERS);
}

/* Returns whether it was chosen for that. */
static int follow(const struct placements *p, const struct function_end *e)
{
	struct functions *f = p->f;
	const struct plan_function *part = &f->all[e->function];
	uint32_t to = target_of(f, &e->insn);
	struct plan_function *now;

	if (to == FUNCTION_NONE || part->whole == FUNCTION_NONE)
		return 0;
	now = &f->all[to];
	if (!f->all[part->whole].is_chosen ||
	    (f->all[part->whole].reason != CST_PLAN_TRACED &&
	     f->all[part->whole].reason != CST_PLAN_ENDS_OTHERS) ||
	    now->is_chosen || now->is_cold || !now->frame ||
	    now->is_unreadable ||
	    placement_ending(p, e->function, &e->insn,
			     placement_is_bare(p, part, e->addr)) !=
		    ENDING_HANDED)
		return 0;
	now->is_chosen = 1;
	now->reason = CST_PLAN_ENDS_OTHERS;
	return 1;
}

void border_follow(const struct placements *p)
{
	int has_more = 1;

	while (has_more) {
		has_more = 0;
		for (uint32_t i = 0; i < p->f->n_ends; i++)
			has_more |= follow(p, &p->f->ends[i]);
	}
}
