/* SPDX-License-Identifier: MIT
 *
 * The table of executable mappings, by address.  One is forgotten only when
 * another takes its place or modules_unmap() says so: names are asked for
 * when the process may be long gone.
 */
#include "elf/modules.h"
#include "base/array.h"
#include "base/ranges.h"
#include "base/search.h"
#include "base/text.h"
#include "elf/debug_hints.h"
#include "elf/insn.h"
#include "elf/maps.h"
#include "elf/object.h"
#include "elf/x86_64.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct module {
	struct range range; /* disjoint, so outer is always RANGE_NONE */
	struct object *object;
	uint64_t offset;   /* in the file, of the range's start */
	uint64_t bias;	   /* from the file's addresses to the process's */
	uint64_t zero;	   /* the same by the process's own log, if has_zero */
	uint32_t number;   /* of the object, from 1 */
	uint32_t reported; /* to this writer */
	int has_zero;
	enum { BIAS_UNTRIED, BIAS_KNOWN, BIAS_MISSING } bias_state;
};

struct span {
	uint64_t start, size;
};

enum { N_VOIDS = 4 };

struct modules {
	struct modules *first, *next; /* those that share object files */
	uint32_t n_objects;	      /* the first's: ever opened */
	struct module *list;
	uint32_t n, capacity;
	struct hints hints;  /* the first's: debug files that gdb has found */
	struct hints copies; /* the first's: files by build-id */
	struct maps maps;
	/* Addresses between functions and variables, as the heap's and the
	 * stack's; the oldest is replaced next. */
	struct span voids[N_VOIDS];
	uint32_t n_voids; /* ever noted */
};

/* What was found to be nowhere may be somewhere now. */
static void forget_voids(struct modules *m)
{
	memset(m->voids, 0, sizeof(m->voids));
}

void modules_debug_file(struct modules *m, const char *path,
			const char *debug_file)
{
	if (!hints_put(&m->first->hints, path, debug_file))
		return;
	for (m = m->first; m; m = m->next) {
		forget_voids(m);
		for (uint32_t i = 0; i < m->n; i++)
			if (hints_is_same(path, object_path(m->list[i].object)))
				object_debug_file(m->list[i].object,
						  debug_file);
	}
}

void modules_copy(struct modules *m, const char *build_id, const char *path)
{
	if (!hints_put(&m->first->copies, build_id, path))
		return;
	for (m = m->first; m; m = m->next) {
		forget_voids(m);
		for (uint32_t i = 0; i < m->n; i++)
			object_set_copy(m->list[i].object, build_id, path);
	}
}

/* ---- what is mapped ---------------------------------------------------- */

static struct module *module_at(struct modules *m, uint64_t addr)
{
	uint32_t i = ranges_find(m->list, m->n, sizeof(*m->list), addr);

	return i == RANGE_NONE ? NULL : &m->list[i];
}

/* Its place in the file's own addresses; 0: the file cannot be read. */
static int module_addr(struct module *module, uint64_t addr, uint64_t *out)
{
	if (module->bias_state == BIAS_UNTRIED)
		module->bias_state =
			object_bias(module->object, module->range.start,
				    module->offset, &module->bias)
				? BIAS_KNOWN
				: BIAS_MISSING;
	if (module->bias_state == BIAS_MISSING)
		return 0;
	*out = addr - module->bias;
	return 1;
}

void modules_unmap(struct modules *m, uint64_t start, uint64_t end)
{
	uint32_t kept = 0;

	forget_voids(m);
	for (uint32_t i = 0; i < m->n; i++) {
		struct module *module = &m->list[i];

		if (module->range.start < end && start < module->range.end)
			object_unref(module->object);
		else
			m->list[kept++] = *module;
	}
	m->n = kept;
}

/* A mapping of the same object file, in any of the address spaces. */
static const struct module *module_of(const struct modules *m,
				      const struct mapping *mapping)
{
	for (m = m->first; m; m = m->next)
		for (uint32_t i = 0; i < m->n; i++)
			if (object_is_of(m->list[i].object, mapping))
				return &m->list[i];
	return NULL;
}

