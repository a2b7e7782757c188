/* SPDX-License-Identifier: MIT
 *
 * What every test program of this folder begins with.
 */
#ifndef TRACED_H
#define TRACED_H

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "mini_reader.h"

/* Called as it is written: not inlined, not cloned. */
#ifdef __clang__
#define TRACED __attribute__((noinline))
#else
#define TRACED __attribute__((noipa))
#endif

#endif
