/* SPDX-License-Identifier: MIT
 *
 * The bytes that a thread's records bring: texts, for the record behind them,
 * and raw values of calls.
 */
#ifndef ENGINE_RECORD_TEXT_H
#define ENGINE_RECORD_TEXT_H

#include "calls/callstack.h"

/* Sets t->raw to the raw bytes that a CST_VALUES record completes: they are
 * valid until the next record with bytes. */
void record_raw_take(struct thread *t, const struct cst_record *r);

/* Sets t->raw to what the record holds itself. */
void record_raw_unpack(const struct sites *s, struct thread *t,
		       const struct cst_record *r);

/* Decodes what t->raw holds for a record of site `number`, which consumes it,
 * and appends the values to out. */
void record_raw_decode(struct sites *s, struct thread *t, uint32_t number,
		       struct bytes *out);

/* Keeps the bytes of a CST_TEXT record. */
void record_text_add(struct thread *t, const struct cst_record *r);

/* Takes the last n bytes, as many as the record behind them says.  Returns
 * them, valid until the next record, or NULL where they are not there. */
const char *record_text_take(struct thread *t, uint64_t n);

#endif
