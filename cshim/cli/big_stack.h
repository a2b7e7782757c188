/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A large enough stack, whatever `ulimit -s` says.
 */
#ifndef CLI_BIG_STACK_H
#define CLI_BIG_STACK_H

/* Calls run() and returns what it returns: on a thread with a large stack,
 * unless the caller's is large enough or no thread can be started. */
int big_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
