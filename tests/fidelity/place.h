/* SPDX-License-Identifier: MIT
 *
 * For stripped programs: functions tell themselves by their place in the file.
 */
#ifndef PLACE_H
#define PLACE_H

#include "expect.h"
#include <stdio.h>

extern char __executable_start;
static char place_file[4096];

/* Returns 0 if the program's own file is not known. */
QUIET static int place_begin(void)
{
	return readlink("/proc/self/exe", place_file, sizeof(place_file) - 1) >
	       0;
}

QUIET static void told(int d, void *function)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s+0x%lx", strrchr(place_file, '/') + 1,
		 (unsigned long)((char *)function - &__executable_start));
	expect(d, name);
}

#endif
