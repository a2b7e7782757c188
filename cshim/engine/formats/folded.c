/* SPDX-License-Identifier: MIT
 *
 * Writes the folded stacks of a trace from the tree of call_paths.h.
 */
#include "formats/folded.h"
#include "base/number.h"
#include "base/outfile.h"
#include "base/pipeline.h"
#include "trace/call_paths.h"
#include "rows/row.h"

#include <stdlib.h>

enum {
	NAME_ROOM = 4000,
	NAME_MAX_BYTES = 4096,
	/* A row has all names of its stack: deeper ones fill the disk. */
	DEEPEST = 1024,
};

/* A function's, made when it is first met. */
struct name {
	size_t at, size;
	int is_made;
};

struct folded {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct call_paths stacks;
	struct name *names; /* by function */
	struct bytes text;
	int is_made;
	uint32_t next; /* node */
	uint32_t path[DEEPEST];
};

/* What parts the functions must not be in their names. */
static void make_name(struct folded *f, uint32_t function)
{
	struct bytes *out = &f->text;
	char *begin = (char *)bytes_reserve(out, NAME_MAX_BYTES), *end;

	if (!begin)
		return;
	end = row_put_function(begin, f->t->names, function,
			       names_distinct(f->choice->names), NAME_ROOM);
	for (char *p = begin; p < end; p++)
		if (*p == ';')
			*p = ':';
	out->len += (size_t)(end - begin);
}

static void put_name(struct folded *f, uint32_t function, struct bytes *out)
{
	struct name *name = &f->names[function];

	if (!name->is_made) {
		name->at = f->text.len;
		make_name(f, function);
		name->size = f->text.len - name->at;
		name->is_made = 1;
	}
	bytes_put(out, f->text.data + name->at, name->size);
}

static void put_node(struct folded *f, uint32_t node, struct bytes *out)
{
	const struct pair *nodes = f->stacks.nodes.all;
	char text[24];
	uint32_t n = 0;

	for (uint32_t i = node; i != NO_STACK; i = nodes[i].a)
		f->path[n++] = nodes[i].b;
	while (n--) {
		put_name(f, f->path[n], out);
		bytes_put_byte(out, n ? ';' : ' ');
	}
	bytes_put(
		out, text,
		(size_t)(number_put(text, f->stacks.sums[node].total.self_ns) -
			 text));
	bytes_put_byte(out, '\n');
}

static int folded_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct folded *f = arg;
	int status;

	if (!f->is_made) {
		status = call_paths_make(&f->stacks, f->t, f->choice, DEEPEST,
					 err);
		if (status < 0)
			return status;
		f->names = calloc(f->t->names->n_functions + (size_t)1,
				  sizeof(*f->names));
		if (!f->names)
			return cst_fail_memory(err);
		f->is_made = 1;
	}
	if (outfile_is_interrupted())
		return cst_fail(CST_INTERRUPTED, err, "interrupted");
	for (; f->next < f->stacks.nodes.n && out->len < PUMP_BLOCK; f->next++)
		put_node(f, f->next, out);
	if (out->failed || f->text.failed)
		return cst_fail_memory(err);
	return f->next < f->stacks.nodes.n;
}

int64_t folded_write(const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err)
{
	struct folded f = {.t = t, .choice = choice};
	int64_t status = pipeline_run(folded_fill, &f, write, arg, err);

	if (status == 0)
		status = f.stacks.n_calls;
	call_paths_release(&f.stacks);
	free(f.names);
	bytes_release(&f.text);
	return status;
}
