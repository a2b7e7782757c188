/* SPDX-License-Identifier: MIT */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

/* A system call that the program is about to make, with its first arguments:
 * does it begin a sandbox? */
void sandbox_enters(long number, long a, long b, long c);

#endif
