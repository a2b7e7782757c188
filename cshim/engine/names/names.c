/* SPDX-License-Identifier: MIT
 *
 * Two growing arrays and the arena of their strings; and the judgement which
 * functions belong to the C++ library.
 */
#include "names/names.h"
#include "base/array.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"
#include "cstrace/engine.h"
#include "cstrace/layout.h"
#include "names/simple.h"
#include "names/marks.h"
#include "names/twins.h"

#include <assert.h>
#include <libiberty/demangle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct names *names_new(void)
{
	struct names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->arena = arena_new();
	n->twins = calloc(1, sizeof(*n->twins));
	if (!n->arena || !n->twins) {
		names_free(n);
		return NULL;
	}
	return n;
}

void names_free(struct names *n)
{
	if (!n)
		return;
	arena_free(n->arena);
	marks_free(n->marks);
	twins_release(n->twins);
	free(n->twins);
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
	uint32_t cap_dirty = *cap;

	return array_room(dirty, &cap_dirty, n + 1ull) < 0
		       ? CST_MEMORY
		       : array_room_of(array, cap, n + 1ull, size);
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
	n->functions[n->n_functions] = (struct function){.addr = addr,
							 .name = name,
							 .simple = name,
							 .parameters = name,
							 .signature = name,
							 .scoped = name,
							 .qualified = name};
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

/* An inline function of a system header may go by its library's own copy:
 * atoi() is libc's wherever it was inlined. */
static int is_system_module(const char *module)
{
	static const char *const libraries[] = {
		"libc.so.",	"libm.so.",	  "libstdc++.so.", "libc++.so.",
		"libgcc_s.so.", "libpthread.so.", "ld-linux",
	};

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		if (text_begins(module, libraries[i]))
			return 1;
	}
	return 0;
}

static int is_std_name(const char *name)
{
	const char *q = simple_qualified(name);

	return text_begins(q, "std::") || text_begins(q, "__gnu_cxx::") ||
	       text_begins(q, "__cxxabiv1::");
}

static int is_system_file(const char *file)
{
	return text_begins(file, "/usr/include/") ||
	       strstr(file, "/include/c++/") ||
	       ((strstr(file, "/lib/gcc/") || strstr(file, "/lib/clang/") ||
		 strstr(file, "/lib/llvm")) &&
		strstr(file, "/include/"));
}

/* ---- simple names -------------------------------------------------------- */

static uint8_t variant_of(const char *symbol)
{
	if (!symbol || !text_begins(symbol, "_Z"))
		return VARIANT_NONE;
	switch (is_gnu_v3_mangled_dtor(symbol)) {
	case gnu_v3_deleting_dtor:
		return VARIANT_DELETING;
	case gnu_v3_complete_object_dtor:
		return VARIANT_COMPLETE;
	case gnu_v3_base_object_dtor:
		return VARIANT_BASE;
	default:
		break;
	}
	switch (is_gnu_v3_mangled_ctor(symbol)) {
	case gnu_v3_complete_object_ctor:
		return VARIANT_COMPLETE;
	case gnu_v3_base_object_ctor:
		return VARIANT_BASE;
	default:
		return VARIANT_NONE;
	}
}

const char *names_thrown(const struct function *f, size_t *size)
{
	const char *space = f->symbol ? strchr(f->name, ' ') : NULL;
	size_t more = f->message ? strlen(f->message) + strlen("(\"\")") : 0;

	*size = space ? strlen(space + 1) : 0;
	if (*size <= more)
		return NULL;
	*size -= more;
	return space + 1;
}

static void settle_alike(struct function *f, const char *name)
{
	f->simple = f->parameters = f->signature = f->scoped = f->qualified =
		name;
}

/* "throw std::vector<...>("text")" */
static void settle_exception(struct names *n, struct function *f)
{
	size_t size;
	const char *type = names_thrown(f, &size), *copy;
	char full[SIMPLE_SIZE * 4], simple[SIMPLE_SIZE],
		text[2 * SIMPLE_SIZE + 16];

	settle_alike(f, f->name);
	/* "decltype(nullptr)", "void (*)()" */
	if (!type || size >= sizeof(full) || type[size - 1] == ')')
		return;
	memcpy(full, type, size);
	full[size] = 0;
	simple_name(full, simple, sizeof(simple));
	snprintf(text, sizeof(text), "%.*s%s%.*s", (int)(type - f->name),
		 f->name, simple, SIMPLE_SIZE, type + size);
	copy = names_intern(n, text);
	if (copy)
		settle_alike(f, copy);
}

