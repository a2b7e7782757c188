/* SPDX-License-Identifier: MIT
 *
 * The unwinder's functions, and the C++ library's, that the shim stands before.
 */
#ifndef SHIM_UNWIND_H
#define SHIM_UNWIND_H

/* Finds them, as the program starts. */
void unwind_begin(void);

#endif
