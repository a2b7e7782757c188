/* SPDX-License-Identifier: MIT
 *
 * With optimization, code of an inlined function begins in the first bytes of
 * another, in the middle of a line.
 */
#include <stddef.h>

struct frame {
	int *first;
	int *last;
	struct frame *older;
};

struct machine {
	struct frame *frame;
	int none;
	int registry[4];
};

static inline int *value_at(struct machine *m, int i)
{
	struct frame *f = m->frame;
	if (i > 0) {
		int *at = f->first + i;
		return at < f->last ? at : &m->none;
	} else if (i > -4) {
		return f->last + i;
	}
	return &m->registry[-i & 3];
}

__attribute__((noinline)) int kind_of(struct machine *m, int i)
{
	const int *value = value_at(m, i);
	return value != &m->none ? *value & 15 : -1;
}

__attribute__((noinline)) void set(struct machine *m, int i, int to)
{
	*value_at(m, i) = to;
}

__attribute__((noinline)) int sum(struct machine *m, int n)
{
	int all = 0;
	for (int i = 1; i < n; i++)
		all += *value_at(m, i) + kind_of(m, -i);
	return all;
}

int main(void)
{
	int values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct frame frame = {values, values + 8, NULL};
	struct machine m = {&frame, 0, {9, 10, 11, 12}};

	set(&m, 2, 7);
	set(&m, -2, 8);
	return sum(&m, 4) + kind_of(&m, 3) == 0;
}
