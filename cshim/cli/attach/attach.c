/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two stops: one thread loads the shim while the others run, so that whatever
 * lock it waits for is let go; then, for the patches, all threads.
 */
#include "attach/attach.h"
#include "attach/remote_call.h"
#include "attach/write_code.h"
#include "cstrace/attach.h"
#include "install_dir.h"
#include "process/obstacle.h"
#include "process/safe_place.h"
#include "tell.h"

#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT_MS = 10000, RENEW_TRIES = 200 };

static void rest(void)
{
	const struct timespec moment = {.tv_nsec = 2000000};

	nanosleep(&moment, NULL);
}

/* ---- whether at all --------------------------------------------------------
 */

static int find_shim(char out[PATH_MAX])
{
	static const char *const places[] = {"libcstrace.so",
					     "../lib/cstrace/libcstrace.so",
					     "../lib/libcstrace.so", NULL};

	return install_dir_find("libcstrace.so", places, out);
}

int attach_modules(struct remote_modules *m, pid_t pid)
{
	struct cst_error err;
	char shim[PATH_MAX];
	const char *why;

	if (remote_modules_init(m, pid, &err) < 0)
		return failure("%s", err.text);
	if (find_shim(shim) != STATUS_OK)
		return STATUS_FAILED;
	why = obstacle(pid, m, shim);
	return why ? failure("cannot record process %d: %s", (int)pid, why)
		   : STATUS_OK;
}

/* ---- a safe place ----------------------------------------------------------
 */

/* Stops each thread for a look; the one that is safe stays so.  0: none. */
static pid_t look_for_safe(struct attach *a, const struct remote_modules *m,
			   const char **why)
{
	uint32_t n;
	pid_t *all = tracee_threads(&a->tracee, 1, &n), found = 0;

	*why = n ? *why : "gone";
	for (uint32_t i = 0; i < n && !found; i++) {
		if (tracee_stop(&a->tracee, all[i])) {
			if (n == 1)
				a->tracee.all_since_ns = a->tracee.since_ns;
			const char *its = safe_place(all[i], m);

			if (its)
				*why = its;
			else if (!a->tracee.all[0].signal)
				found = all[i];
		}
		if (!found)
			tracee_let_go(&a->tracee, 0);
	}
	free(all);
	return found;
}

static pid_t wait_for_safe(struct attach *a, const struct remote_modules *m)
{
	uint64_t begin = tracee_now_ns();
	const char *why = "not to be stopped";
	int is_told = 0;
	pid_t found;

	while (!(found = look_for_safe(a, m, &why))) {
		uint64_t ms = (tracee_now_ns() - begin) / 1000000;

		if (ms > LIMIT_MS || *a->is_cancelled || !strcmp(why, "gone")) {
			failure("cannot record process %d: no thread of it "
				"came to where a library can be loaded: it is "
				"%s; try again, or cstrace sample -p",
				(int)a->tracee.pid, why);
			return 0;
		}
		if (ms > 1000 && !is_told++)
			fprintf(stderr,
				"cstrace: waiting for process %d: it is %s\n",
				(int)a->tracee.pid, why);
		rest();
	}
	return found;
}

/* ---- the shim --------------------------------------------------------------
 */

/* The address of an instruction `syscall` in libc; 0: none. */
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

static int tell_dl_error(struct remote_call *c, uint64_t dlerror_at)
{
	const uint64_t none[3] = {0};
	uint64_t at = 0;
	char text[256] = "";

	if (dlerror_at && remote_call(c, dlerror_at, none, &at) && at)
		for (size_t i = 0; i + 1 < sizeof(text); i++)
			if (!tracee_read(c->tracee, at + i, &text[i], 1) ||
			    !text[i])
				break;
	return failure("cannot record process %d: it cannot load "
		       "libcstrace.so: %s",
		       (int)c->tracee->pid, text);
}

/* All that files say, read before any thread stands still. */
struct places {
	const struct remote_modules *modules;
	char shim[PATH_MAX];
	uint64_t gate, dlopen, dlerror; /* in the process */
	/* In the shim's file, and what is added to them: 0 if it is not loaded
	 * yet. */
	uint64_t attach, renew, state, control, patched, entry, exit, bias;
};

