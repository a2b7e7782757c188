/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Two stops: one thread loads the shim while the others run, so that whatever
 * lock it waits for is let go; then, for the patches, all threads.
 */
#include "attach/attach.h"
#include "attach/guest.h"
#include "attach/write_code.h"
#include "cstrace/attach.h"
#include "process/safe_place.h"
#include "tell.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>

#define SHIM "libcstrace.so"

enum {
	RENEW_TRIES = 200,
	MORE_MS = 300, /* to wait for a safe place, while it runs */
};

static int fail(pid_t pid, const char *why)
{
	return failure("cannot record process %d: %s", (int)pid, why);
}

int attach_modules(struct remote_modules *m, pid_t pid)
{
	struct cst_error err;
	const char *why;

	if (remote_modules_init(m, pid, &err) < 0)
		return failure("%s", err.text);
	why = guest_obstacle(pid, m, SHIM);
	return why ? fail(pid, why) : STATUS_OK;
}

/* ---- the shim ------------------------------------------------------------ */

/* Addresses in the shim's file. */
struct places {
	uint64_t attach, renew, state, control, patched, entry, exit;
};

static int places_find(struct places *p, struct guest *g)
{
	return guest_symbol(g, "cstrace_attach", 0, &p->attach) &&
	       guest_symbol(g, "cstrace_renew", 0, &p->renew) &&
	       guest_symbol(g, "cstrace_state", 1, &p->state) &&
	       guest_symbol(g, "cstrace_control", 1, &p->control) &&
	       guest_symbol(g, "cstrace_patched", 1, &p->patched) &&
	       guest_symbol(g, "__cyg_profile_func_enter", 0, &p->entry) &&
	       guest_symbol(g, "__cyg_profile_func_exit", 0, &p->exit);
}

static int are_outside(const struct guest *g, const struct places *p)
{
	const struct tracee *t = g->tracee;
	struct cst_patched_table *areas =
		live_code_table(t->memory, g->bias + p->patched);
	int is_well = areas != NULL;

	for (uint32_t i = 0; is_well && i < t->n; i++)
		is_well = t->all[i].tid == g->call->tid ||
			  !safe_place_is_in_shim(t->all[i].tid, g->modules,
						 areas);
	free(areas);
	return is_well;
}

/* Its other threads stand outside the shim, and forget the earlier area. */
static int renew(struct guest *g, const struct places *p)
{
	struct remote_call *c = g->call;
	struct tracee *t = g->tracee;
	uint64_t arguments[3], unused;
	struct user_regs_struct r;
	uint64_t *pointers;
	int is_well = tracee_stop_all(t) && are_outside(g, p);

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
	is_well = arguments[0] && guest_call(g, p->renew, arguments, &unused);
	free(pointers);
	tracee_let_go(t, c->tid);
	return is_well;
}

static int tell_answer(pid_t pid, uint64_t answer)
{
	if ((int)answer == EBUSY)
		return fail(pid, "another cstrace records it");
	if ((int)answer == CST_ATTACH_OLD)
		return fail(pid, "a thread stays in libcstrace.so, which an "
				 "earlier recorder has left; try again");
	return failure("cannot record process %d: libcstrace.so says: %s",
		       (int)pid, strerror((int)answer));
}

static int begin_in(struct guest *g, const struct places *p,
		    const char *area_path, const char *folder)
{
	uint64_t arguments[3] = {0}, answer = EPROTO;

	for (int i = 0; i < RENEW_TRIES; i++) {
		arguments[0] = remote_call_put(g->call, 0, area_path,
					       strlen(area_path) + 1);
		arguments[1] = remote_call_put(g->call, PATH_MAX, folder,
					       strlen(folder) + 1);
		if (!guest_call(g, p->attach, arguments, &answer))
			return fail(g->tracee->pid, g->why);
		if ((int)answer != CST_ATTACH_OLD)
			break;
		if (!renew(g, p))
			guest_rest();
	}
	return (int)answer ? tell_answer(g->tracee->pid, answer) : STATUS_OK;
}

/* All that one thread does. */
static int prepare(struct guest *g, const struct places *p, const char *area,
		   const char *folder)
{
	int status;

	if (!guest_enter(g))
		return failure("cannot record process %d: %s; try again, or "
			       "cstrace sample -p",
			       (int)g->tracee->pid, g->why);
	status = guest_load(g) ? begin_in(g, p, area, folder)
			       : fail(g->tracee->pid, g->why);
	if (!guest_leave(g) && status == STATUS_OK)
		status = fail(g->tracee->pid, g->why);
	return status;
}

