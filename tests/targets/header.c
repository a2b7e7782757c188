/* SPDX-License-Identifier: MIT
 *
 * An inline function of a system header: at -O2 clang instruments it.
 */
#include <stdlib.h>

int main(int argc, char **argv)
{
	return argc > 1 ? atoi(argv[1]) : 0;
}
