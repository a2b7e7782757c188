/* SPDX-License-Identifier: MIT
 *
 * Addresses are made up: each function has one of its own, though a library
 * may have been loaded where another one was, and each has the name that it
 * has in all our formats.
 */
#include "formats/uftrace_names.h"
#include "rows/row.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	FUNCTION_BYTES = 16,
	PAGE_BYTES = 4096,
	WORD_MAX = 200,
	NAME_ROOM = 1000, /* dump --chrome crashes on a name of 60000 */
	BLOCK = 256 << 10,
};

/* Below the stack's, or all would be the kernel's for uftrace. */
static const uint64_t first_addr = 0x100000000000;
static const char stack_line[] =
	"7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0"
	"                          [stack]\n";

struct entry {
	const char *module; /* NULL: not known */
	uint32_t function;
};

struct object {
	const struct entry *entries; /* those of one module */
	uint32_t n, ordinal;
	uint64_t addr;
};

int uftrace_put_word(struct bytes *out, const char *text)
{
	size_t len = strlen(text), n = len < WORD_MAX ? len : WORD_MAX;
	int is_changed = n < len || !len;

	for (size_t i = 0; i < n; i++) {
		int is_plain = isascii(text[i]) &&
			       (isalnum(text[i]) || strchr("._+-", text[i]));

		bytes_put_byte(out, (uint8_t)(is_plain ? text[i] : '_'));
		is_changed |= !is_plain;
	}
	if (!len)
		bytes_put_byte(out, '_');
	return is_changed;
}

/* "libfoo.so"; changed ones get a mark that others do not have.
 */
static void put_object_name(struct bytes *out, const struct object *o)
{
	const char *module = o->entries->module;
	char text[24];

	if (!uftrace_put_word(out, module ? module : "unknown") && module)
		return;
	bytes_put(out, text,
		  (size_t)snprintf(text, sizeof(text), "~%u", o->ordinal));
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = x->module == y->module ? 0
		    : !x->module	   ? -1
		    : !y->module	   ? 1
					   : strcmp(x->module, y->module);

	if (order)
		return order;
	return (x->function > y->function) - (x->function < y->function);
}

static struct entry *sorted_entries(const struct names *names)
{
	struct entry *all =
		calloc(names->n_functions + (size_t)1, sizeof(*all));

	for (uint32_t i = 0; all && i < names->n_functions; i++)
		all[i] = (struct entry){names->functions[i].module, i};
	if (all)
		qsort(all, names->n_functions, sizeof(*all), entry_compare);
	return all;
}

static void put_symbol(struct bytes *out, uint32_t i, char kind,
		       const char *name)
{
	char *begin = (char *)bytes_reserve(out, NAME_ROOM + 64), *p = begin;

	if (!p)
		return;
	p += snprintf(p, 32, "%016llx %c ", i * (FUNCTION_BYTES + 0ull), kind);
	p = row_put_text(p, *name ? name : "?", NAME_ROOM);
	*p++ = '\n';
	out->len += (size_t)(p - begin);
}

static void put_head(struct bytes *out, const struct object *o)
{
	char text[64];

	bytes_put(out, text,
		  (size_t)snprintf(text, sizeof(text),
				   "# symbols: %u\n# path name: ", o->n));
	put_object_name(out, o);
	bytes_put(out, "\n# build-id: \n", 14);
}

static int write_symbols(const struct cst_trace *t, const struct object *o,
			 struct folder_file *file, struct bytes *out,
			 struct cst_error *err)
{
	int status = 0;

	put_head(out, o);
	for (uint32_t i = 0; i < o->n && status == 0; i++) {
		const struct entry *e = &o->entries[i];

		put_symbol(out, i, 'T', t->names->functions[e->function].name);
		if (out->len >= BLOCK)
			status = folder_write(file, out, err);
	}
	put_symbol(out, o->n, '?', "__sym_end");
	return status < 0 ? status : folder_write(file, out, err);
}

static int write_object(const struct cst_trace *t, const struct object *o,
			struct folder *folder, struct bytes *out,
			struct cst_error *err)
{
	struct folder_file file = {.fd = -1};
	struct cst_error ignored;
	int status;

	out->len = 0;
	put_object_name(out, o);
	bytes_put(out, ".sym", sizeof(".sym"));
	if (out->failed)
		return cst_fail_memory(err);
	status = folder_begin(folder, (const char *)out->data, &file, err);
	out->len = 0;
	if (status == 0)
		status = write_symbols(t, o, &file, out, err);
	if (status < 0)
		folder_end(&file, &ignored);
	return status < 0 ? status : folder_end(&file, err);
}

static void put_mapping(struct bytes *map, const struct object *o, uint64_t end)
{
	char text[128];

	bytes_put(map, text,
		  (size_t)snprintf(text, sizeof(text),
				   "%llx-%llx r-xp 00000000 00:00 0%26s",
				   (unsigned long long)o->addr,
				   (unsigned long long)end, ""));
	put_object_name(map, o);
	bytes_put_byte(map, '\n');
}

/* Take the entries of one module; returns where the next may lie. */
static uint64_t take_object(struct object *o, const struct entry *entries,
			    uint32_t n, uint64_t addr, uint64_t *addrs)
{
	o->entries = entries;
	o->addr = addr;
	o->ordinal++;
	for (o->n = 0; o->n < n && entries[o->n].module == entries->module;
	     o->n++)
		addrs[entries[o->n].function] =
			addr + o->n * (FUNCTION_BYTES + 0ull);
	addr += (o->n + 1ull) * FUNCTION_BYTES;
	return (addr + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static int write_all(const struct cst_trace *t, const struct entry *entries,
		     struct folder *folder, uint64_t *addrs,
		     struct bytes buffers[2], struct cst_error *err)
{
	struct object o = {.ordinal = 0};
	uint64_t addr = first_addr;
	int status = 0;

	for (uint32_t i = 0; i < t->names->n_functions && status == 0;
	     i += o.n) {
		addr = take_object(&o, entries + i, t->names->n_functions - i,
				   addr, addrs);
		put_mapping(&buffers[0], &o, addr);
		status = write_object(t, &o, folder, &buffers[1], err);
	}
	bytes_put(&buffers[0], stack_line, sizeof(stack_line) - 1);
	return status < 0 ? status
			  : folder_put(folder, "sid-" UFTRACE_SESSION ".map",
				       &buffers[0], err);
}

int uftrace_names_write(const struct cst_trace *t, struct folder *folder,
			uint64_t **addrs, struct cst_error *err)
{
	auto_free struct entry *entries = sorted_entries(t->names);
	auto_free uint64_t *found =
		calloc(t->names->n_functions + (size_t)1, sizeof(*found));
	struct bytes buffers[2] = {{0}, {0}};
	int status;

	if (!entries || !found)
		return cst_fail_memory(err);
	status = write_all(t, entries, folder, found, buffers, err);
	bytes_release(&buffers[0]);
	bytes_release(&buffers[1]);
	if (status == 0)
		*addrs = take(found);
	return status;
}
