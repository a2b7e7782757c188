/* SPDX-License-Identifier: MIT
 *
 * Finds the names that a misspelt one was probably meant to be: those that the
 * fewest changes of a letter make of it.
 */
#include "names/near.h"
#include "base/utf8.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 63 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Letters to change, put in, take out, or swap with their neighbours. */
static unsigned distance(const char *a, const char *b)
{
	unsigned rows[3][LONGEST + 1];
	size_t n = strlen(b), n_a = strlen(a);

	for (size_t i = 0; i <= n; i++)
		rows[0][i] = (unsigned)i;
	for (size_t k = 1; k <= n_a; k++) {
		unsigned *row = rows[k % 3], *above = rows[(k + 2) % 3];

		row[0] = (unsigned)k;
		for (size_t i = 1; i <= n; i++) {
			row[i] = least(least(row[i - 1], above[i]) + 1,
				       above[i - 1] + (a[k - 1] != b[i - 1]));
			if (k > 1 && i > 1 && a[k - 1] == b[i - 2] &&
			    a[k - 2] == b[i - 1])
				row[i] = least(row[i],
					       rows[(k + 1) % 3][i - 2] + 1);
		}
	}
	return rows[n_a % 3][n];
}

/* What stands behind the last "::". */
static const char *last_part(const char *name)
{
	const char *p = name;

	for (const char *at; (at = strstr(p, "::"));)
		p = at + 2;
	return p;
}

static unsigned distance_to(const char *word, const char *name)
{
	const char *last = last_part(name);
	unsigned d = UINT32_MAX, other;

	if (strlen(name) <= LONGEST)
		d = distance(word, name);
	other = strlen(last) <= LONGEST ? distance(word, last) : d;
	return other < d ? other : d;
}

void near_init(struct near *n, const char *word)
{
	*n = (struct near){.word = word, .length = strlen(word)};
	if (n->length < 2 || n->length > LONGEST)
		n->length = 0;
}

void near_offer(struct near *n, const char *name)
{
	struct near_name new = {name, 0};

	if (!n->length)
		return;
	new.distance = distance_to(n->word, name);
	if (new.distance > (n->length + 2) / 3)
		return;
	for (int i = 0; i < MOST_NEAR; i++) {
		struct near_name old = n->best[i];

		if (old.name && !strcmp(old.name, name))
			return;
		if (old.name && old.distance <= new.distance)
			continue;
		n->best[i] = new;
		new = old;
		if (!new.name || !strcmp(new.name, name))
			return;
	}
}

int near_put(const struct near *near, char *out, uint32_t size)
{
	const struct near_name *best = near->best;
	uint32_t used = 0;
	int n = 0;

	*out = '\0';
	for (; n < MOST_NEAR && best[n].name &&
	       best[n].distance == best[0].distance;
	     n++) {
		char shown[4 * LONGEST];

		*utf8_put(shown, best[n].name, sizeof(shown) - 1) = '\0';
		used += (uint32_t)snprintf(out + used, size - used, "%s%s",
					   n ? ", " : "", shown);
		if (used >= size)
			return n + 1;
	}
	return n;
}
