/* SPDX-License-Identifier: MIT
 *
 * The stack is walked to its end.  Safe is a thread that waits in a system call
 * that libc makes for the program and holds nothing meanwhile, or one that runs
 * the program's own code.
 */
#include "process/safe_place.h"

#include <errno.h>
#include <libunwind-ptrace.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

enum { MAX_FRAMES = 4096 };

/* The call that is under way: one that the kernel has begun anew itself has
 * another number, but its own still stands before it. */
static uint64_t call_of(pid_t tid, const struct user_regs_struct *r)
{
	uint64_t code;

	if (r->orig_rax != SYS_restart_syscall)
		return r->orig_rax;
	errno = 0;
	/* mov $N, %eax; syscall */
	code = (uint64_t)ptrace(PTRACE_PEEKDATA, tid, (void *)(r->rip - 7),
				NULL);
	return !errno && (code & 0xff) == 0xb8 ? code >> 8 & 0xffffffff
					       : r->orig_rax;
}

/* Calls that libc makes for the program as they are. */
static int is_for_program(pid_t tid, const struct user_regs_struct *r)
{
	static const uint16_t calls[] = {
		SYS_read,	 SYS_write,	      SYS_readv,
		SYS_writev,	 SYS_pread64,	      SYS_pwrite64,
		SYS_poll,	 SYS_ppoll,	      SYS_select,
		SYS_pselect6,	 SYS_epoll_wait,      SYS_epoll_pwait,
		SYS_accept,	 SYS_accept4,	      SYS_connect,
		SYS_recvfrom,	 SYS_recvmsg,	      SYS_recvmmsg,
		SYS_sendto,	 SYS_sendmsg,	      SYS_nanosleep,
		SYS_pause,	 SYS_clock_nanosleep, SYS_wait4,
		SYS_waitid,	 SYS_rt_sigsuspend,   SYS_rt_sigtimedwait,
		SYS_flock,	 SYS_semop,	      SYS_msgrcv,
		SYS_io_getevents};

	uint64_t call = call_of(tid, r);

	/* Conditions and joins wait so, a lock of malloc()'s does not. */
	if (call == SYS_futex)
		return (r->rsi & FUTEX_CMD_MASK) == FUTEX_WAIT_BITSET;
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i] == call)
			return 1;
	return 0;
}

int safe_place_is_waiting(const struct user_regs_struct *r)
{
	enum { FIRST_RESTART = 512, LAST_RESTART = 516 }; /* the kernel's own */
	long long code = -(long long)r->rax;

	return (long long)r->orig_rax >= 0 &&
	       (code == EINTR ||
		(code >= FIRST_RESTART && code <= LAST_RESTART));
}

/* Code that the kernel would begin anew, if it were interrupted
 * (restartable sequences). */
static int is_restartable(pid_t tid)
{
	struct __ptrace_rseq_configuration c = {0};
	uint64_t section;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, tid, (void *)sizeof(c), &c) <
		    0 ||
	    !c.rseq_abi_pointer)
		return 0;
	errno = 0;
	section = (uint64_t)ptrace(PTRACE_PEEKDATA, tid,
				   (void *)(c.rseq_abi_pointer + 8), NULL);
	return errno || section;
}

struct walk {
	const struct remote_modules *modules;
	int is_in_call;	   /* of the kernel, for the program */
	int has_left_libc; /* the innermost frames that are libc's */
	int is_in_start;   /* libc's frames that called the program */
	uint32_t n;
};

static const char *look_at(struct walk *w, const struct remote_module *m)
{
	enum module_kind kind = m ? m->kind : MODULE_NONE;
	int is_first = !w->n++;

	switch (kind) {
	case MODULE_LOADER:
		return "in the dynamic linker";
	case MODULE_UNWINDER:
		return "in the unwinder";
	case MODULE_NONE:
		return "in code of no file";
	case MODULE_SHIM:
		return "in libcstrace.so";
	case MODULE_SAMPLER:
		return "taking a sample";
	case MODULE_LIBC:
		if (!w->has_left_libc && !w->is_in_call)
			return "in libc";
		w->is_in_start = w->has_left_libc;
		return NULL;
	case MODULE_ALLOCATOR:
		if (!m->is_program || (is_first && !w->is_in_call))
			return "in malloc()";
		break;
	case MODULE_OWN:
		break;
	}
	w->has_left_libc = 1;
	return NULL;
}

static const char *walk(struct walk *w, unw_cursor_t *cursor)
{
	const char *why = NULL;
	int more = 1;

	while (more > 0 && !why && w->n < MAX_FRAMES) {
		const struct remote_module *m;
		unw_word_t pc;

		if (unw_get_reg(cursor, UNW_REG_IP, &pc) < 0 || !pc)
			break;
		m = remote_modules_at(w->modules, w->n ? pc - 1 : pc);
		/* Frames of libc's have called the program: does a thread begin
		 * with them, or with one more frame, that of _start()? */
		if (w->is_in_start && m && m->kind != MODULE_LIBC &&
		    unw_is_signal_frame(cursor) <= 0)
			return unw_step(cursor) > 0 ? "called back by libc"
						    : NULL;
		if (unw_is_signal_frame(cursor) > 0)
			return "in a signal handler";
		why = look_at(w, m);
		more = unw_step(cursor);
	}
	if (why)
		return why;
	return more == 0 ? NULL : "in code without call frame information";
}

static unw_addr_space_t space(void)
{
	static unw_addr_space_t one;

	if (!one) {
		one = unw_create_addr_space(&_UPT_accessors, 0);
		if (one)
			unw_set_caching_policy(one, UNW_CACHE_GLOBAL);
	}
	return one;
}

const char *safe_place(pid_t tid, const struct remote_modules *m)
{
	struct walk w = {.modules = m};
	const char *why = "not to be looked at";
	struct user_regs_struct r;
	unw_cursor_t cursor;
	void *target;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &r) < 0)
		return why;
	if (safe_place_is_waiting(&r)) {
		if (!is_for_program(tid, &r))
			return "waiting in libc";
		w.is_in_call = 1;
	} else if (is_restartable(tid)) {
		return "in a restartable sequence";
	}
	target = _UPT_create(tid);
	if (space() && target && unw_init_remote(&cursor, space(), target) >= 0)
		why = walk(&w, &cursor);
	if (target)
		_UPT_destroy(target);
	return why;
}

static int is_in_area(const struct cst_patched_table *areas, uint64_t pc)
{
	for (uint64_t i = 0; i < areas->n; i++)
		if (pc - areas->all[i].area < areas->all[i].area_size)
			return 1;
	return 0;
}

int safe_place_is_in_shim(pid_t tid, const struct remote_modules *m,
			  const struct cst_patched_table *areas)
{
	void *target = _UPT_create(tid);
	int more = 1, is_in = 1;
	unw_cursor_t cursor;

	if (target && space() && unw_init_remote(&cursor, space(), target) >= 0)
		for (is_in = 0; more > 0 && !is_in;) {
			const struct remote_module *at;
			unw_word_t pc;

			if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || !pc)
				break;
			at = remote_modules_at(m, pc);
			is_in = at ? at->kind == MODULE_SHIM
				   : is_in_area(areas, pc);
			more = unw_step(&cursor);
		}
	if (target)
		_UPT_destroy(target);
	return is_in;
}
