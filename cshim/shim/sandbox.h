/* SPDX-License-Identifier: MIT */
#ifndef SHIM_SANDBOX_H
#define SHIM_SANDBOX_H

/* The system call of that number, with these arguments, is about to be made. */
void sandbox_enters(long number, long a, long b);

#endif
