/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words that the shells' completion offers.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

/* words is what stands behind "cstrace" up to the word at the cursor, which is
 * the last of them and may be empty.  Prints a line for each word that could
 * stand there, with a tab and what it means behind it, or one line that begins
 * with a colon and tells the shell what to look for itself:
 *
 *   :trace       files that end in .cst, and folders
 *   :file        any file
 *   :command N   a command and its arguments, words[N] is its name
 *
 * Returns an exit code. */
int complete_print(int n_words, char **words);

#endif
