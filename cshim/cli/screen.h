/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal that a picture is drawn on anew and anew.
 */
#ifndef CLI_SCREEN_H
#define CLI_SCREEN_H

#include <stddef.h>
#include <stdint.h>

struct screen {
	uint32_t rows, columns; /* as large as it is now */
};

/* Makes the terminal ready, whose keys are read without Enter.  Returns 0 where
 * standard output is no terminal, or a dumb one: then there is nothing to
 * end. */
int screen_begin(struct screen *s);

/* Draws the text from the upper left corner: as many lines, and as much of
 * each, as the screen holds. */
void screen_draw(const struct screen *s, const char *text, size_t size);

/* Waits so long, or until the size has changed.  Returns 1 if the user wants to
 * end: q, or a signal that screen_is_over() knows. */
int screen_wait(struct screen *s, uint64_t ns);

/* The keys are as before; the last picture stays. */
void screen_end(void);

/* From here on SIGINT and SIGTERM are noted only, with or without a screen. */
void screen_catch(void);
/* Returns whether one of them came. */
int screen_is_over(void);

#endif
