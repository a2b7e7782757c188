/* SPDX-License-Identifier: MIT
 *
 * Two growing arrays and the arena of their strings; and the judgement which
 * functions belong to the C++ library.
 */
#include "names.h"
#include "arena.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names *names_new(void)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->arena = arena_new();
	if (!n->arena) {
		free(n);
		return NULL;
	}
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	arena_free(n->arena);
	free(n->functions);
	free(n->sites);
	free(n->dirty_functions);
	free(n->dirty_sites);
	free(n);
}

const char *names_intern(struct names *n, const char *text)
{
	return text ? arena_intern(n->arena, text, strlen(text)) : NULL;
}

/* Make room for one more in an array and in its list of dirty numbers, which
 * thus never lacks room when something is set. */
static int make_room(void **array, size_t size, uint32_t **dirty, uint32_t n,
		     uint32_t *cap)
{
	uint32_t more = *cap ? *cap * 2 : 64;
	void *p;

	if (n < *cap)
		return 0;
	if (more < *cap)
		return -1;
	p = realloc(*array, more * size);
	if (!p)
		return -1;
	*array = p;
	p = realloc(*dirty, more * sizeof(**dirty));
	if (!p)
		return -1;
	*dirty = p;
	*cap = more;
	return 0;
}

static void function_touch(struct names *n, uint32_t id)
{
	if (!n->functions[id].is_dirty)
		n->dirty_functions[n->n_dirty_functions++] = id;
	n->functions[id].is_dirty = 1;
}

static void site_touch(struct names *n, uint32_t id)
{
	if (!n->sites[id].is_dirty)
		n->dirty_sites[n->n_dirty_sites++] = id;
	n->sites[id].is_dirty = 1;
}

uint32_t names_add_function(struct names *n, uint64_t addr)
{
	char text[32];
	const char *name;

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)addr);
	name = names_intern(n, text);
	if (!name || make_room((void **)&n->functions, sizeof(*n->functions),
			       &n->dirty_functions, n->n_functions,
			       &n->cap_functions) < 0)
		return UINT32_MAX;
	n->functions[n->n_functions] =
		(struct function){.addr = addr, .name = name};
	function_touch(n, n->n_functions);
	return n->n_functions++;
}

uint32_t names_add_site(struct names *n, uint32_t function)
{
	if (make_room((void **)&n->sites, sizeof(*n->sites), &n->dirty_sites,
		      n->n_sites, &n->cap_sites) < 0)
		return UINT32_MAX;
	n->sites[n->n_sites] = (struct call_site){.function = function};
	site_touch(n, n->n_sites);
	return n->n_sites++;
}

static int starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* Behind the bracket that closes the one at p, or the end.  Inside <> a round
 * bracket may hold a bare < or >, so round ones nest for themselves. */
static const char *skip_brackets(const char *p)
{
	unsigned angle = 0, round = 0, curly = 0;

	for (; *p; p++) {
		if (*p == '(')
			round++;
		else if (*p == ')' && round)
			round--;
		else if (*p == '{')
			curly++;
		else if (*p == '}' && curly)
			curly--;
		else if (*p == '<' && !round)
			angle++;
		else if (*p == '>' && !round && angle && p[-1] != '-')
			angle--;
		if (!angle && !round && !curly)
			return p + 1;
	}
	return p;
}

/* A part of the name, not "[clone .cold]" or "(*"? */
static int starts_name(const char *p)
{
	return (*p != '[' && *p != '(') || starts(p, "(anonymous namespace)");
}

/* Where the qualified name begins in a demangled one: behind the return type
 * that templates carry, and behind "virtual thunk to ". */
static const char *qualified_name(const char *name)
{
	const char *begin = name, *p = name;

	while (*p) {
		int at_word = p == name ||
			      (!isalnum((unsigned char)p[-1]) && p[-1] != '_');

		if (at_word && starts(p, "operator") &&
		    !isalnum((unsigned char)p[8]) && p[8] != '_')
			return begin;
		if (at_word && starts(p, "decltype")) {
			p += strlen("decltype");
			p += *p == ' ';
			p = *p == '(' ? skip_brackets(p) : p;
		} else if (starts(p, "(anonymous namespace)")) {
			p += strlen("(anonymous namespace)");
		} else if (*p == '(') {
			return begin;
		} else if (*p == '<' || *p == '{') {
			p = skip_brackets(p);
		} else if (*p++ == ' ' && starts_name(p)) {
			begin = p;
		}
	}
	return begin;
}

