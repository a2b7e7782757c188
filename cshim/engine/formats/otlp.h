/* SPDX-License-Identifier: MIT
 *
 * Writes calls as OpenTelemetry spans: an ExportTraceServiceRequest in OTLP's
 * JSON, on one line, as collectors accept it.
 */
#ifndef ENGINE_OTLP_H
#define ENGINE_OTLP_H

#include "trace/loader.h"

/* Passes the file to write().  Ignores last, around and at of the choice.
 * Returns the number of calls, a negative status, or the negative number by
 * which write() ended it. */
int64_t otlp_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
