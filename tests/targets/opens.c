/* SPDX-License-Identifier: MIT
 *
 * Opens the library that argv names, and calls late_work(3) and (4) in it.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*work)(int) = 0;

	if (library)
		*(void **)&work = dlsym(library, "late_work");
	if (!work)
		return 1;
	printf("%d\n", work(3) + work(4));
	return 0;
}
