/* SPDX-License-Identifier: MIT
 *
 * Calls as OpenTelemetry spans: an ExportTraceServiceRequest in OTLP's JSON,
 * on one line, as collectors take it.
 */
#ifndef ENGINE_OTLP_H
#define ENGINE_OTLP_H

#include "trace/loader.h"

/* Returns the number of calls. last and around of the choice do not count. */
int64_t otlp_write(const struct cst_trace *t, const struct cst_choice *choice,
		   cst_write_fn write, void *arg, struct cst_error *err);

#endif