/* The object file of a mapping: known by another one of it, or new. */
static struct object *object_for(struct modules *m, uint32_t pid,
				 const struct mapping *mapping,
				 uint32_t *number)
{
	const struct module *known = module_of(m, mapping);
	struct object *o;

	if (known) {
		*number = known->number;
		return object_ref(known->object);
	}
	o = object_new(pid, mapping);
	if (o)
		object_debug_file(o,
				  hints_get(&m->first->hints, object_path(o)));
	if (o && mapping->build_id)
		object_set_copy(
			o, mapping->build_id,
			hints_get(&m->first->copies, mapping->build_id));
	*number = ++m->first->n_objects;
	return o;
}

static int modules_add(struct modules *m, uint32_t pid,
		       const struct mapping *mapping)
{
	uint32_t number, i;
	struct object *o = object_for(m, pid, mapping, &number);

	modules_unmap(m, mapping->start, mapping->end);
	if (!o || array_room(&m->list, &m->capacity, m->n + 1ull) < 0) {
		object_unref(o);
		return 0;
	}
	for (i = m->n++; i && m->list[i - 1].range.start > mapping->start; i--)
		m->list[i] = m->list[i - 1];
	m->list[i] = (struct module){
		.range = {.start = mapping->start,
			  .end = mapping->end,
			  .outer = RANGE_NONE},
		.object = o,
		.offset = mapping->offset,
		.number = number,
		.has_zero = mapping->build_id != NULL,
		.zero = mapping->zero,
	};
	return 1;
}

static int is_known(struct modules *m, const struct mapping *mapping)
{
	const struct module *module = module_at(m, mapping->start);

	return module && module->range.start == mapping->start &&
	       module->range.end == mapping->end &&
	       module->offset == mapping->offset &&
	       object_is_of(module->object, mapping);
}

int modules_refresh(struct modules *m, uint32_t pid, struct cst_error *err)
{
	struct mapping mapping;
	uint64_t at = 0;
	int status = maps_read(&m->maps, pid, err);

	if (status < 0)
		return status;
	while (maps_next(&m->maps, &at, &mapping))
		if (!is_known(m, &mapping) && !modules_add(m, pid, &mapping))
			return cst_fail_memory(err);
	return 0;
}

static int overlaps(const struct modules *m, const struct mapping *mapping)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->list[i].range.start < mapping->end &&
		    mapping->start < m->list[i].range.end)
			return 1;
	return 0;
}

int modules_map(struct modules *m, uint32_t pid, char *line, char *object,
		uint64_t *start, uint64_t *end)
{
	struct mapping mapping;

	*end = 0;
	if (!maps_parse(line, &mapping))
		return 0;
	maps_parse_object(object, &mapping);
	if (is_known(m, &mapping)) {
		object_tell_id(module_at(m, mapping.start)->object, &mapping);
		return 0;
	}
	if (overlaps(m, &mapping)) {
		*start = mapping.start;
		*end = mapping.end;
	}
	return modules_add(m, pid, &mapping) ? 0 : CST_MEMORY;
}

int modules_add_file(struct modules *m, const struct module_note *note,
		     const char *path)
{
	struct mapping mapping = {
		.start = note->start, .end = note->end, .path = path};
	struct module *module;
	struct stat st;

	if (stat(path, &st))
		return 0;
	mapping.inode = st.st_ino;
	if (!modules_add(m, 0, &mapping))
		return 0;
	module = module_at(m, note->start);
	module->bias = note->bias;
	module->bias_state =
		object_is_there(module->object) ? BIAS_KNOWN : BIAS_MISSING;
	return module->bias_state == BIAS_KNOWN;
}

void modules_tell(struct modules *m, uint32_t writer, int all,
		  void (*tell)(void *arg, const struct module_note *note),
		  void *arg)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct module *module = &m->list[i];
		struct module_note note = {
			.path = object_path(module->object),
			.start = module->range.start,
			.end = module->range.end,
		};
		uint64_t addr;

		if (module->reported == writer ||
		    (!all && module->bias_state == BIAS_UNTRIED))
			continue;
		module->reported = writer;
		if (module_addr(module, note.start, &addr)) {
			note.bias = module->bias;
			object_build_id(module->object, note.build_id);
		} else if (module->has_zero) {
			note.bias = module->zero;
			object_build_id(module->object, note.build_id);
		}
		tell(arg, &note);
	}
}

