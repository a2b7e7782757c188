/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words that the shells' completion offers.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

/* Prints what could stand in place of the last of the words, which is the word
 * at the cursor and may be empty; words are what stands behind "cstrace" up to
 * there.  Prints a line for each possible word, with a tab and what it means
 * behind it, or one line that begins with a colon and says what the shell is to
 * look for itself:
 *
 *   :trace       files that end in .cst, and folders
 *   :file        any file
 *   :command N   a command and its arguments, words[N] is its name
 *
 * Returns an exit code. */
int complete_print(int n_words, char **words);

#endif
