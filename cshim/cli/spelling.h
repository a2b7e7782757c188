/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The word that the user may have meant.
 */
#ifndef CLI_SPELLING_H
#define CLI_SPELLING_H

struct near {
	const char *wanted;
	const char *word; /* the nearest so far; NULL: none is near */
	unsigned distance;
};

/* Compares n->wanted with one of the possible words, which is borrowed. */
void spelling_offer(struct near *n, const char *word);

#endif
