/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the word of a list that the user probably meant by a misspelt one.
 */
#include "spelling.h"

#include <stddef.h>
#include <string.h>

enum { MAX_LENGTH = 31 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many letters must be changed, put in, taken out, or swapped with their
 * neighbour. */
static unsigned distance(const char *a, const char *b)
{
	unsigned d[MAX_LENGTH + 1][MAX_LENGTH + 1];
	size_t n = strlen(a), m = strlen(b);

	for (size_t i = 0; i <= n; i++)
		for (size_t k = 0; k <= m; k++) {
			if (!i || !k) {
				d[i][k] = (unsigned)(i + k);
				continue;
			}
			d[i][k] =
				least(least(d[i - 1][k], d[i][k - 1]) + 1,
				      d[i - 1][k - 1] + (a[i - 1] != b[k - 1]));
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				d[i][k] = least(d[i][k], d[i - 2][k - 2] + 1);
		}
	return d[n][m];
}

void spelling_offer(struct near *n, const char *word)
{
	size_t length = strlen(n->wanted);
	unsigned d;

	if (length < 2 || length > MAX_LENGTH || strlen(word) > MAX_LENGTH)
		return;
	/* A beginning is as near as one letter, the word itself nearer. */
	d = strncmp(word, n->wanted, length) ? distance(n->wanted, word)
					     : word[length] != 0;
	/* "colour" for "color", "reprot" for "report": a letter in three. */
	if (d > (length + 2) / 3 || (n->word && d >= n->distance))
		return;
	n->word = word;
	n->distance = d;
}
