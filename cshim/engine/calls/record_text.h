/* SPDX-License-Identifier: MIT
 *
 * The bytes that a thread's CST_TEXT records bring, for the record behind them.
 */
#ifndef ENGINE_RECORD_TEXT_H
#define ENGINE_RECORD_TEXT_H

#include "calls/callstack.h"

/* Keeps the raw bytes that a CST_VALUES record completes, as t->raw. */
void record_raw_take(struct thread *t, const struct cst_record *r);

/* Keeps the bytes of a CST_TEXT record. */
void record_text_add(struct thread *t, const struct cst_record *r);

/* Takes the last n bytes, as many as the record behind them says.  Returns
 * them, valid until the next record, or NULL where they are not there. */
const char *record_text_take(struct thread *t, uint64_t n);

#endif