static int prepare_by_thread(struct attach *a, const struct remote_modules *m,
			     const char *area, const char *folder)
{
	struct guest g = {.tracee = &a->tracee,
			  .is_cancelled = a->is_cancelled};
	struct places p;
	int status;

	if (!guest_find(&g, m, SHIM, MODULE_SHIM) || !places_find(&p, &g))
		return fail(a->tracee.pid, g.why);
	status = prepare(&g, &p, area, folder);
	if (status != STATUS_OK)
		return status;
	a->state = g.bias + p.state;
	a->control = g.bias + p.control;
	a->entry = g.bias + p.entry;
	a->exit = g.bias + p.exit;
	a->patched = g.bias + p.patched;
	if (!hook_words_find(&a->words, m, NULL) ||
	    !live_code_init(&a->code, a->tracee.memory, a->patched, folder,
			    NULL))
		return failure("out of memory");
	return STATUS_OK;
}

/* ---- the whole ----------------------------------------------------------- */

/* Writes both while all threads stand still.  Returns 0 if one does not; *n is
 * the number of files that were patched. */
static int write_in(struct attach *a, struct live_code *code,
		    struct hook_words *words, uint32_t *n)
{
	int is_well = 0;

	for (int i = 0; !is_well && i < RENEW_TRIES; i++) {
		is_well = tracee_stop_all(&a->tracee);
		if (is_well) {
			*n = write_code(code, &a->tracee);
			hook_words_write(words, &a->tracee, a->entry, a->exit);
		}
		tracee_let_go(&a->tracee, 0);
		if (!is_well)
			guest_rest();
	}
	return is_well;
}

static int patch(struct attach *a)
{
	uint32_t n = 0;

	if (!write_in(a, &a->code, &a->words, &n))
		return failure("cannot record process %d: one of its threads "
			       "does not stop: it waits in the kernel",
			       (int)a->tracee.pid);
	if (n < a->code.n)
		failure("the code of %u %s in process %d is not that of the "
			"file, and was not patched (if a gdb was killed: gdb's "
			"`cstrace start` and `cstrace stop` put it back; else "
			"restart the program)",
			a->code.n - n, a->code.n - n == 1 ? "file" : "files",
			(int)a->tracee.pid);
	if (!a->code.n && !a->words.n)
		return failure("cannot record process %d: the library in it "
			       "could read no plan",
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

/* One thread maps the new code. */
static int map_more(struct guest *g, const char *area, const char *folder)
{
	uint64_t arguments[3] = {0}, answer = EPROTO;
	struct places p;
	int is_well;

	if (!places_find(&p, g) || !guest_enter(g))
		return 0;
	arguments[0] = remote_call_put(g->call, 0, area, strlen(area) + 1);
	arguments[1] =
		remote_call_put(g->call, PATH_MAX, folder, strlen(folder) + 1);
	is_well = guest_call(g, p.attach, arguments, &answer);
	if (is_well && (int)answer)
		snprintf(g->why, sizeof(g->why), "%s", strerror((int)answer));
	return guest_leave(g) && is_well && !(int)answer;
}

static int write_more(struct attach *a, struct guest *g, const char *folder)
{
	struct live_code code = {0};
	struct hook_words words = {0};
	uint32_t n;
	int is_well = hook_words_find(&words, g->modules, &a->words) &&
		      live_code_init(&code, a->tracee.memory, a->patched,
				     folder, &a->code) &&
		      write_in(a, &code, &words, &n);

	/* What was written is put back in the end. */
	if (is_well)
		is_well = live_code_join(&a->code, &code) &&
			  hook_words_join(&a->words, &words);
	else
		snprintf(g->why, sizeof(g->why), "a thread does not stop");
	live_code_release(&code);
	hook_words_release(&words);
	return is_well;
}

int attach_more(struct attach *a, const struct remote_modules *m,
		const char *area_path, const char *folder, char why[PATH_MAX])
{
	struct guest g = {.tracee = &a->tracee,
			  .is_cancelled = a->is_cancelled,
			  .limit_ms = MORE_MS};
	int is_well;

	hook_words_forget(&a->words, &a->tracee);
	forget_gone_code(&a->code, &a->tracee);
	is_well = guest_find(&g, m, SHIM, MODULE_SHIM) &&
		  map_more(&g, area_path, folder) && write_more(a, &g, folder);

	snprintf(why, PATH_MAX, "%s", g.why);
	return is_well;
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
			guest_rest();
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
