/* SPDX-License-Identifier: MIT */
#include "folded.h"
#include "number.h"
#include "pump.h"
#include "row.h"
#include "stacks.h"

enum { NAME_ROOM = 4000, NAME_MAX_BYTES = 4096 };

struct folded {
	const struct cst_trace *t;
	const struct cst_choice *choice;
	struct stacks stacks;
	int is_made;
	uint32_t next; /* node */
	uint32_t path[STACKS_DEEPEST];
};

/* What parts the functions must not be in their names. */
static void put_name(const char *name, struct bytes *out)
{
	char *begin = (char *)bytes_reserve(out, NAME_MAX_BYTES), *end;

	if (!begin)
		return;
	end = row_put_text(begin, name, NAME_ROOM);
	for (char *p = begin; p < end; p++)
		if (*p == ';')
			*p = ':';
	out->len += (size_t)(end - begin);
}

static void put_node(struct folded *f, uint32_t node, struct bytes *out)
{
	const struct pair *nodes = f->stacks.nodes.all;
	char text[24];
	uint32_t n = 0;

	for (uint32_t i = node; i != NO_STACK; i = nodes[i].a)
		f->path[n++] = nodes[i].b;
	while (n--) {
		put_name(f->t->names->functions[f->path[n]].name, out);
		bytes_put_byte(out, n ? ';' : ' ');
	}
	bytes_put(out, text,
		  (size_t)(number_put(text, f->stacks.sums[node].self_ns) -
			   text));
	bytes_put_byte(out, '\n');
}

static int folded_fill(void *arg, struct bytes *out, struct cst_error *err)
{
	struct folded *f = arg;
	int status;

	if (!f->is_made) {
		status = stacks_make(&f->stacks, f->t, f->choice, err);
		if (status < 0)
			return status;
		f->is_made = 1;
	}
	for (; f->next < f->stacks.nodes.n && out->len < PUMP_BLOCK; f->next++)
		put_node(f, f->next, out);
	if (out->failed)
		return cst_fail_memory(err);
	return f->next < f->stacks.nodes.n;
}

int64_t folded_write(const struct cst_trace *t, const struct cst_choice *choice,
		     cst_write_fn write, void *arg, struct cst_error *err)
{
	struct folded f = {.t = t, .choice = choice};
	int64_t status = pump_run(folded_fill, &f, write, arg, err);

	if (status == 0)
		status = f.stacks.n_calls;
	stacks_release(&f.stacks);
	return status;
}
