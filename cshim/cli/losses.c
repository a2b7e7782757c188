/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Prints on standard error what a trace lacks: records that were lost, and
 * libraries that were not traced.
 */
#include "losses.h"

#include "tell.h"

void losses_tell_untraced(const struct cst_losses *l)
{
	char text[500];

	for (uint32_t i = 0; cst_losses_untraced(l, i, text, sizeof(text)); i++)
		failure("%s", text);
}

void losses_tell(const struct cst_losses *l)
{
	char text[80];

	for (uint32_t i = 0; cst_losses_text(l, i, text, sizeof(text)); i++)
		failure("%s", text);
	losses_tell_untraced(l);
}