static void settle_kind(struct names *n, struct function *f)
{
	if (function_is_exception(f))
		settle_exception(n, f);
	else
		settle_alike(f, f->name);
}

static const char *made_name(struct names *n, const struct function *f,
			     unsigned (*make)(const char *, char *, unsigned))
{
	char text[SIMPLE_SIZE];
	const char *copy;

	make(f->name, text, sizeof(text));
	copy = names_intern(n, text);
	return copy ? copy : f->name;
}

void names_settle(struct names *n, uint32_t id)
{
	struct function *f = &n->functions[id];

	if (f->kind) {
		settle_kind(n, f);
		return;
	}
	f->simple = made_name(n, f, simple_name);
	f->parameters = made_name(n, f, simple_parameters);
	f->signature = made_name(n, f, simple_signature);
	f->qualified = made_name(n, f, simple_long);
	f->scoped = names_intern(n, simple_scoped(f->qualified, f->simple));
	if (!f->scoped)
		f->scoped = f->qualified;
	f->variant = variant_of(f->symbol);
	twins_add(n->twins, f->simple,
		  &(struct called){f->signature, f->qualified, f->name, 0});
	if (f->parameters != f->signature)
		twins_add(n->twins, f->parameters,
			  &(struct called){f->signature, NULL, f->name, 0});
	twins_add(n->twins, f->signature,
		  &(struct called){f->signature, NULL, f->name, 0});
	if (f->scoped != f->simple && f->scoped != f->qualified)
		twins_add(n->twins, f->scoped,
			  &(struct called){f->signature, f->qualified, f->name,
					   0});
	twins_add(n->twins, f->qualified, &(struct called){.full = f->name});
	if (f->variant)
		twins_add(n->twins, f->name,
			  &(struct called){.variant = f->variant});
}

static int is_shared(const struct names *n, const char *name, int how)
{
	return twins_shared(n->twins, name) & how;
}

/* Returns the shortest name that tells a function from others, but for
 * instances of one template. */
static const char *shortest(const struct names *n, const struct function *f)
{
	int any = SHARED_BY_OVERLOADS | SHARED_BY_NAMESPACES;
	int how = is_shared(n, f->simple, any);

	if (!how)
		return f->simple;
	if (how == SHARED_BY_OVERLOADS)
		return is_shared(n, f->parameters, how) ? f->signature
							: f->parameters;
	if (f->scoped != f->simple && !is_shared(n, f->scoped, any))
		return f->scoped;
	return how == SHARED_BY_NAMESPACES ? f->qualified : f->name;
}

const char *names_shown(const struct names *n, uint32_t id, int how,
			const char **mark)
{
	const struct function *f = &n->functions[id];
	uint8_t variants = f->variant ? twins_variants(n->twins, f->name) : 0;
	const char *shown;

	*mark = "";
	if (f->variant == VARIANT_DELETING && variants != VARIANT_DELETING)
		*mark = " [deleting]";
	/* Where the two are one, the base's name may be the one found. */
	if (f->variant == VARIANT_BASE && variants & VARIANT_COMPLETE)
		*mark = " [base]";
	if (how == CST_NAMES_FULL)
		return f->name;
	shown = shortest(n, f);
	if (how == NAMES_DISTINCT &&
	    twins_shared(n->twins, shown) & SHARED_BY_INSTANCES)
		return f->name;
	return shown;
}

/* ---- what is set ----------------------------------------------------------
 */

int names_is_std(const struct function *f)
{
	return !f->kind &&
	       (is_std_name(f->name) || (f->file && is_system_file(f->file)) ||
		(f->module && is_system_module(f->module)));
}

void names_set_function(struct names *n, uint32_t id, const char *name,
			const char *symbol, const char *module,
			const char *file)
{
	struct function *f = &n->functions[id];
	const char *copy = names_intern(n, name);

	assert(id < n->n_functions);

	if (copy)
		f->name = copy;
	f->symbol = names_intern(n, symbol);
	f->module = names_intern(n, module);
	f->file = names_intern(n, file);
	names_settle(n, id);
	f->is_std = !f->is_border && names_is_std(f);
	function_touch(n, id);
}

void names_set_border(struct names *n, uint32_t id)
{
	struct function *f = &n->functions[id];

	assert(id < n->n_functions);
	if (f->is_border)
		return;
	f->is_border = 1;
	f->is_std = 0;
	function_touch(n, id);
}

