/* SPDX-License-Identifier: MIT
 *
 * What the program's object files say, in notes, that they want of the shim.
 */
#ifndef SHIM_INTRODUCE_H
#define SHIM_INTRODUCE_H

/* Reads and obeys these, as the program starts. */
void introduce(void);

#endif
