/* SPDX-License-Identifier: MIT
 *
 * Writes calls as OpenTelemetry spans: an ExportTraceServiceRequest in OTLP's
 * JSON, on one line, as collectors accept it.
 */
#ifndef ENGINE_OTLP_H
#define ENGINE_OTLP_H

#include "trace/loader.h"

/* Passes the file to write.  Ignores last and around of the choice.  Returns
 * the number of calls, or a negative status. */
int64_t otlp_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
