/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names without gdb: answers a recorder's questions from the debug
 * information of the files that are mapped in the traced process, as far as
 * the recorder cannot do so itself.
 *
 * A recorder asks through its `wanted` callback, on its own thread.  Whoever
 * owns the recorder then calls bfd_names_answer_all() on a thread of its
 * choice, and bfd_names_drain() where it would call cst_recorder_drain().  All
 * calls with one naming come from one thread at a time.  The process may be
 * gone: what counts is what cst_recorder_process() saw mapped while it was
 * there.
 */
#ifndef CLI_BFD_NAMES_H
#define CLI_BFD_NAMES_H

#include "cstrace/engine.h"

struct bfd_names;

/* One line that the user should see (debug information that nobody can read).
 */
typedef void (*bfd_names_tell_fn)(void *arg, const char *text);

/* Keeps the files open that it looked into; tell may be NULL. NULL: out of
 * memory. */
struct bfd_names *bfd_names_new(bfd_names_tell_fn tell, void *arg);
void bfd_names_free(struct bfd_names *n);

/* Once the recorder is open: it answers what it can by itself, and asks only
 * about files that want libbfd. */
void bfd_names_attach(struct bfd_names *n, struct cst_recorder *r);

/* Answer every question that waits.  Returns how many there were. */
int bfd_names_answer_all(struct bfd_names *n, struct cst_recorder *r);

/* Take all that the program has written, names and all: for the last drain
 * before cst_recorder_end(), and wherever rows must be complete. */
void bfd_names_drain(struct bfd_names *n, struct cst_recorder *r);

#endif