static int places_find(struct places *p, const struct tracee *t,
		       const struct remote_modules *m)
{
	const struct remote_module *loaded =
		remote_modules_first(m, MODULE_SHIM);
	struct remote_module file = {0};

	*p = (struct places){.modules = m};
	if (find_shim(p->shim) != STATUS_OK)
		return STATUS_FAILED;
	file.path = p->shim;
	p->bias = loaded ? loaded->bias : 0;
	p->attach = remote_module_symbol(&file, "cstrace_attach", 0);
	p->renew = remote_module_symbol(&file, "cstrace_renew", 0);
	p->state = remote_module_symbol(&file, "cstrace_state", 1);
	p->control = remote_module_symbol(&file, "cstrace_control", 1);
	p->patched = remote_module_symbol(&file, "cstrace_patched", 1);
	p->entry = remote_module_symbol(&file, "__cyg_profile_func_enter", 0);
	p->exit = remote_module_symbol(&file, "__cyg_profile_func_exit", 0);
	p->gate = find_gate(t, remote_modules_first(m, MODULE_LIBC));
	p->dlopen = remote_modules_libc(m, "dlopen");
	p->dlerror = remote_modules_libc(m, "dlerror");
	if (!p->attach || !p->renew || !p->state || !p->control ||
	    !p->patched || !p->entry || !p->exit)
		return failure("'%s' is of another version", p->shim);
	if (!p->gate || !p->dlopen)
		return failure("cannot record process %d: its libc has no "
			       "dlopen(): cstrace record starts it",
			       (int)t->pid);
	return STATUS_OK;
}

/* Is the shim that is loaded ours? */
static int is_same_shim(const struct places *p)
{
	const struct remote_module *loaded =
		remote_modules_first(p->modules, MODULE_SHIM);

	return !loaded ||
	       remote_module_symbol(loaded, "cstrace_attach", 0) - p->bias ==
		       p->attach;
}

static int load(struct remote_call *c, struct places *p)
{
	uint64_t arguments[3] = {0, RTLD_NOW}, handle;

	arguments[0] = remote_call_put(c, 0, p->shim, strlen(p->shim) + 1);
	if (!arguments[0] || !remote_call(c, p->dlopen, arguments, &handle))
		return failure("process %d did not come back from dlopen()",
			       (int)c->tracee->pid);
	/* The handle is libc's struct link_map, which begins with that. */
	if (!handle)
		return tell_dl_error(c, p->dlerror);
	return tracee_read(c->tracee, handle, &p->bias, sizeof(p->bias))
		       ? STATUS_OK
		       : failure("process %d has ended", (int)c->tracee->pid);
}

/* Its other threads stand outside the shim, and forget the earlier area. */
static int renew(struct remote_call *c, const struct remote_modules *m,
		 uint64_t renew_at)
{
	struct tracee *t = c->tracee;
	uint64_t arguments[3], unused;
	struct user_regs_struct r;
	uint64_t *pointers;
	int is_well = tracee_stop_all(t);

	for (uint32_t i = 0; is_well && i < t->n; i++)
		is_well = t->all[i].tid == c->tid ||
			  !safe_place_is_in_shim(t->all[i].tid, m);
	pointers = calloc(t->n + 1, sizeof(*pointers));
	is_well = is_well && pointers;
	for (uint32_t i = 0; is_well && i < t->n; i++) {
		is_well = ptrace(PTRACE_GETREGS, t->all[i].tid, NULL, &r) == 0;
		pointers[i] = r.fs_base;
	}
	arguments[0] = is_well ? remote_call_put(c, 0, pointers,
						 t->n * sizeof(*pointers))
			       : 0;
	arguments[1] = t->n;
	arguments[2] = 0;
	is_well = arguments[0] && remote_call(c, renew_at, arguments, &unused);
	free(pointers);
	tracee_let_go(t, c->tid);
	return is_well;
}

static int tell_answer(pid_t pid, uint64_t answer)
{
	if ((int)answer == EBUSY)
		return failure("cannot record process %d: another cstrace "
			       "records it",
			       (int)pid);
	return failure("cannot record process %d: libcstrace.so says: %s",
		       (int)pid, strerror((int)answer));
}

static int begin_in(struct remote_call *c, const struct places *p,
		    const char *area_path, const char *folder)
{
	uint64_t arguments[3] = {0}, answer = EPROTO;

	for (int i = 0; i < RENEW_TRIES; i++) {
		arguments[0] =
			remote_call_put(c, 0, area_path, strlen(area_path) + 1);
		arguments[1] = remote_call_put(c, PATH_MAX, folder,
					       strlen(folder) + 1);
		if (!remote_call(c, p->bias + p->attach, arguments, &answer))
			return failure("process %d did not come back from "
				       "libcstrace.so",
				       (int)c->tracee->pid);
		if ((int)answer != CST_ATTACH_OLD)
			break;
		if (!renew(c, p->modules, p->bias + p->renew))
			rest();
	}
	return (int)answer ? tell_answer(c->tracee->pid, answer) : STATUS_OK;
}

/* All that one thread does. */
static int prepare(struct attach *a, struct places *p, pid_t tid,
		   const char *area, const char *folder)
{
	struct remote_call *c = calloc(1, sizeof(*c));
	int status = STATUS_OK;

	if (!c || !remote_call_begin(c, &a->tracee, tid, p->gate)) {
		free(c);
		return failure("cannot record process %d: its thread %d cannot "
			       "be steered",
			       (int)a->tracee.pid, (int)tid);
	}
	if (!p->bias)
		status = load(c, p);
	if (status == STATUS_OK)
		status = begin_in(c, p, area, folder);
	if (!remote_call_end(c) && status == STATUS_OK)
		status = failure("process %d has ended", (int)a->tracee.pid);
	free(c);
	return status;
}

