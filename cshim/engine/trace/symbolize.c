/* SPDX-License-Identifier: MIT
 *
 * Names for a trace that was made where they were not to be had (the program
 * was stripped): each address that has none is looked up in the file with its
 * module's build-id, as it would have been while the trace was made.
 */
#include "base/array.h"
#include "base/hashmap.h"
#include "base/search.h"
#include "elf/modules.h"
#include "elf/symbolfile.h"
#include "trace/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A module of the trace in the order of their addresses. */
struct stretch {
	uint64_t start, end;
	uint32_t space, module;
	int is_shared; /* another was there before or after it, and nothing
			* distinguishes them */
};

/* What was found for a module; those of one file share it. */
struct source {
	uint32_t module; /* the first */
	char *path;	 /* NULL: none */
	char *other;
	uint32_t n_nameless;
};

struct renaming {
	struct cst_trace *t;
	struct symbol_places places;
	struct stretch *stretches;
	uint32_t *source_of; /* by module, from 1; 0: not asked yet */
	uint8_t *is_added;   /* by module */
	struct source *sources;
	uint32_t n_sources;
	struct hashmap spaces; /* number to index */
	struct modules **all;
	uint32_t n_spaces, cap_spaces;
};

/* ---- the trace's modules ------------------------------------------------ */

static int stretch_compare(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->space != y->space)
		return x->space < y->space ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int is_same_file(const struct trace_module *a,
			const struct trace_module *b)
{
	return !strcmp(a->path, b->path) && !strcmp(a->build_id, b->build_id);
}

/* Loaded again at the same place? */
static int is_same_stretch(const struct renaming *r, const struct stretch *a,
			   const struct stretch *b)
{
	const struct trace_module *x = &r->t->modules[a->module];
	const struct trace_module *y = &r->t->modules[b->module];

	return x->bias == y->bias && is_same_file(x, y);
}

static void mark_shared(struct renaming *r)
{
	struct stretch *last = NULL; /* the one that reaches furthest */

	for (uint32_t i = 0; i < r->t->n_modules; i++) {
		struct stretch *s = &r->stretches[i];

		if (last && last->space == s->space && s->start < last->end &&
		    !is_same_stretch(r, s, last))
			s->is_shared = last->is_shared = 1;
		if (!last || last->space != s->space || s->end > last->end)
			last = s;
	}
}

static int sort_modules(struct renaming *r)
{
	uint32_t n = r->t->n_modules;

	r->stretches = calloc(n + 1, sizeof(*r->stretches));
	r->source_of = calloc(n + 1, sizeof(*r->source_of));
	r->is_added = calloc(n + 1, 1);
	r->sources = calloc(n + 1, sizeof(*r->sources));
	if (!r->stretches || !r->source_of || !r->is_added || !r->sources)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct trace_module *m = &r->t->modules[i];

		r->stretches[i] = (struct stretch){.start = m->start,
						   .end = m->end,
						   .space = m->space,
						   .module = i};
	}
	qsort(r->stretches, n, sizeof(*r->stretches), stretch_compare);
	mark_shared(r);
	return 1;
}

/* NULL: none, or more than one was there. */
static const struct stretch *stretch_at(const struct renaming *r,
					uint32_t space, uint64_t addr)
{
	const struct stretch *s = r->stretches;
	uint32_t n = search_while(i, r->t->n_modules,
				  s[i].space < space || (s[i].space == space &&
							 s[i].start <= addr));

	if (!n)
		return NULL;
	s += n - 1;
	return s->space == space && addr < s->end && !s->is_shared ? s : NULL;
}

/* ---- their files -------------------------------------------------------- */

static struct source *source_new(struct renaming *r, uint32_t module)
{
	const struct trace_module *m = &r->t->modules[module];
	struct source *s = &r->sources[r->n_sources++];
	struct symbol_file found;

	symbol_file_find(m->path, m->build_id, &r->places, &found);
	*s = (struct source){
		.module = module,
		.path = *found.path ? strdup(found.path) : NULL,
		.other = *found.other ? strdup(found.other) : NULL,
	};
	return s;
}

static struct source *source_of(struct renaming *r, uint32_t module)
{
	const struct trace_module *m = &r->t->modules[module];
	uint32_t i = 0;

