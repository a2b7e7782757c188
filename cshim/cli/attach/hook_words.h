/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The words of a process that lead to the compiler's hooks: in a program that
 * was started without the shim they lead to libc's, which do nothing.
 */
#ifndef CLI_HOOK_WORDS_H
#define CLI_HOOK_WORDS_H

#include "attach/tracee.h"
#include "process/remote_modules.h"

struct hook_word {
	uint64_t address, old, new; /* new 0: it is as it was */
	uint32_t is_exit;
};

struct hook_words {
	struct hook_word *all;
	uint32_t n, cap;
};

/* Finds the words of all modules, but for those that `known` has led, which may
 * be NULL.  Returns 1, or 0: out of memory.  Release w in any case. */
int hook_words_find(struct hook_words *w, const struct remote_modules *m,
		    const struct hook_words *known);
/* Moves what `more` has to the end of w.  Returns 1, or 0: out of memory; then
 * nothing has changed. */
int hook_words_join(struct hook_words *w, struct hook_words *more);
void hook_words_release(struct hook_words *w);

/* Forgets those that do not lead to the shim any more: their library has gone,
 * and another one may be in its place. */
void hook_words_forget(struct hook_words *w, const struct tracee *t);
/* Leads them to the shim's hooks at entry and exit, while all threads stand
 * still. */
void hook_words_write(struct hook_words *w, const struct tracee *t,
		      uint64_t entry, uint64_t exit);
/* Leads them to where they led before, while all threads of t stand still: the
 * process, or a fork child. */
void hook_words_restore(const struct hook_words *w, const struct tracee *t);

/* Returns whether those of the process of t, which may be any, lead to the
 * shim. */
int hook_words_are_led(const struct hook_words *w, const struct tracee *t);

#endif
