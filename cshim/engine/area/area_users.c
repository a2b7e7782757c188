/* SPDX-License-Identifier: MIT
 *
 * Finds the processes that have the area mapped.  A fork child has it mapped
 * before it makes its first call, so the area's own table of processes is not
 * enough.
 */
#include "area/area_users.h"

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

enum {
	LOOKS = 5,
	EXITING = 4, /* PF_EXITING, of the kernel's */
};

uint64_t area_now_ticks(void)
{
	struct timespec now;
	uint64_t rate = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * rate +
	       (uint64_t)now.tv_nsec * rate / 1000000000;
}

/* When a process was started, in the kernel's ticks since boot; 0: it has
 * ended, or all but. */
static uint64_t started(uint32_t pid)
{
	unsigned long long flags = 0, start = 0;
	char path[32], text[1024], state = 0;
	const char *at;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = 0;
	/* Behind the name, which may hold anything: state, five fields, flags,
	 * twelve fields. */
	at = strrchr(text, ')');
	if (!at ||
	    sscanf(at + 1,
		   " %c %*s %*s %*s %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s "
		   "%*s %*s %*s %*s %*s %llu",
		   &state, &flags, &start) != 3 ||
	    strchr("ZX", state) || (flags & EXITING))
		return 0;
	return start;
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

	if (a->is_elsewhere)
		return !a->has_ended;
	return !fstat(a->fd, &st) && holds(pid, st.st_ino);
}

enum look { IS_OTHER, HOLDS, HAS_GONE };

static enum look look_at(const struct area *a, uint32_t pid, uint64_t inode)
{
	uint64_t start = started(pid);

	if (!start)
		return HAS_GONE;
	/* Looking into each process's mappings would take long. */
	if (start < a->since_ticks && !is_entered(a, pid))
		return IS_OTHER;
	if (holds(pid, inode))
		return HOLDS;
	return started(pid) ? IS_OTHER : HAS_GONE;
}

/* How many hold it.  *has_gone: one that the kernel had named was no more when
 * it was looked at. */
static uint32_t look_around(const struct area *a, uint64_t inode, int *has_gone)
{
	uint32_t n = 0, own = (uint32_t)getpid();
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	*has_gone = 0;
	while (proc && (entry = readdir(proc))) {
		uint32_t pid =
			isdigit((unsigned char)entry->d_name[0])
				? (uint32_t)strtoul(entry->d_name, NULL, 10)
				: 0;
		enum look look =
			pid && pid != own ? look_at(a, pid, inode) : IS_OTHER;

		n += look == HOLDS;
		*has_gone |= look == HAS_GONE;
	}
	if (proc)
		closedir(proc);
	return n;
}

uint32_t area_n_running(const struct area *a)
{
	uint32_t n = 0;
	struct stat st;
	int has_gone = 1;

	if (a->is_elsewhere)
		return a->head->n_processes && !a->has_ended;
	if (fstat(a->fd, &st) < 0)
		return 0;
	/* A process that has ended may have left a child that was not named
	 * yet. */
	for (int i = 0; i < LOOKS && !n && has_gone; i++)
		n = look_around(a, st.st_ino, &has_gone);
	return n;
}
