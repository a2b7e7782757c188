/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Names without gdb: answers a recorder's questions from the debug information
 * of the files that are mapped in the traced process, as far as the recorder
 * cannot do so itself.
 *
 * A recorder asks through its `wanted` callback, on its own thread.  The owner
 * of the recorder then calls bfd_names_answer_all() on a thread of its choice,
 * and bfd_names_drain() where it would call cst_recorder_drain(). All calls
 * with one bfd_names come from one thread at a time.  The process may have
 * ended: what counts is what cst_recorder_process() saw mapped while it ran.
 */
#ifndef CLI_BFD_NAMES_H
#define CLI_BFD_NAMES_H

#include "cstrace/engine.h"

struct bfd_names;

/* Takes one line for the user, about debug information that cannot be read;
 * text is valid during the call only. */
typedef void (*bfd_names_tell_fn)(void *arg, const char *text);

/* Returns an object that answers questions and keeps the files open that it has
 * read; tell may be NULL. The caller frees it with bfd_names_free(). NULL: out
 * of memory. */
struct bfd_names *bfd_names_new(bfd_names_tell_fn tell, void *arg);
void bfd_names_free(struct bfd_names *n);

/* Makes the recorder, which was just opened, answer what it can by itself, and
 * ask only about files that need libbfd. */
void bfd_names_attach(struct bfd_names *n, struct cst_recorder *r);

/* Answers every question that r has now.  Returns how many there were. */
int bfd_names_answer_all(struct bfd_names *n, struct cst_recorder *r);

/* Drains r of all that the program has written, with all names, and reports
 * through tell() what could not be read: for the last drain before
 * cst_recorder_end(), and where rows must be complete. */
void bfd_names_drain(struct bfd_names *n, struct cst_recorder *r);

#endif
