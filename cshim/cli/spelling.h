/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds the word that the user may have meant instead of a wrong one.
 */
#ifndef CLI_SPELLING_H
#define CLI_SPELLING_H

/* Zeroed but for wanted, it is ready for spelling_offer(). */
struct near {
	const char *wanted; /* what the user wrote */
	const char *word;   /* the nearest so far; NULL: none is near */
	unsigned distance;
};

/* Makes the word, which is borrowed, n->word if it is near to n->wanted, and
 * nearer than the word there. */
void spelling_offer(struct near *n, const char *word);

#endif