const char *modules_next_change(struct modules *m)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (object_take_change(m->list[i].object))
			return object_path(m->list[i].object);
	return NULL;
}

/* ---- questions --------------------------------------------------------- */

int modules_has(struct modules *m, uint64_t addr)
{
	return module_at(m, addr) != NULL;
}

uint64_t modules_next(const struct modules *m, uint64_t addr)
{
	uint64_t next = 0;

	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t start = m->list[i].range.start;

		if (start > addr && (!next || start < next))
			next = start;
	}
	return next;
}

uint64_t modules_place(struct modules *m, uint64_t addr)
{
	struct module *module = module_at(m, addr);
	uint64_t inside;

	if (!module || !module_addr(module, addr, &inside))
		return 0;
	return (uint64_t)module->number << 40 ^ inside;
}

void modules_code(struct modules *m, uint64_t pc, struct code *out)
{
	struct module *module = module_at(m, pc);
	uint64_t addr;

	*out = (struct code){0};
	if (module && module_addr(module, pc, &addr) &&
	    object_code(module->object, addr, out))
		out->function += module->bias;
}

int modules_is_return(struct modules *m, uint64_t addr)
{
	struct module *module = module_at(m, addr);
	uint8_t before[PROCESSOR_CALL_BYTES];
	uint64_t at;

	return !module || !module_addr(module, addr, &at) ||
	       !object_bytes(module->object, at - sizeof(before), before,
			     sizeof(before)) ||
	       processor_ends_in_call(before);
}

uint64_t modules_called(struct modules *m, uint64_t addr)
{
	enum { CALL_BYTES = 5, CALL_CODE = 0xe8 };
	uint64_t at = addr - CALL_BYTES;
	uint8_t bytes[CALL_BYTES];
	struct insn i;

	if (!modules_bytes(m, at, bytes, sizeof(bytes)) ||
	    bytes[0] != CALL_CODE || !insn_decode(&i, bytes, sizeof(bytes), at))
		return 0;
	return i.target;
}

int modules_bytes(struct modules *m, uint64_t pc, void *out, size_t n)
{
	struct module *module = module_at(m, pc);
	uint64_t at;

	return module && module_addr(module, pc, &at) &&
	       object_bytes(module->object, at, out, n);
}

static void fill_symbol(struct symbol *out, const struct module *module,
			const struct symtab_entry *e)
{
	out->symbol = e->name;
	out->start = e->range.start + module->bias;
	out->offset = out->module_offset - e->range.start;
	if (!symtab_is_unsized(e))
		out->end = e->range.end + module->bias;
}

int modules_symbol(struct modules *m, uint64_t addr, struct symbol *out)
{
	struct module *module = module_at(m, addr);
	struct symtab *table;
	const struct symtab_entry *e;

	*out = (struct symbol){0};
	if (!module)
		return 0;
	out->module = text_last_name(object_path(module->object));
	if (!module_addr(module, addr, &out->module_offset)) {
		out->module_offset =
			addr - module->range.start + module->offset;
		return 0;
	}
	e = object_symbol(module->object, out->module_offset, &table);
	if (e)
		fill_symbol(out, module, e);
	out->is_stub = object_is_stubs(module->object, table);
	return e != NULL;
}

int modules_is_form(struct modules *m, uint64_t addr, const char *name)
{
	struct module *module = module_at(m, addr);
	uint64_t at;

	return module && module_addr(module, addr, &at) &&
	       object_is_form(module->object, at, name);
}

const char *modules_exporter(struct modules *m, const char *symbol)
{
	for (uint32_t i = 0; i < m->n; i++) {
		struct object *o = m->list[i].object;
		const char *name = text_last_name(object_path(o));

		if (!text_begins(name, "libcstrace") &&
		    object_exports(o, symbol))
			return name;
	}
	return NULL;
}

