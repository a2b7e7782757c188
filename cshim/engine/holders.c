/* SPDX-License-Identifier: MIT
 *
 * Who has the area mapped.  A fork child has before it makes its first call,
 * so the area's own table of processes does not tell.
 */
#include "area.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

uint64_t area_now_ticks(void)
{
	struct timespec now;
	uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * rate +
	       (uint64_t)now.tv_nsec * rate / 1000000000;
}

/* When a process was started, in the kernel's ticks since boot; 0: it is gone,
 * or a zombie. */
static uint64_t started(uint32_t pid)
{
	enum { STATE = 3, START = 22 };
	char path[32], text[1024], *at, *next = NULL;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* Behind the name, which may hold anything. */
	at = strrchr(text, ')');
	at = at ? strtok_r(at + 1, " ", &next) : NULL;
	if (!at || *at == 'Z' || *at == 'X')
		return 0;
	for (int i = STATE; at && i < START; i++)
		at = strtok_r(NULL, " ", &next);
	return at ? strtoull(at, NULL, 10) : 0;
}

static int holds(uint32_t pid, uint64_t inode)
{
	char path[32], line[512], wanted[32];
	int found = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	snprintf(wanted, sizeof(wanted), " %" PRIu64 " ", inode);
	maps = fopen(path, "re");
	if (!maps)
		return 0;
	while (!found && fgets(line, sizeof(line), maps))
		found = strstr(line, "/memfd:cstrace") && strstr(line, wanted);
	fclose(maps);
	return found;
}

static int is_entered(const struct area *a, uint32_t pid)
{
	uint32_t n = __atomic_load_n(&a->head->n_processes, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < n && i < CST_MAX_PROCESSES; i++)
		if (a->processes[i].pid == pid)
			return 1;
	return 0;
}

int area_is_held(const struct area *a, uint32_t pid)
{
	struct stat st;

	return !fstat(a->fd, &st) && holds(pid, st.st_ino);
}

uint32_t area_n_running(const struct area *a)
{
	uint32_t n = 0, own = (uint32_t)getpid();
	struct dirent *entry;
	struct stat st;
	DIR *proc;

	if (fstat(a->fd, &st) < 0)
		return 0;
	proc = opendir("/proc");
	while (proc && (entry = readdir(proc))) {
		uint32_t pid =
			isdigit((unsigned char)entry->d_name[0])
				? (uint32_t)strtoul(entry->d_name, NULL, 10)
				: 0;
		uint64_t start = pid && pid != own ? started(pid) : 0;

		/* Looking into each process's mappings would take long. */
		if (start && (start >= a->since_ticks || is_entered(a, pid)))
			n += (uint32_t)holds(pid, st.st_ino);
	}
	if (proc)
		closedir(proc);
	return n;
}
