/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Finds a thread that holds no lock, and steers it.
 */
#include "attach/guest.h"
#include "install_dir.h"
#include "process/obstacle.h"
#include "process/safe_place.h"
#include "tell.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

enum { LIMIT_MS = 10000, MAX_STEPS = 64 };

void guest_rest(void)
{
	const struct timespec moment = {.tv_nsec = 2000000};

	nanosleep(&moment, NULL);
}

__attribute__((format(printf, 2, 3))) static int fail(struct guest *g,
						      const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(g->why, sizeof(g->why), format, args);
	va_end(args);
	return 0;
}

/* ---- whether at all ------------------------------------------------------ */

static int find_library(const char *name, char out[PATH_MAX])
{
	char installed[64], beside[64];
	const char *const places[] = {name, installed, beside, NULL};

	snprintf(installed, sizeof(installed), "../lib/cstrace/%s", name);
	snprintf(beside, sizeof(beside), "../lib/%s", name);
	return install_dir_find(name, places, out) == STATUS_OK;
}

const char *guest_obstacle(pid_t pid, const struct remote_modules *m,
			   const char *library)
{
	char path[PATH_MAX];

	return find_library(library, path) ? obstacle(pid, m, path)
					   : "our library is not installed";
}

/* ---- what files say ------------------------------------------------------ */

/* Returns the address of an instruction `syscall` in libc, or 0. */
static uint64_t find_gate(const struct tracee *t, const struct remote_module *m)
{
	uint8_t bytes[4096];

	for (uint64_t at = m->start; at < m->end; at += sizeof(bytes)) {
		if (!tracee_read(t, at, bytes, sizeof(bytes)))
			return 0;
		for (size_t i = 0; i + 1 < sizeof(bytes); i++)
			if (bytes[i] == 0x0f && bytes[i + 1] == 0x05)
				return at + i;
	}
	return 0;
}

int guest_find(struct guest *g, const struct remote_modules *m,
	       const char *library, enum module_kind kind)
{
	const struct remote_module *loaded = remote_modules_first(m, kind);

	g->modules = m;
	g->bias = loaded ? loaded->bias : 0;
	g->call = NULL;
	if (!find_library(library, g->path))
		return fail(g, "there is no %s", library);
	g->gate = find_gate(g->tracee, remote_modules_first(m, MODULE_LIBC));
	g->dlopen = remote_modules_libc(m, "dlopen");
	g->dlerror = remote_modules_libc(m, "dlerror");
	return (g->gate && g->dlopen) || fail(g, "its libc has no dlopen()");
}

int guest_symbol(struct guest *g, const char *name, int is_data, uint64_t *out)
{
	struct remote_module file = {.path = g->path};

	*out = remote_module_symbol(&file, name, is_data);
	if (!*out)
		return fail(g, "'%s' is of another version", g->path);
	for (uint32_t i = 0; g->bias && i < g->modules->n; i++) {
		const struct remote_module *loaded = &g->modules->all[i];

		if (loaded->bias == g->bias &&
		    remote_module_symbol(loaded, name, is_data) !=
			    *out + g->bias)
			return fail(g,
				    "the library of ours in it is of another "
				    "version");
	}
	return 1;
}

/* ---- a safe place -------------------------------------------------------- */

static int is_at_call_of_kernel(const struct guest *g, uint64_t pc)
{
	uint8_t bytes[2];

	return !tracee_read(g->tracee, pc, bytes, sizeof(bytes)) ||
	       (bytes[0] == 0x0f && bytes[1] == 0x05);
}

static int is_in_libc(const struct guest *g, uint64_t pc)
{
	const struct remote_module *m = remote_modules_at(g->modules, pc);

	return m && m->kind == MODULE_LIBC;
}

/* A thread that makes many calls of the kernel is stopped behind one most
 * times, where libc is left within a few instructions: lets it execute these,
 * but no other call, which might wait.  Returns how many it was. */
static int step_out_of_libc(const struct guest *g, struct stopped *s)
{
	struct user_regs_struct r;
	int n, status;

	for (n = 0; n < MAX_STEPS && !s->signal; n++) {

		if (ptrace(PTRACE_GETREGS, s->tid, NULL, &r) < 0 ||
		    safe_place_is_waiting(&r) || !is_in_libc(g, r.rip) ||
		    is_at_call_of_kernel(g, r.rip) ||
		    ptrace(PTRACE_SINGLESTEP, s->tid, NULL, NULL) < 0)
			break;
		status = tracee_wait(s->tid, LIMIT_MS);
		if (status < 0)
			break;
		if (status >> 16 != PTRACE_EVENT_STOP &&
		    WSTOPSIG(status) != SIGTRAP)
			s->signal = WSTOPSIG(status);
	}
	return n;
}

