/* SPDX-License-Identifier: MIT
 *
 * A library with some jumps of its own, and (JUMPS defined) the program that
 * takes them: libc's are others.
 */
#ifdef JUMPS

#include <setjmp.h>

static jmp_buf nowhere;

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		_longjmp(nowhere, 3);
	siglongjmp(nowhere, 4);
}

#else

#include <unistd.h>

void _longjmp(void *to, int value)
{
	_exit(to ? 10 + value : 0);
}

void siglongjmp(void *to, int value)
{
	_exit(to ? 20 + value : 0);
}

#endif