	if (r->source_of[module])
		return &r->sources[r->source_of[module] - 1];
	while (i < r->n_sources &&
	       !is_same_file(m, &r->t->modules[r->sources[i].module]))
		i++;
	r->source_of[module] = i + 1;
	return i < r->n_sources ? &r->sources[i] : source_new(r, module);
}

/* NULL: out of memory. */
static struct modules *space_of(struct renaming *r, uint32_t number)
{
	uint32_t *known = hashmap_get(&r->spaces, number);
	struct modules *m;

	if (known)
		return r->all[*known];
	if (array_room(&r->all, &r->cap_spaces, r->n_spaces + 1ull) < 0)
		return NULL;
	m = r->n_spaces ? modules_new_beside(r->all[0]) : modules_new();
	if (!m || hashmap_put(&r->spaces, number, r->n_spaces) < 0) {
		modules_free(m);
		return NULL;
	}
	return r->all[r->n_spaces++] = m;
}

static void add_module(struct renaming *r, struct modules *space,
		       uint32_t module, const char *path)
{
	struct trace_module *m = &r->t->modules[module];
	struct module_note note = {
		.start = m->start, .end = m->end, .bias = m->bias};

	r->is_added[module] = 1;
	if (modules_add_file(space, &note, path))
		m->symbols = names_intern(r->t->names, path);
}

/* What to ask of addr; NULL: its file is not here. */
static struct modules *modules_for(struct renaming *r, uint32_t space,
				   uint64_t addr)
{
	const struct stretch *s = stretch_at(r, space, addr);
	struct modules *m = s ? space_of(r, space) : NULL;
	const struct source *source = m ? source_of(r, s->module) : NULL;

	if (!source || !source->path)
		return NULL;
	if (!r->is_added[s->module])
		add_module(r, m, s->module, source->path);
	return m;
}

/* ---- functions ---------------------------------------------------------- */

/* "app+0x1139", "0x401139": nobody knew a name. */
static int is_nameless(const struct function *f)
{
	const char *name = f->name;
	size_t length = f->module ? strlen(f->module) : 0;

	if (f->symbol)
		return 0;
	if (length && !strncmp(name, f->module, length) && name[length] == '+')
		name += length + 1;
	return !strncmp(name, "0x", 2) &&
	       !name[2 + strspn(name + 2, "0123456789abcdef")];
}

static void rename_function(struct renaming *r, uint32_t id)
{
	const struct function *f = &r->t->names->functions[id];
	struct modules *m = modules_for(r, f->space, f->addr);
	const char *name, *file, *linkage = f->symbol;
	struct symbol symbol;
	char readable[16384];
	uint32_t line;

	if (!m)
		return;
	modules_definition(m, f->addr, &name, &file, &line);
	snprintf(readable, sizeof(readable), "%s", f->name);
	if (is_nameless(f)) {
		if (modules_symbol(m, f->addr, &symbol) && !symbol.offset) {
			name = linkage = symbol.symbol;
			if (symbol.end > symbol.start)
				names_size_function(r->t->names, id,
						    symbol.end - symbol.start);
		}
		if (name)
			cst_demangle(name, readable, sizeof(readable));
	}
	if (file || strcmp(readable, f->name) != 0)
		names_set_function(r->t->names, id, readable, linkage,
				   f->module, file ? file : f->file);
}

static void count_nameless(struct renaming *r, uint32_t id)
{
	const struct function *f = &r->t->names->functions[id];
	const struct stretch *s = stretch_at(r, f->space, f->addr);

	if (s && is_nameless(f))
		source_of(r, s->module)->n_nameless++;
}

/* ---- call sites --------------------------------------------------------- */

static uint64_t physical(struct modules *m, uint64_t pc)
{
	struct code code;

	modules_code(m, pc, &code);
	return code.function;
}

/* Is the site in the function's own code, so that the caller is where its
 * return address says?  As sites.c tells it. */
enum own_code { NOT_OWN, IS_OWN, NOT_KNOWN };

static enum own_code is_own_code(struct renaming *r, const struct call_site *s,
				 const struct function *f)
{
	struct modules *m;
	struct symbol symbol;

	if (!s->hook)
		return IS_OWN;
	m = modules_for(r, s->space, s->hook);
	if (m && f->space == s->space && modules_for(r, f->space, f->addr))
		return physical(m, s->hook - 1) == physical(m, f->addr) ||
		       !modules_is_inlined(m, s->hook - 1, f->addr);
	return m && f->symbol && modules_symbol(m, s->hook - 1, &symbol) &&
			       !strcmp(symbol.symbol, f->symbol)
		       ? IS_OWN
		       : NOT_KNOWN;
}

