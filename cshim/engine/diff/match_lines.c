/* SPDX-License-Identifier: MIT
 *
 * What a comparison of the two sources would say, from the lines that were
 * called from: as many pairs as can be had in order, and of those choices the
 * one that moves the lines least.
 */
#include "diff/match_lines.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
	PAIR = 4000,	   /* what a pair is worth; ... */
	FAR_PAIR = 1001,   /* one in different functions; ... */
	MOST_MOVED = 1000, /* less the lines it moved, up to this */
	MOST_CELLS = 16 << 20,
};

static uint32_t moved_by(const struct place *a, const struct place *b)
{
	return a->line < b->line ? b->line - a->line : a->line - b->line;
}

static uint32_t pair_worth(const struct place *a, const struct place *b)
{
	uint32_t moved = moved_by(a, b);
	uint32_t worth = a->caller == b->caller ? PAIR : FAR_PAIR;

	if (a->function != b->function)
		return 0;
	return worth - (moved < MOST_MOVED ? moved : MOST_MOVED);
}

/* In the order that both are in. */
static int place_order(const struct place *a, const struct place *b)
{
	if (a->line != b->line)
		return a->line < b->line ? -1 : 1;
	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return (a->caller > b->caller) - (a->caller < b->caller);
}

/* Too many for a table: the very same lines only. */
static void align_exactly(const struct place *a, uint32_t n_a,
			  const struct place *b, uint32_t n_b,
			  uint32_t *partner)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n_a; i++) {
		while (k < n_b && place_order(&b[k], &a[i]) < 0)
			k++;
		partner[i] = k < n_b && !place_order(&b[k], &a[i]) ? k + 1 : 0;
	}
}

/* worth[i][k]: the best for what lies from a[i] and b[k] on. */
static void fill_worth(const struct place *a, uint32_t n_a,
		       const struct place *b, uint32_t n_b, uint32_t *worth)
{
	size_t row = (size_t)n_b + 1;

	for (uint32_t i = n_a; i-- > 0;) {
		for (uint32_t k = n_b; k-- > 0;) {
			uint32_t *here = &worth[i * row + k];
			uint32_t pair = pair_worth(&a[i], &b[k]);

			*here = here[1] > here[row] ? here[1] : here[row];
			if (pair && pair + here[row + 1] > *here)
				*here = pair + here[row + 1];
		}
	}
}

static void read_pairs(const struct place *a, uint32_t n_a,
		       const struct place *b, uint32_t n_b,
		       const uint32_t *worth, uint32_t *partner)
{
	size_t row = (size_t)n_b + 1;
	uint32_t i = 0, k = 0;

	while (i < n_a && k < n_b) {
		const uint32_t *here = &worth[i * row + k];
		uint32_t pair = pair_worth(&a[i], &b[k]);

		if (pair && *here == pair + here[row + 1])
			partner[i++] = ++k;
		else if (*here == here[row])
			i++;
		else
			k++;
	}
}

/* In the same build a single line that moved, among some that did not, is
 * another branch of the code. */
static void part_lone_moves(const struct place *a, uint32_t n_a,
			    const struct place *b, uint32_t *partner)
{
	uint32_t n_still = 0;

	for (uint32_t i = 0; i < n_a; i++)
		n_still += partner[i] && b[partner[i] - 1].line == a[i].line;
	for (uint32_t i = 0; n_still && i < n_a; i++) {
		uint32_t moved =
			partner[i] ? b[partner[i] - 1].line - a[i].line : 0;
		uint32_t n_alike = 0;

		for (uint32_t k = 0; moved && k < n_a; k++)
			n_alike += partner[k] &&
				   b[partner[k] - 1].line - a[k].line == moved;
		if (n_alike == 1)
			partner[i] = 0;
	}
}

int match_lines(const struct place *a, uint32_t n_a, const struct place *b,
		uint32_t n_b, int is_same_build, uint32_t *partner)
{
	uint64_t n_cells = (n_a + 1ull) * (n_b + 1ull);
	uint32_t *worth;

	memset(partner, 0, n_a * sizeof(*partner));
	if (n_cells > MOST_CELLS) {
		align_exactly(a, n_a, b, n_b, partner);
		return 0;
	}
	worth = calloc(n_cells, sizeof(*worth));
	if (!worth)
		return CST_MEMORY;
	fill_worth(a, n_a, b, n_b, worth);
	read_pairs(a, n_a, b, n_b, worth, partner);
	free(worth);
	if (is_same_build)
		part_lone_moves(a, n_a, b, partner);
	return 0;
}
