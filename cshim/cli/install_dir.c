/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looks for files that belong to the command, from the folder where the command
 * itself lies.
 */
#include "install_dir.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tell.h"

int install_dir_find(const char *name, const char *const *places,
		     char out[PATH_MAX])
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n < 0)
		return failure("cannot tell where the command is: "
			       "/proc/self/exe: %s",
			       strerror(errno));
	self[n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	for (; *places; places++) {
		snprintf(path, sizeof(path), "%s/%s", self, *places);
		if (realpath(path, out))
			return STATUS_OK;
	}
	return failure("cannot find %s near '%s': install cstrace again", name,
		       self);
}
