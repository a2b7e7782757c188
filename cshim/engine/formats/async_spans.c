/* SPDX-License-Identifier: MIT
 *
 * Keeps all events of a process until it is over, then goes through them in
 * order of time.
 */
#include "formats/async_spans.h"
#include "base/array.h"
#include "base/error.h"
#include "base/hashmap.h"

#include <stdlib.h>

enum { NO_END = UINT32_MAX };

struct async_event {
	struct bytes text; /* of a begin */
	uint64_t key, at_ns;
	uint32_t order; /* in which they were noted */
	uint32_t end;	/* of a begin: the index of its end, or NO_END */
	uint32_t below; /* 1 + the begin that was open under its key, or 0 */
	uint8_t is_end;
};

int async_spans_note(struct async_spans *a, uint64_t key, uint64_t at_ns,
		     const struct bytes *text)
{
	struct async_event *e;

	if (array_room(&a->all, &a->cap, a->n + 1ull) < 0)
		return CST_MEMORY;
	e = &a->all[a->n];
	*e = (struct async_event){.key = key,
				  .at_ns = at_ns,
				  .order = a->n++,
				  .end = NO_END,
				  .is_end = !text};
	if (text)
		bytes_put(&e->text, text->data, text->len);
	return e->text.failed ? CST_MEMORY : 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct async_event *x = a, *y = b;

	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Finds the ends.  open: by key, 1 + the newest begin that is open. */
static int pair(struct async_spans *a, struct hashmap *open)
{
	for (uint32_t i = 0; i < a->n; i++) {
		struct async_event *e = &a->all[i];
		uint32_t *newest = hashmap_get(open, e->key);

		if (!e->is_end) {
			e->below = newest ? *newest : 0;
			if (hashmap_put(open, e->key, i + 1) < 0)
				return CST_MEMORY;
		} else if (newest && *newest) {
			a->all[*newest - 1].end = i;
			*newest = a->all[*newest - 1].below;
		}
	}
	return 0;
}

int async_spans_put(struct async_spans *a, uint64_t last_ns,
		    void (*put)(void *arg, const struct bytes *text,
				uint64_t start_ns, uint64_t end_ns, int is_open,
				struct bytes *out),
		    void *arg, struct bytes *out)
{
	struct hashmap open = {0};
	int status = 0;

	if (a->n) {
		qsort(a->all, a->n, sizeof(*a->all), compare_times);
		status = pair(a, &open);
	}
	for (uint32_t i = 0; i < a->n && !status; i++) {
		const struct async_event *e = &a->all[i];
		int is_open = e->end == NO_END;

		if (!e->is_end)
			put(arg, &e->text, e->at_ns,
			    is_open ? last_ns : a->all[e->end].at_ns, is_open,
			    out);
	}
	hashmap_release(&open);
	async_spans_release(a);
	return status;
}

void async_spans_release(struct async_spans *a)
{
	for (uint32_t i = 0; i < a->n; i++)
		bytes_release(&a->all[i].text);
	free(a->all);
	*a = (struct async_spans){0};
}
