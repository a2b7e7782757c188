/* SPDX-License-Identifier: MIT
 *
 * What /proc/PID/status and the loaded files say of it.
 */
#include "process/obstacle.h"
#include "base/task_file.h"
#include "elf/elffile.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { VISIT_LOOKS = 50, VISIT_NAP_NS = 10 * 1000 * 1000 };

static const char *status_line(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	return at ? at + strlen(name) : "";
}

static pid_t tracer_now(pid_t pid)
{
	char status[8192];

	return task_file_read((uint32_t)pid, (uint32_t)pid, "status", status,
			      sizeof(status))
		       ? atoi(status_line(status, "\nTracerPid:"))
		       : 0;
}

pid_t tracer_of(pid_t pid)
{
	const struct timespec nap = {.tv_nsec = VISIT_NAP_NS};
	pid_t tracer = tracer_now(pid);

	for (int i = 0; i < VISIT_LOOKS && tracer && tracer != getpid(); i++) {
		nanosleep(&nap, NULL);
		tracer = tracer_now(pid);
	}
	return tracer;
}

/* The process may have another root, where the file is not. */
static int sees(pid_t pid, const char *shim)
{
	char path[PATH_MAX + 64];
	struct stat ours, its;

	if (stat(shim, &ours) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, shim);
	return stat(path, &its) == 0 && its.st_ino == ours.st_ino &&
	       its.st_dev == ours.st_dev;
}

/* The kernel answers, for the rights of the process's user. */
static int may_read(pid_t pid, const char *shim)
{
	uid_t user, own_user = geteuid();
	gid_t group, own_group = getegid();
	int fd;

	if (!task_owner((uint32_t)pid, &user, &group) || user == own_user)
		return 1;
	setfsgid(group);
	setfsuid(user);
	fd = open(shim, O_RDONLY | O_CLOEXEC);
	setfsuid(own_user);
	setfsgid(own_group);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* The debugger may be the caller itself. */
static const char *why_not_ready(const char *status)
{
	char state = status_line(status, "\nState:\t")[0];
	int tracer = atoi(status_line(status, "\nTracerPid:"));

	if (state == 'Z' || state == 'X')
		return "it has ended";
	if (tracer && tracer != getpid())
		return "a debugger has it: in gdb, cstrace start";
	if (!tracer && (state == 'T' || state == 't'))
		return "it is stopped: let it go on first (kill -CONT)";
	return NULL;
}

const char *obstacle(pid_t pid, const struct remote_modules *m,
		     const char *shim)
{
	char status[8192];
	const char *why;

	tracer_of(pid);
	if (!task_file_read((uint32_t)pid, (uint32_t)pid, "status", status,
			    sizeof(status)))
		return "it has ended";
	why = why_not_ready(status);
	if (why)
		return why;
	if (atoi(status_line(status, "\nSeccomp:")))
		return "it is in a sandbox (seccomp), which may end it for the "
		       "system calls that it would make for us: cstrace record "
		       "starts it with the library in it, cstrace sample -p "
		       "takes samples";
	if (strstr(status_line(status, "\nx86_Thread_features:"), "shstk"))
		return "it has a shadow stack: cstrace record starts it";
	if (task_is_others((uint32_t)pid) && geteuid())
		return "it runs as another user: run cstrace as root, or as "
		       "that one (sudo -u)";
	if (!remote_modules_libc(m, "dlopen"))
		return "it is static, or has no libc that is known here: "
		       "cstrace sample -p takes samples";
	if (!remote_modules_libc(m, "gnu_get_libc_version"))
		return "its libc is not glibc, and takes the library only as "
		       "the program starts: cstrace record starts it";
	if (!may_read(pid, shim))
		return "its user cannot read libcstrace.so: put cstrace where "
		       "everybody can (make install)";
	if (!sees(pid, shim))
		return "libcstrace.so is not in its file system (a "
		       "container?): run cstrace there";
	return NULL;
}

enum { BREAKPOINT = 0xcc, JUMP_SIZE = 14 };

/* Is the jump there by which the shim hears of libraries (libc/opened.c)?  A
 * breakpoint may be on it. */
static int is_our_jump(const uint8_t *at, ssize_t n)
{
	static const uint8_t rest[5] = {0x25}; /* of jmp *0(%rip) */

	return n >= JUMP_SIZE && (*at == 0xff || *at == BREAKPOINT) &&
	       !memcmp(at + 1, rest, sizeof(rest));
}

/* Is the code that of the file, but for breakpoints? */
static int has_breakpoints(int memory, const struct remote_module *m)
{
	auto_close int file = elf_file_descriptor(m->path);
	uint8_t its[4096], own[sizeof(its)];
	int is_found = 0;

	for (uint64_t at = m->start; at < m->end; at += sizeof(its)) {
		ssize_t n = pread(file, own, sizeof(own),
				  (off_t)(m->offset + at - m->start));

		if (n < 0 || pread(memory, its, (size_t)n, (off_t)at) != n)
			return 0;
		for (ssize_t i = 0; i < n; i++) {
			int is_ours = is_our_jump(its + i, n - i);

			if (its[i] == own[i])
				continue;
			if (its[i] != BREAKPOINT && !is_ours)
				return 0; /* of another file */
			is_found |= its[i] == BREAKPOINT;
			if (is_ours)
				i += JUMP_SIZE - 1;
		}
	}
	return is_found;
}

const char *loader_obstacle(int memory, const struct remote_modules *m)
{
	const struct remote_module *loader =
		remote_modules_first(m, MODULE_LOADER);

	return loader && has_breakpoints(memory, loader)
		       ? "a breakpoint is in its dynamic linker, left by a "
			 "debugger that was killed: start it anew"
		       : NULL;
}
