/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Enough of a stack, whatever `ulimit -s` says.
 */
#ifndef CLI_BIG_STACK_H
#define CLI_BIG_STACK_H

/* What run() returns. */
int big_stack_run(int (*run)(int argc, char **argv), int argc, char **argv);

#endif
