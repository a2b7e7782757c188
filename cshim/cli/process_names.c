/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A link and a file of /proc.  The words of the command line are separated by
 * zero bytes there, by blanks here.
 */
#include "process_names.h"

#include <stdio.h>
#include <unistd.h>

void process_names_read(struct process_names *p, pid_t pid)
{
	char path[64];
	size_t n = 0;
	ssize_t length;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	length = readlink(path, p->module, sizeof(p->module) - 1);
	p->module[length > 0 ? length : 0] = '\0';
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
	f = fopen(path, "re");
	if (f) {
		n = fread(p->command, 1, sizeof(p->command) - 1, f);
		fclose(f);
	}
	for (size_t i = 0; i + 1 < n; i++)
		if (!p->command[i])
			p->command[i] = ' ';
	p->command[n] = '\0';
}
