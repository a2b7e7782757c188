/* SPDX-License-Identifier: MIT
 *
 * libc's ways to run another program.  One that is given an environment without
 * us is not traced: its environment is the program's own affair, but it is
 * counted, and the first one's name is kept.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include "core/area.h"
#include "core/control.h"
#include "kernel/arch.h"
#include "kernel/config.h"
#include "kernel/state.h"
#include "kernel/syscall.h"
#include "libc/exec.h"

enum { HEAD_SIZE = 4096 };

static const char *own_name; /* as LD_PRELOAD has it; NULL: it has not */

/* ---- is it an environment with us ------------------------------------------
 */

static const char *value_in(char **environment, const char *name)
{
	for (; environment && *environment; environment++) {
		const char *c = *environment, *n = name;

		while (*n && *c == *n) {
			c++;
			n++;
		}
		if (!*n && *c == '=')
			return c + 1;
	}
	return 0;
}

static int is_in(const char *text, const char *part)
{
	for (; text && *text; text++) {
		const char *t = text, *p = part;

		while (*p && *t == *p) {
			t++;
			p++;
		}
		if (!*p)
			return 1;
	}
	return 0;
}

static int has_us(char **environment)
{
	return is_in(value_in(environment, "LD_PRELOAD"), own_name) &&
	       (value_in(environment, "CSTRACE_AREA") ||
		value_in(environment, "CSTRACE_FILE") ||
		value_in(environment, "CSTRACE_FLIGHT"));
}

/* ---- telling ---------------------------------------------------------------
 */

static void head_tell(struct cst_area *head, const char *path)
{
	uint32_t n = 0, at = 0;

	if (__atomic_fetch_add(&head->n_past_exec, 1, __ATOMIC_RELAXED))
		return;
	while (path[n])
		n++;
	if (n >= sizeof(head->past_exec)) /* its end says more */
		at = n - sizeof(head->past_exec) + 1;
	for (uint32_t i = 0; at + i < n; i++)
		head->past_exec[i] = path[at + i];
}

/* A program that has no calls itself has not mapped the area, nor should a
 * child that shares its parent's memory. */
static void area_tell(const char *path)
{
	struct cst_area head;
	long place;
	int fd;

	if (area) {
		head_tell(area, path);
		return;
	}
	fd = sys_open(control.area_path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return;
	if (sys_pread(fd, &head, sizeof(head), 0) == sizeof(head) &&
	    head.magic == CST_AREA_MAGIC && head.layout == CST_LAYOUT) {
		place = sys_mmap(0, HEAD_SIZE, PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd);
		if (place >= 0) {
			head_tell((struct cst_area *)place, path);
			sys_munmap((uint64_t)place, HEAD_SIZE);
		}
	}
	sys_close(fd);
}

/* Without a slash it is looked for, and that it is found is taken for true. */
static int can_be_run(const char *path)
{
	int has_slash = 0;

	for (const char *c = path; *c; c++)
		has_slash |= *c == '/';
	return !has_slash || sys_can_run(path);
}

void exec_enters(const char *path, char **environment)
{
	/* The state is CST_STATE_ASK also in a process without calls. */
	if (own_name && state_now() != CST_STATE_OFF && control.area_path[0] &&
	    path && !has_us(environment) && can_be_run(path))
		area_tell(path);
}

/* ---- the ways --------------------------------------------------------------
 */

#define WAY(name)                         \
	extern HIDDEN void *libcs_##name; \
	void *libcs_##name

WAY(execve);
WAY(execvpe);
WAY(execv);
WAY(execvp);
WAY(execl);
WAY(execlp);
WAY(fexecve);
WAY(execveat);
WAY(posix_spawn);
WAY(posix_spawnp);
WAY(system);
WAY(popen);

static void find(void)
{
	libcs_execvpe = dlsym(RTLD_NEXT, "execvpe");
	libcs_execv = dlsym(RTLD_NEXT, "execv");
	libcs_execvp = dlsym(RTLD_NEXT, "execvp");
	libcs_execl = dlsym(RTLD_NEXT, "execl");
	libcs_execlp = dlsym(RTLD_NEXT, "execlp");
	libcs_fexecve = dlsym(RTLD_NEXT, "fexecve");
	libcs_execveat = dlsym(RTLD_NEXT, "execveat");
	libcs_posix_spawn = dlsym(RTLD_NEXT, "posix_spawn");
	libcs_posix_spawnp = dlsym(RTLD_NEXT, "posix_spawnp");
	libcs_system = dlsym(RTLD_NEXT, "system");
	libcs_popen = dlsym(RTLD_NEXT, "popen");
	libcs_execve = dlsym(RTLD_NEXT, "execve");
}

void exec_begin(char **environment)
{
	Dl_info info;

	find();
	own_name = dladdr((void *)exec_enters, &info) && *info.dli_fname
			   ? info.dli_fname
			   : 0;
	if (own_name && !has_us(environment))
		own_name = 0;
}

static void enters(const char *path, char **environment)
{
	if (!libcs_execve)
		find();
	exec_enters(path, environment);
}

void before_execve(const char *path, char **argv, char **environment)
{
	(void)argv;
	enters(path, environment);
}
PASSING_FUNCTION(execve, before_execve, libcs_execve);
PASSING_FUNCTION(execvpe, before_execve, libcs_execvpe);

void before_execv(const char *path)
{
	enters(path, config_environment());
}
PASSING_FUNCTION(execv, before_execv, libcs_execv);
PASSING_FUNCTION(execvp, before_execv, libcs_execvp);
PASSING_FUNCTION(execl, before_execv, libcs_execl);
PASSING_FUNCTION(execlp, before_execv, libcs_execlp);

void before_fexecve(int fd, char **argv, char **environment)
{
	(void)fd;
	(void)argv;
	enters("", environment); /* of no name */
}
PASSING_FUNCTION(fexecve, before_fexecve, libcs_fexecve);

/* From there on the path may lead anywhere. */
void before_execveat(int fd, const char *path, char **argv, char **environment)
{
	(void)argv;
	enters(fd == AT_FDCWD || (path && *path == '/') ? path : "",
	       environment);
}
PASSING_FUNCTION(execveat, before_execveat, libcs_execveat);

/* The environment comes behind the arguments: they are gone through as libc
 * would. */
EXPORT int execle(const char *path, const char *first, ...)
{
	const char *arg = first;
	char **environment;
	va_list rest;
	int n = 0;

	va_start(rest, first);
	for (; arg; n++)
		arg = va_arg(rest, const char *);
	environment = va_arg(rest, char **);
	va_end(rest);

	char *argv[n + 1];

	va_start(rest, first);
	argv[0] = (char *)first;
	for (int i = 1; i <= n; i++)
		argv[i] = va_arg(rest, char *);
	va_end(rest);
	enters(path, environment);
	return ((int (*)(const char *, char **, char **))libcs_execve)(
		path, argv, environment);
}
__asm__(DEBUGGERS_NAME(execle));

void before_spawn(void *pid, const char *path, void *actions, void *attributes,
		  char **argv, char **environment)
{
	(void)pid;
	(void)actions;
	(void)attributes;
	(void)argv;
	enters(path, environment);
}
PASSING_FUNCTION(posix_spawn, before_spawn, libcs_posix_spawn);
PASSING_FUNCTION(posix_spawnp, before_spawn, libcs_posix_spawnp);

/* The shell, then, passes on what it got. */
void before_system(const char *command)
{
	if (command)
		enters("/bin/sh", config_environment());
}
PASSING_FUNCTION(system, before_system, libcs_system);
PASSING_FUNCTION(popen, before_system, libcs_popen);