static int prepare_by_thread(struct attach *a, const struct remote_modules *m,
			     const char *area, const char *folder)
{
	struct places p;
	int status = places_find(&p, &a->tracee, m);
	pid_t tid;

	if (status == STATUS_OK && !is_same_shim(&p))
		status = failure("cannot record process %d: the libcstrace.so "
				 "in it is of another version",
				 (int)a->tracee.pid);
	if (status != STATUS_OK)
		return status;
	tid = wait_for_safe(a, m);
	status = tid ? prepare(a, &p, tid, area, folder) : STATUS_FAILED;
	tracee_let_go(&a->tracee, 0);
	if (status != STATUS_OK)
		return status;
	a->state = p.bias + p.state;
	a->control = p.bias + p.control;
	a->entry = p.bias + p.entry;
	a->exit = p.bias + p.exit;
	if (!hook_words_find(&a->words, m) ||
	    !live_code_init(&a->code, a->tracee.memory, p.bias + p.patched,
			    folder))
		return failure("out of memory");
	return STATUS_OK;
}

/* ---- the whole -------------------------------------------------------------
 */

static int patch(struct attach *a)
{
	uint32_t n = 0;
	int is_well;

	for (int i = 0; i < RENEW_TRIES; i++) {
		is_well = tracee_stop_all(&a->tracee);
		if (is_well) {
			n = write_code(&a->code, &a->tracee);
			hook_words_write(&a->words, &a->tracee, a->entry,
					 a->exit);
		}
		tracee_let_go(&a->tracee, 0);
		if (is_well)
			break;
		rest();
	}
	if (!is_well)
		return failure("cannot record process %d: one of its threads "
			       "does not stop: it waits in the kernel",
			       (int)a->tracee.pid);
	if (n < a->code.n)
		failure("the code of %u %s in process %d is not that of the "
			"file, and was not patched (if a recorder was killed: "
			"restart the program)",
			a->code.n - n, a->code.n - n == 1 ? "file" : "files",
			(int)a->tracee.pid);
	return n || a->words.n ? STATUS_OK : STATUS_FAILED;
}

int attach_begin(struct attach *a, pid_t pid, const char *area_path,
		 const char *folder)
{
	int error = tracee_open(&a->tracee, pid), status;
	struct remote_modules m;

	if (error)
		return failure("cannot record process %d: %s (it is another "
			       "user's, or only its parent may, by "
			       "kernel.yama.ptrace_scope)",
			       (int)pid, strerror(error));
	status = attach_modules(&m, pid);
	if (status == STATUS_OK)
		status = prepare_by_thread(a, &m, area_path, folder);
	remote_modules_release(&m);
	return status == STATUS_OK ? patch(a) : status;
}

static void switch_off(const struct attach *a, const struct tracee *t)
{
	const uint32_t mode = CST_MODE_OFF, state = CST_STATE_OFF;

	tracee_write(t, a->control + offsetof(struct cst_control, mode), &mode,
		     sizeof(mode));
	tracee_write(t, a->state, &state, sizeof(state));
}

static void undo_in(struct attach *a, struct tracee *t)
{
	int is_well = 0;

	for (int i = 0; !is_well && i < RENEW_TRIES; i++) {
		is_well = tracee_stop_all(t);
		if (is_well) {
			restore_code(&a->code, t);
			hook_words_restore(&a->words, t);
			switch_off(a, t);
		}
		tracee_let_go(t, 0);
		if (!is_well)
			rest();
	}
}

/* A process that was forked meanwhile has the patches, and so have its own
 * children; some may be nobody's children any more.  Returns whether there was
 * one. */
static int undo_in_children(struct attach *a)
{
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	int n = 0;

	while (all && (entry = readdir(all))) {
		pid_t pid = atoi(entry->d_name);
		struct tracee t = {.memory = -1};

		if (pid <= 0 || pid == a->tracee.pid)
			continue;
		if (!tracee_open(&t, pid) &&
		    (is_code_written(&a->code, &t) ||
		     hook_words_are_led(&a->words, &t))) {
			undo_in(a, &t);
			n++;
		}
		tracee_close(&t);
	}
	if (all)
		closedir(all);
	return n > 0;
}

void attach_undo(struct attach *a)
{
	if (!a->code.n && !a->words.n)
		return;
	undo_in(a, &a->tracee);
	for (int i = 0; i < RENEW_TRIES && undo_in_children(a); i++)
		;
}

void attach_end(struct attach *a)
{
	tracee_close(&a->tracee);
	live_code_release(&a->code);
	hook_words_release(&a->words);
}
