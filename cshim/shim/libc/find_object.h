/* SPDX-License-Identifier: MIT
 *
 * Where the unwinder finds the frames of code that no library has: the
 * trampolines'.
 */
#ifndef SHIM_FIND_OBJECT_H
#define SHIM_FIND_OBJECT_H

/* Finds libc's function for it, as the program starts. */
void find_begin(void);

#endif