static int find_inlined(struct renaming *r, const struct call_site *s,
			const struct function *f, struct inline_call *out)
{
	struct modules *m = s->hook && f->space == s->space
				    ? modules_for(r, s->space, s->hook)
				    : NULL;

	*out = (struct inline_call){0};
	if (!m || !modules_for(r, f->space, f->addr))
		return 0;
	return modules_inline_call(m, s->hook - 1, f->addr, out) && out->file;
}

static void rename_site(struct renaming *r, uint32_t id)
{
	const struct call_site *s = &r->t->names->sites[id];
	const struct function *f = &r->t->names->functions[s->function];
	struct inline_call inlined;
	enum own_code own;
	struct modules *m;
	const char *file;
	uint32_t line;

	if (find_inlined(r, s, f, &inlined)) {
		names_set_site(r->t->names, id, inlined.file, inlined.line);
		return;
	}
	own = is_own_code(r, s, f);
	if (s->file && own == NOT_OWN)
		names_set_site(r->t->names, id, NULL, 0);
	if (s->file || own != IS_OWN || !s->caller)
		return;
	m = modules_for(r, s->space, s->caller);
	if (m && modules_line(m, s->caller - 1, &file, &line))
		names_set_site(r->t->names, id, file, line);
}

/* ---- the whole ---------------------------------------------------------- */

static void tell_nameless(struct renaming *r, cst_tell_fn tell, void *arg)
{
	char text[3 * PATH_MAX];

	for (uint32_t i = 0; i < r->n_sources; i++) {
		const struct source *s = &r->sources[i];
		const struct trace_module *m = &r->t->modules[s->module];

		if (!s->n_nameless || s->path)
			continue;
		if (s->other && !strcmp(s->other, m->path))
			snprintf(text, sizeof(text),
				 "no names of '%s': the file there now is "
				 "another build (its build-id is not %s)",
				 m->path, m->build_id);
		else if (s->other)
			snprintf(text, sizeof(text),
				 "no names of '%s': '%s' is another build (its "
				 "build-id is not %s)",
				 m->path, s->other, m->build_id);
		else if (*m->build_id)
			snprintf(text, sizeof(text),
				 "no names of '%s': no symbols with its "
				 "build-id %s were found",
				 m->path, m->build_id);
		else
			snprintf(text, sizeof(text),
				 "no names of '%s': it has no build-id to know "
				 "its symbols by (link with -Wl,--build-id)",
				 m->path);
		tell(arg, text);
	}
}

static void rename_all(struct renaming *r)
{
	const struct names *n = r->t->names;

	/* What lacked nothing has no space here. */
	for (uint32_t i = 0; i < n->n_functions; i++)
		if (n->functions[i].space)
			rename_function(r, i);
	for (uint32_t i = 0; i < n->n_sites; i++)
		if (n->sites[i].space)
			rename_site(r, i);
	/* One that was never called has no row: its code ended another. */
	for (uint32_t i = 0; i < n->n_sites; i++)
		if (n->functions[n->sites[i].function].space)
			count_nameless(r, n->sites[i].function);
}

static void renaming_release(struct renaming *r)
{
	/* The first holds what the others share. */
	while (r->n_spaces)
		modules_free(r->all[--r->n_spaces]);
	for (uint32_t i = 0; i < r->n_sources; i++) {
		free(r->sources[i].path);
		free(r->sources[i].other);
	}
	free(r->all);
	free(r->stretches);
	free(r->source_of);
	free(r->is_added);
	free(r->sources);
	hashmap_release(&r->spaces);
}

void cst_trace_rename(struct cst_trace *t, const char *const *places,
		      int n_places, cst_tell_fn tell, void *arg)
{
	struct renaming r = {.t = t, .places = {places, n_places}};

	/* What was found before is not in the file either. */
	if (!t->is_renamed)
		names_clean(t->names);
	t->is_renamed = 1;
	if (sort_modules(&r)) {
		rename_all(&r);
		if (tell)
			tell_nameless(&r, tell, arg);
	}
	renaming_release(&r);
}