/* The one whose code is the nearest at or below addr: a file's data lies behind
 * its code. */
static struct module *module_below(struct modules *m, uint64_t addr)
{
	uint32_t n = search_while(i, m->n, m->list[i].range.start <= addr);

	return n ? &m->list[n - 1] : NULL;
}

/* Nothing is at addr, neither in the module below it, if there is one, nor in
 * another. */
static void note_void(struct modules *m, const struct module *below,
		      uint64_t addr)
{
	uint64_t start = 0, end = UINT64_MAX;

	if (below && below->bias_state == BIAS_KNOWN && addr >= below->bias) {
		end -= below->bias;
		object_no_variable(below->object, addr - below->bias, &start,
				   &end);
		start += below->bias;
		end += below->bias;
	}
	ranges_gap(m->list, m->n, sizeof(*m->list), addr, &start, &end);
	m->voids[m->n_voids++ % N_VOIDS] = (struct span){start, end - start};
}

int modules_is_void(const struct modules *m, uint64_t addr)
{
	for (uint32_t i = 0; i < N_VOIDS; i++)
		if (addr - m->voids[i].start < m->voids[i].size)
			return 1;
	return 0;
}

static int find_variable(struct modules *m, uint64_t addr, struct symbol *out)
{
	struct module *module = module_below(m, addr);
	const struct symtab_entry *e = NULL;

	*out = (struct symbol){0};
	if (module && module_addr(module, addr, &out->module_offset))
		e = object_variable(module->object, out->module_offset);
	if (e)
		fill_symbol(out, module, e);
	else if (!module_at(m, addr))
		note_void(m, module, addr);
	return e != NULL;
}

int modules_pointee(struct modules *m, uint64_t addr, struct symbol *out,
		    int *is_function)
{
	*is_function = 0;
	if (modules_is_void(m, addr))
		return 0;
	*is_function =
		modules_symbol(m, addr, out) && !out->offset && out->symbol;
	return *is_function || (find_variable(m, addr, out) && out->symbol);
}

void modules_functions(struct modules *m, uint64_t addr,
		       void (*hear)(void *arg, const char *symbol), void *arg)
{
	struct module *module = module_at(m, addr);
	const struct symtab *table;
	uint64_t inside;

	if (!module || !module_addr(module, addr, &inside))
		return;
	table = object_functions(module->object);
	for (uint32_t i = 0; i < table->n; i++)
		hear(arg, table->entries[i].name);
}

/* What is known of the function at an address, to know it again inlined. */
static void describe(struct modules *m, uint64_t callee,
		     struct inline_function *out)
{
	struct module *module = module_at(m, callee);
	struct symbol symbol;
	uint64_t addr, shift;

	*out = (struct inline_function){0};
	if (modules_symbol(m, callee, &symbol))
		out->symbol = symbol.symbol;
	if (!module || !module_addr(module, callee, &addr))
		return;
	struct inlines *in = object_inlines(module->object, &shift);
	if (in)
		inlines_function(in, addr - shift, out);
}

int modules_is_inlined(struct modules *m, uint64_t pc, uint64_t callee)
{
	struct inline_function here, there;
	struct code own, code;

	describe(m, pc, &here);
	describe(m, callee, &there);
	if (here.is_known && there.is_known)
		return !inlines_is_of(&here.die, &there);
	if (here.symbol && there.symbol)
		return here.symbol != there.symbol;
	/* Stripped.  Where callee's own code begins is known all the same (not
	 * so where it is a stub of the procedure linkage table), and this is
	 * not it. */
	modules_code(m, callee, &own);
	modules_code(m, pc, &code);
	return own.function == callee && code.function != callee;
}

/* calls[0..n]: the instance and what it is inlined into. */
static void fill_inline_call(struct inline_call *out, struct inlines *in,
			     Dwarf_Die *calls, int n)
{
	*out = (struct inline_call){.n_scopes = n + 1};
	if (!inlines_line(in, &calls[n], &out->file, &out->line))
		out->file = NULL;
	for (int i = 0; i <= n; i++) {
		out->scopes[i] = (uint64_t)(uintptr_t)calls[i].addr;
		out->origins[i] =
			(uint64_t)(uintptr_t)inlines_origin(&calls[i]);
	}
}