static const char *look_at(struct guest *g, struct stopped *s)
{
	const char *why = safe_place(s->tid, g->modules);

	return why && step_out_of_libc(g, s) ? safe_place(s->tid, g->modules)
					     : why;
}

/* Stops each thread for a look; the one that is safe stays so.  0: none. */
static pid_t look_for_safe(struct guest *g, const char **why)
{
	uint32_t n;
	pid_t *all = tracee_threads(g->tracee, 1, &n), found = 0;

	*why = n ? *why : "gone";
	for (uint32_t i = 0; i < n && !found; i++) {
		if (tracee_stop(g->tracee, all[i])) {
			const char *its = look_at(g, &g->tracee->all[0]);

			if (n == 1)
				g->tracee->all_since_ns = g->tracee->since_ns;
			if (its)
				*why = its;
			else if (!g->tracee->all[0].signal)
				found = all[i];
		}
		if (!found)
			tracee_let_go(g->tracee, 0);
	}
	free(all);
	return found;
}

static pid_t wait_for_safe(struct guest *g)
{
	uint64_t begin = tracee_now_ns();
	const char *why = "not to be stopped";
	int is_reported = 0;
	pid_t found;

	while (!(found = look_for_safe(g, &why))) {
		uint64_t ms = (tracee_now_ns() - begin) / 1000000;

		if (!strcmp(why, "gone"))
			return fail(g, "it has ended");
		if (ms > (g->limit_ms ? g->limit_ms : LIMIT_MS) ||
		    *g->is_cancelled)
			return fail(g,
				    "no thread of it came to where a library "
				    "can be called: it is %s",
				    why);
		if (ms > 1000 && !is_reported++)
			fprintf(stderr,
				"cstrace: waiting for process %d: it is %s\n",
				(int)g->tracee->pid, why);
		guest_rest();
	}
	return found;
}

int guest_enter(struct guest *g)
{
	pid_t tid = wait_for_safe(g);

	g->call = tid ? calloc(1, sizeof(*g->call)) : NULL;
	if (g->call && remote_call_begin(g->call, g->tracee, tid, g->gate))
		return 1;
	if (tid)
		fail(g, "its thread %d cannot be steered", (int)tid);
	free(g->call);
	g->call = NULL;
	tracee_let_go(g->tracee, 0);
	return 0;
}

int guest_leave(struct guest *g)
{
	int is_well = remote_call_end(g->call);

	free(g->call);
	g->call = NULL;
	tracee_let_go(g->tracee, 0);
	return is_well || fail(g, "it has ended");
}

/* ---- calls --------------------------------------------------------------- */

static int fail_to_load(struct guest *g)
{
	const uint64_t none[3] = {0};
	char text[256] = "";
	uint64_t at = 0;

	if (g->dlerror && remote_call(g->call, g->dlerror, none, &at) && at)
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			if (!tracee_read(g->tracee, at + i, &text[i], 1) ||
			    !text[i])
				break;
	return fail(g, "it cannot load the library: %s", text);
}

int guest_load(struct guest *g)
{
	uint64_t arguments[3] = {0, RTLD_NOW}, handle;
	const char *why;

	if (g->bias)
		return 1;
	why = loader_obstacle(g->tracee->memory, g->modules);
	if (why)
		return fail(g, "%s", why);
	arguments[0] =
		remote_call_put(g->call, 0, g->path, strlen(g->path) + 1);
	if (!arguments[0] ||
	    !remote_call(g->call, g->dlopen, arguments, &handle))
		return fail(g, "it did not come back from dlopen()");
	if (!handle)
		return fail_to_load(g);
	/* The handle is libc's struct link_map, which begins with that. */
	return tracee_read(g->tracee, handle, &g->bias, sizeof(g->bias)) ||
	       fail(g, "it has ended");
}

int guest_call(struct guest *g, uint64_t function, const uint64_t arguments[3],
	       uint64_t *result)
{
	return remote_call(g->call, g->bias + function, arguments, result) ||
	       fail(g, "it did not come back from the library");
}
