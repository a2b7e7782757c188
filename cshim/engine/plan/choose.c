/* SPDX-License-Identifier: MIT
 *
 * Decides which functions are to be patched: those that the user asks for, or
 * those with line information; and for what reason some of them cannot be.
 */
#include "plan/choose.h"
#include "base/regex.h"
#include "elf/dynsym.h"
#include "names/simple.h"

#include <string.h>

struct chooser {
	const struct functions *f;
	const struct image *im;
	const struct plan_choice *choice;
	struct regex *regex;
	int has_lines, is_runtime;
};

/* The name by which it is linked; NULL: none. */
static const char *soname_of(const struct image *im)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(im->file.elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn d;

	for (int i = 0; data && gelf_getdyn(data, i, &d); i++)
		if (d.d_tag == DT_SONAME)
			return elf_strptr(im->file.elf, header.sh_link,
					  d.d_un.d_val);
	return NULL;
}

static int is_called(const struct image *im, const char *const *names, size_t n)
{
	const char *soname = soname_of(im);

	for (size_t i = 0; soname && i < n; i++)
		if (!strcmp(soname, names[i]))
			return 1;
	return 0;
}

int choose_is_musl(const struct image *im)
{
	static const char *const names[] = {
		"ld-musl-x86_64.so.1",
		"libc.musl-x86_64.so.1",
		"libc.so",
	};

	/* Without a name it is known by its loader's begin. */
	return soname_of(im)
		       ? is_called(im, names, sizeof(names) / sizeof(*names))
		       : dynsym_use(im->file.elf, "__dls3") == DYNSYM_OWN;
}

int choose_is_loader(const struct image *im)
{
	static const char *const names[] = {
		"ld-linux-x86-64.so.2",
		"libgcc_s.so.1",
		"libcstrace.so",
		"libcstrace-sample.so",
	};

	return is_called(im, names, sizeof(names) / sizeof(*names));
}

/* What the shim itself calls, or all programs are started and unwound by. */
static int is_runtime(const struct image *im)
{
	static const char *const names[] = {"libc.so.6", "libpthread.so.0",
					    "libdl.so.2", "librt.so.1"};

	return choose_is_loader(im) || choose_is_musl(im) ||
	       is_called(im, names, sizeof(names) / sizeof(*names));
}

/* Does the regex match its symbol, or its name without parameters? */
static int matches(struct chooser *c, const struct plan_function *now)
{
	char name[SIMPLE_SIZE], simple[SIMPLE_SIZE];

	if (!*now->name)
		return 0;
	if (regex_matches(c->regex, now->name))
		return 1;
	cst_demangle(now->name, name, sizeof(name));
	simple_name(name, simple, sizeof(simple));
	return regex_matches(c->regex, simple);
}

static int is_chosen(struct chooser *c, const struct plan_function *now)
{
	if (now->is_cold || now->end - now->start < c->choice->min_size)
		return 0;
	if (c->regex)
		return matches(c, now);
	if (c->has_lines)
		return now->has_line;
	return !c->f->has_symbols || *now->name;
}

static enum cst_plan_reason reason_of(const struct chooser *c,
				      const struct plan_function *now)
{
	if (c->is_runtime)
		return CST_PLAN_OF_RUNTIME;
	if (now->is_hooked)
		return CST_PLAN_HOOKED;
	if (now->is_restartable)
		return CST_PLAN_RESTARTABLE;
	/* Compilers make call frame information for what they make no line for,
	 * too. */
	if (now->is_assembler || now->start == c->im->entry ||
	    (c->has_lines && !now->has_line && !now->frame))
		return CST_PLAN_ASSEMBLER;
	if (!now->frame)
		return CST_PLAN_NO_FRAME;
	return now->is_unreadable ? CST_PLAN_UNREADABLE : CST_PLAN_TRACED;
}

/* Does it lack nothing but a line? */
static int is_lineless(const struct chooser *c, const struct plan_function *now)
{
	return !c->regex && c->has_lines && !now->has_line && *now->name &&
	       !now->is_cold && now->end - now->start >= c->choice->min_size &&
	       reason_of(c, now) == CST_PLAN_TRACED;
}

int choose(struct functions *f, const struct image *im,
	   const struct plan_choice *choice, int has_debug,
	   struct cst_error *err)
{
	struct chooser c = {.f = f, .im = im, .choice = choice};
	int status;

	c.is_runtime = is_runtime(im);
	if (choice->functions) {
		status = regex_compile(&c.regex, choice->functions, err);
		if (status)
			return status;
	}
	/* musl's own begin of a program has lines, and no CFI. */
	for (uint32_t i = 0; has_debug && i < f->n; i++)
		c.has_lines |= f->all[i].has_line && f->all[i].frame;
	for (uint32_t i = 0; i < f->n; i++) {
		struct plan_function *now = &f->all[i];

		if (now->is_stub)
			continue;
		now->is_chosen = (uint8_t)is_chosen(&c, now);
		if (now->is_chosen)
			now->reason = (uint8_t)reason_of(&c, now);
		else
			f->n_lineless += is_lineless(&c, now);
	}
	regex_free(c.regex);
	return 0;
}
