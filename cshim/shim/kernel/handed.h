/* SPDX-License-Identifier: MIT
 *
 * A descriptor that another process hands over.
 */
#ifndef SHIM_HANDED_H
#define SHIM_HANDED_H

/* Connects to the abstract socket of that name, and takes the descriptor that
 * comes by it.  Returns that, which the caller closes, or a negative errno. */
int handed_open(const char *name);

#endif