struct inlines *modules_inlines(struct modules *m, uint64_t addr,
				uint64_t *inside)
{
	struct module *module = module_at(m, addr);
	struct inlines *in;
	uint64_t shift;

	if (!module || !module_addr(module, addr, inside))
		return NULL;
	in = object_inlines(module->object, &shift);
	*inside -= shift;
	return in;
}

int modules_inline_call(struct modules *m, uint64_t pc, uint64_t callee,
			struct inline_call *out)
{
	Dwarf_Die calls[INLINES_MAX];
	struct inline_function f;
	uint64_t addr;
	struct inlines *in = modules_inlines(m, pc, &addr);
	int n = in ? inlines_at(in, addr, calls, INLINES_MAX) : 0;

	if (n && callee)
		describe(m, callee, &f);
	while (n--) {
		if (callee && !inlines_is_of(&calls[n], &f))
			continue;
		fill_inline_call(out, in, calls, n);
		return 1;
	}
	return 0;
}

int modules_inline_call_around(struct modules *m, uint64_t pc,
			       const char *helper, struct inline_call *out)
{
	Dwarf_Die calls[INLINES_MAX];
	uint64_t addr;
	struct inlines *in = modules_inlines(m, pc, &addr);
	int n = in ? inlines_at(in, addr, calls, INLINES_MAX) : 0;

	while (n && inlines_has_name(&calls[n - 1], helper))
		n--;
	if (!n)
		return 0;
	fill_inline_call(out, in, calls, n - 1);
	return 1;
}

int modules_line(struct modules *m, uint64_t pc, const char **file,
		 uint32_t *line)
{
	uint64_t addr;
	struct inlines *in = modules_inlines(m, pc, &addr);

	return in && inlines_source(in, addr, file, line);
}

const char *modules_path(struct modules *m, uint64_t addr, const char *file)
{
	uint64_t inside;
	struct inlines *in = modules_inlines(m, addr, &inside);

	return in ? inlines_path(in, file) : NULL;
}

int modules_is_read(struct modules *m, uint64_t addr)
{
	struct module *module = module_at(m, addr);

	return module && object_has_inlines(module->object);
}

int modules_is_foreign(struct modules *m, uint64_t addr)
{
	struct module *module = module_at(m, addr);
	uint64_t inside;

	return module && module_addr(module, addr, &inside) &&
	       object_is_foreign(module->object);
}

int modules_file(struct modules *m, uint64_t addr, struct module_file *out)
{
	struct module *module = module_at(m, addr);

	if (!module || !module_addr(module, addr, &out->addr))
		return 0;
	out->path = object_path(module->object);
	out->fd = object_descriptor(module->object);
	return 1;
}

void modules_definition(struct modules *m, uint64_t addr, const char **name,
			const char **file, uint32_t *line)
{
	uint64_t inside;
	struct inlines *in = modules_inlines(m, addr, &inside);

	*name = *file = NULL;
	*line = 0;
	if (in)
		inlines_definition(in, inside, name, file, line);
}

_Static_assert(INLINES_MAX <= sizeof(((struct inline_call *)0)->scopes) / 8,
	       "room for all that inlines_at() gives");

/* ---- open and close ---------------------------------------------------- */

struct modules *modules_new(void)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (m)
		m->first = m;
	return m;
}

struct modules *modules_new_beside(struct modules *first)
{
	struct modules *m = calloc(1, sizeof(*m));

	if (m) {
		m->first = first->first;
		m->next = m->first->next;
		m->first->next = m;
	}
	return m;
}

void modules_free(struct modules *m)
{
	if (!m)
		return;
	modules_unmap(m, 0, UINT64_MAX);
	hints_release(&m->hints);
	hints_release(&m->copies);
	free(m->list);
	maps_release(&m->maps);
	free(m);
}