void names_set_exception(struct names *n, uint32_t id,
			 const struct exception_name *e)
{
	struct function *f = &n->functions[id];
	const char *copy = names_intern(n, e->name);

	assert(id < n->n_functions);

	if (copy)
		f->name = copy;
	f->symbol = names_intern(n, e->symbol);
	f->message = names_intern(n, e->message);
	f->kind = e->kind;
	names_settle(n, id);
	function_touch(n, id);
}

void names_set_kind(struct names *n, uint32_t id, enum function_kind kind,
		    const char *values)
{
	n->functions[id].kind = (uint8_t)kind;
	n->functions[id].values = names_intern(n, values);
}

static void set_values(struct names *n, uint32_t id, const char *values,
		       size_t n_values, const char *result)
{
	struct function *f = &n->functions[id];
	struct bytes both = {0};

	bytes_put(&both, values, n_values);
	if (*result)
		bytes_put_format(&both, "\n%s", result);
	bytes_put_byte(&both, '\0');
	if (!both.failed &&
	    (!f->values || strcmp(f->values, (char *)both.data))) {
		f->values = names_intern(n, (char *)both.data);
		function_touch(n, id);
	}
	bytes_release(&both);
}

void names_set_values(struct names *n, uint32_t id, const char *values)
{
	const char *old = n->functions[id].values;
	const char *line = old ? strchr(old, '\n') : NULL;

	if (values)
		set_values(n, id, values, strlen(values), line ? line + 1 : "");
}

void names_set_result(struct names *n, uint32_t id, const char *result)
{
	const char *old = n->functions[id].values;

	set_values(n, id, old ? old : "", old ? strcspn(old, "\n") : 0, result);
}

const char *names_kind_word(unsigned kind)
{
	static const char *const words[] = {
		[KIND_SPAN] = "span ",	 [KIND_MESSAGE] = "log: ",
		[KIND_COUNT] = "count ", [KIND_ASYNC] = "span ",
		[KIND_POINT] = "log: ",	 [KIND_ASYNC_END] = "end of span ",
	};
	const char *word =
		kind < sizeof(words) / sizeof(*words) ? words[kind] : NULL;

	return word ? word : "";
}

const char *names_said(const struct function *f)
{
	static const char *const words[] = {"zoom", "backtrace"};

	for (size_t i = 0; f->kind == KIND_POINT && i < 2; i++)
		if (text_begins(f->name, words[i]))
			return words[i];
	return "log";
}

const char *names_bare(const struct function *f)
{
	const char *word = names_kind_word(f->kind);
	size_t n = function_has_text(f)		? strlen(names_said(f)) + 2
		   : text_begins(f->name, word) ? strlen(word)
						: 0;

	return strlen(f->name) < n ? f->name : f->name + n;
}

void names_set_site(struct names *n, uint32_t id, const char *file,
		    uint32_t line)
{
	assert(id < n->n_sites);
	n->sites[id].file = names_intern(n, file);
	n->sites[id].line = line;
	site_touch(n, id);
}

void names_set_tail(struct names *n, uint32_t id)
{
	assert(id < n->n_sites);
	n->sites[id].is_tail = 1;
	site_touch(n, id);
}

void names_set_path(struct names *n, uint32_t id, const char *path)
{
	assert(id < n->n_sites);
	n->sites[id].path = names_intern(n, path);
}

void names_place_function(struct names *n, uint32_t id, uint32_t space)
{
	assert(id < n->n_functions);
	n->functions[id].space = space;
}

void names_size_function(struct names *n, uint32_t id, uint64_t bytes)
{
	assert(id < n->n_functions);
	n->functions[id].size =
		bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

void names_place_site(struct names *n, uint32_t id, uint32_t space,
		      uint64_t caller, uint64_t hook)
{
	assert(id < n->n_sites);
	n->sites[id].space = space;
	n->sites[id].caller = caller;
	n->sites[id].hook = hook;
}

void names_count_called(const struct names *n, uint32_t *n_functions,
			uint32_t *n_sites)
{
	*n_functions = *n_sites = 0;
	for (uint32_t i = 0; i < n->n_functions; i++)
		*n_functions += !n->functions[i].kind;
	for (uint32_t i = 0; i < n->n_sites; i++)
		*n_sites += !n->functions[n->sites[i].function].kind;
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

const char *exception_word(uint8_t kind)
{
	switch (kind) {
	case CST_THROW:
		return "throw";
	case CST_RETHROW:
		return "rethrow";
	case CST_CATCH:
		return "catch";
	case KIND_UNCAUGHT:
		return "uncaught";
	}
	return "exception";
}
