/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints on standard error what a trace lacks: records that were lost, and
 * libraries that were not traced.
 */
#include "losses.h"

#include <inttypes.h>

#include "command.h"

void losses_tell_untraced(const struct cst_status_report *s)
{
	char text[500];

	for (uint32_t i = 0; cst_status_untraced(s, i, text, sizeof(text)); i++)
		failure("%s", text);
}

void losses_tell(const struct cst_status_report *s)
{
	uint64_t n = cst_status_lost(s);

	if (n)
		failure("%" PRIu64 " %s lost", n,
			n == 1 ? "record was" : "records were");
	if (s->n_dropped)
		failure("%" PRIu64 " %s not kept: too deep or short",
			s->n_dropped,
			s->n_dropped == 1 ? "call was" : "calls were");
	losses_tell_untraced(s);
}