/* An inline function of a system header may go by its library's own copy:
 * atoi() is libc's wherever it was inlined. */
static int is_system_module(const char *module)
{
	static const char *const libraries[] = {
		"libc.so.",	"libm.so.",	  "libstdc++.so.", "libc++.so.",
		"libgcc_s.so.", "libpthread.so.", "ld-linux",
	};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		if (starts(module, libraries[i]))
			return 1;
	}
	return 0;
}

static int is_std_name(const char *name)
{
	const char *q = qualified_name(name);

	return starts(q, "std::") || starts(q, "__gnu_cxx::") ||
	       starts(q, "__cxxabiv1::");
}

static int is_system_file(const char *file)
{
	return starts(file, "/usr/include/") || strstr(file, "/include/c++/") ||
	       ((strstr(file, "/lib/gcc/") || strstr(file, "/lib/clang/") ||
		 strstr(file, "/lib/llvm")) &&
		strstr(file, "/include/"));
}

void names_set_function(struct names *n, uint32_t id, const char *name,
			const char *symbol, const char *module,
			const char *file)
{
	struct function *f = &n->functions[id];
	const char *copy = names_intern(n, name);

	if (copy)
		f->name = copy;
	f->symbol = names_intern(n, symbol);
	f->module = names_intern(n, module);
	f->file = names_intern(n, file);
	f->is_std = is_std_name(f->name) ||
		    (f->file && is_system_file(f->file)) ||
		    (f->module && is_system_module(f->module));
	function_touch(n, id);
}

void names_set_exception(struct names *n, uint32_t id,
			 const struct exception_name *e)
{
	struct function *f = &n->functions[id];
	const char *copy = names_intern(n, e->name);

	if (copy)
		f->name = copy;
	f->symbol = names_intern(n, e->symbol);
	f->message = names_intern(n, e->message);
	f->exception = e->kind;
	function_touch(n, id);
}

void names_set_site(struct names *n, uint32_t id, const char *file,
		    uint32_t line)
{
	n->sites[id].file = names_intern(n, file);
	n->sites[id].line = line;
	site_touch(n, id);
}

void names_place_function(struct names *n, uint32_t id, uint32_t space)
{
	n->functions[id].space = space;
}

void names_place_site(struct names *n, uint32_t id, uint32_t space,
		      uint64_t caller, uint64_t hook)
{
	n->sites[id].space = space;
	n->sites[id].caller = caller;
	n->sites[id].hook = hook;
}

int names_lacks_function(const struct names *n, uint32_t id)
{
	const struct function *f = &n->functions[id];

	return f->space && (!f->symbol || !f->file);
}

int names_lacks_site(const struct names *n, uint32_t id)
{
	const struct call_site *s = &n->sites[id];

	/* Nobody knew whether the function was inlined there: the line may be
	 * that of another call. */
	return s->space && (!s->file || names_lacks_function(n, s->function));
}

void names_clean(struct names *n)
{
	for (uint32_t i = 0; i < n->n_dirty_functions; i++)
		n->functions[n->dirty_functions[i]].is_dirty = 0;
	for (uint32_t i = 0; i < n->n_dirty_sites; i++)
		n->sites[n->dirty_sites[i]].is_dirty = 0;
	n->n_dirty_functions = n->n_dirty_sites = 0;
}

void names_dirty(struct names *n)
{
	n->n_dirty_functions = n->n_functions;
	for (uint32_t i = 0; i < n->n_functions; i++) {
		n->functions[i].is_dirty = 1;
		n->dirty_functions[i] = i;
	}
	n->n_dirty_sites = n->n_sites;
	for (uint32_t i = 0; i < n->n_sites; i++) {
		n->sites[i].is_dirty = 1;
		n->dirty_sites[i] = i;
	}
}
