/* SPDX-License-Identifier: MIT
 *
 * Steps a stopped thread out of the shim, behind gdb's back: gdb would resume
 * its other threads, pass on the signal that stopped it, and tell its user and
 * front end of one more stop.
 */
#include "area/clock.h"
#include "cstrace/engine.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Enough for the dynamic linker to look up a hook at its first call. */
enum { MAX_STEPS = 100000 };

/* For a system call that blocks: one that waits for the reader, which has been
 * given all the time that it needs. */
enum { PATIENCE_NS = 50 * 1000 * 1000, NAP_NS = 50 * 1000 };

enum { INT3 = 0xcc, SYSCALL = 0x050f };

enum { TRAP_FLAG = 0x100 };

/* What the thread's instructions themselves can raise: blocked, the kernel
 * would take away the program's handler. */
static const uint64_t faults = 1ULL << (SIGSEGV - 1) | 1ULL << (SIGBUS - 1) |
			       1ULL << (SIGFPE - 1) | 1ULL << (SIGILL - 1) |
			       1ULL << (SIGTRAP - 1) | 1ULL << (SIGSYS - 1);

/* libc takes its own two out of every mask that it sets. */
static const uint64_t libcs = 3ULL << (32 - 1);

enum kind { PLAIN, CALL, NOT_OURS };

/* Has the stop interrupted a system call that goes on: ERESTARTSYS to
 * ERESTART_RESTARTBLOCK? */
static int goes_on(const struct user_regs_struct *regs)
{
	long result = (long)regs->rax;

	return (long)regs->orig_rax >= 0 && result <= -512 && result >= -516;
}

/* What the next step does. */
static enum kind kind_of(int tid, const struct user_regs_struct *regs)
{
	long code;

	if (goes_on(regs))
		return CALL;
	errno = 0;
	code = ptrace(PTRACE_PEEKTEXT, tid, (void *)regs->rip, NULL);
	/* A breakpoint belongs to gdb. */
	if (errno || (code & 0xff) == INT3)
		return NOT_OURS;
	if ((code & 0xffff) != SYSCALL)
		return PLAIN;
	switch ((long)regs->rax) { /* the shim's, for what is not usual */
	case SYS_rt_sigprocmask:
	case SYS_futex:
	case SYS_clock_gettime:
	case SYS_getrlimit: /* as it maps a pool that has grown */
	case SYS_getpid:
	case SYS_getppid:
	case SYS_gettid:
	case SYS_prctl:
	case SYS_sigaltstack:
	case SYS_madvise:
	case SYS_mmap:
	case SYS_mremap:
	case SYS_munmap:
	case SYS_mincore:
	case SYS_process_vm_readv:
	case SYS_openat: /* of /proc/self/... */
	case SYS_pread64:
	case SYS_read:
	case SYS_close:
	case SYS_faccessat: /* as it looks at what was opened */
	case SYS_newfstatat:
	case SYS_lseek:
	case SYS_mprotect:
		return CALL;
	default:
		return NOT_OURS;
	}
}

/* Waits for a state of the thread, with a limit for a system call.  Returns its
 * wait status, or 0 where there is none; an end is left for gdb. */
static int await_stop(int tid, enum kind kind)
{
	uint64_t end = clock_monotonic_ns() + PATIENCE_NS;
	int how = WEXITED | WSTOPPED | WNOWAIT | __WALL, status;
	struct timespec nap = {.tv_nsec = NAP_NS};

	for (;;) {
		siginfo_t info = {0};
		int limit = kind == CALL ? WNOHANG : 0;

		if (waitid(P_PID, (id_t)tid, &info, how | limit)) {
			if (errno != EINTR)
				return 0;
		} else if (info.si_code == CLD_TRAPPED) {
			break;
		} else if (info.si_pid || clock_monotonic_ns() > end) {
			return 0;
		} else {
			nanosleep(&nap, NULL);
		}
	}
	return waitpid(tid, &status, __WALL) == tid ? status : 0;
}

/* Ends a step that blocks. */
static void interrupt(int tid)
{
	int status;

	if (syscall(SYS_tkill, tid, SIGSTOP))
		return;
	status = await_stop(tid, PLAIN);
	/* Was it just over?  Then the signal comes with the next. */
	if (status >> 8 == SIGTRAP &&
	    !ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL))
		await_stop(tid, PLAIN);
}

/* gdb sends SIGSTOP to stop a thread.  Where that had stopped at a breakpoint
 * just before, it comes with the next step; gdb waits for it later. */
static int resume(int tid, enum __ptrace_request how, enum kind kind,
		  int *has_stopped)
{
	int status;

	if (ptrace(how, tid, NULL, NULL))
		return 0;
	status = await_stop(tid, kind);
	if (*has_stopped || status >> 8 != SIGSTOP)
		return status;
	*has_stopped = 1;
	return resume(tid, how, kind, has_stopped);
}

/* Returns what cst_step_out() does where another signal than a trap, or an end,
 * has stopped the thread.  A fault comes again with its instruction, others
 * must be sent. */
static int stopped_by(int tid, int status)
{
	if (status && !(faults >> (WSTOPSIG(status) - 1) & 1))
		syscall(SYS_tkill, tid, WSTOPSIG(status));
	return 0;
}

/* Returns what cst_step_out() does. */
static int step(int tid, enum kind kind, int *has_stopped)
{
	int status = resume(tid, PTRACE_SINGLESTEP, kind, has_stopped);

	if (status >> 8 == SIGTRAP)
		return 1;
	if (!status && kind == CALL) {
		interrupt(tid);
		return -1;
	}
	return stopped_by(tid, status);
}

/* ---- many instructions at once ------------------------------------------- */

/* The last of the processor's four breakpoints, of which gdb may use all: where
 * it is, what was hit, and which are on. */
enum { AT, HIT, ON, N_GUARD };
static const int guard_registers[N_GUARD] = {3, 6, 7};
enum { HIT_LAST = 1 << 3, ON_LAST = 1 << 6 };

struct guard {
	long saved[N_GUARD];
	int is_set;
};

static void *debug_at(int which)
{
	return (void *)(offsetof(struct user, u_debugreg) +
			sizeof(long) * (size_t)guard_registers[which]);
}

static int set_debug(int tid, int which, long value)
{
	return !ptrace(PTRACE_POKEUSER, tid, debug_at(which), value);
}

static void guard_clear(int tid, const struct guard *g)
{
	set_debug(tid, ON, 0);
	for (int i = 0; i < N_GUARD; i++)
		set_debug(tid, i, g->saved[i]);
}

static int guard_move(int tid, uint64_t pc)
{
	return set_debug(tid, ON, 0) && set_debug(tid, AT, (long)pc) &&
	       set_debug(tid, ON, ON_LAST);
}

/* The thread stops before it executes what is at pc. */
static void guard_set(int tid, uint64_t pc, struct guard *g)
{
	for (int i = 0; i < N_GUARD; i++) {
		errno = 0;
		g->saved[i] = ptrace(PTRACE_PEEKUSER, tid, debug_at(i), NULL);
		if (errno)
			return;
	}
	g->is_set = guard_move(tid, pc);
	if (!g->is_set)
		guard_clear(tid, g);
}

/* There are virtual machines in which no such breakpoint stops a thread, though
 * the kernel takes them. */
enum guards { NOT_TRIED, TRIED_ONCE, TRIED_TWICE, THEY_STOP, THEY_DO_NOT };
static enum guards guards;

static enum guards next_guards(int tid)
{
	if (ptrace(PTRACE_PEEKUSER, tid, debug_at(HIT), NULL) & HIT_LAST)
		return THEY_STOP;
	return guards == TRIED_TWICE ? THEY_DO_NOT : guards + 1;
}

/* Tries one before the instruction that the thread is to execute, which it does
 * if that fails.  Returns what cst_step_out() does. */
static int try_guard(int tid, uint64_t here, uint64_t pc, int *has_stopped)
{
	int result;

	if (!guard_move(tid, here) || !set_debug(tid, HIT, 0))
		return 0;
	result = step(tid, PLAIN, has_stopped);
	if (result == 1)
		guards = next_guards(tid);
	return guard_move(tid, pc) ? result : 0;
}

/* Sets a thread back that is about to enter the kernel: not every system call
 * is to be made. */
static int undo_call(int tid, int *has_stopped)
{
	struct user_regs_struct regs;
	long number;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return 0;
	number = (long)regs.orig_rax;
	if (number < 0)
		return 0;
	regs.orig_rax = -1ull;
	if (ptrace(PTRACE_SETREGS, tid, NULL, &regs) ||
	    (resume(tid, PTRACE_SYSCALL, CALL, has_stopped) >> 8 & 0x7f) !=
		    SIGTRAP ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return 0;
	regs.rax = (unsigned long)number;
	regs.rip -= 2;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

/* Sets a thread back to before a system call or a breakpoint of gdb's that has
 * trapped it. */
static int undo_trap(int tid, int *has_stopped)
{
	struct user_regs_struct regs;
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info))
		return 0;
	if ((info.si_code & 0x7f) == SIGTRAP)
		return undo_call(tid, has_stopped);
	if (info.si_code == TRAP_HWBKPT)
		return 1;
	if (info.si_code != SI_KERNEL ||
	    ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return 0;
	regs.rip--;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

/* Lets the thread run up to the guard, a breakpoint, or a system call.  Returns
 * what cst_step_out() does. */
static int run(int tid, int *has_stopped)
{
	int status = resume(tid, PTRACE_SYSCALL, CALL, has_stopped);
	int waits = !status, had_stopped = *has_stopped, is_undone;

	if (waits && !syscall(SYS_tkill, tid, SIGSTOP))
		status = await_stop(tid, PLAIN);
	if (waits && status >> 8 == SIGSTOP)
		return -1;
	if ((status >> 8 & 0x7f) != SIGTRAP)
		return stopped_by(tid, status);
	is_undone = undo_trap(tid, has_stopped);
	if (!waits)
		return is_undone;
	/* It was just over: our own signal has come since, or comes next. */
	if (*has_stopped == had_stopped &&
	    !ptrace(PTRACE_SINGLESTEP, tid, NULL, NULL))
		await_stop(tid, PLAIN);
	*has_stopped = had_stopped;
	return is_undone;
}

/* The thread's signal mask: the program's, and the one for stepping. */
struct masks {
	uint64_t own, blocked;
};

/* Behind the shim's rt_sigprocmask(): what it saves, to restore it some day, is
 * the program's mask.  Once that is restored, signals are blocked again. */
static void hide_mask(int tid, const struct user_regs_struct *before,
		      const struct masks *m)
{
	void *saved = (void *)before->rdx;
	uint64_t now;

	errno = 0;
	if (saved &&
	    (uint64_t)ptrace(PTRACE_PEEKDATA, tid, saved, NULL) == m->blocked &&
	    !errno)
		ptrace(PTRACE_POKEDATA, tid, saved, m->own);
	if (!ptrace(PTRACE_GETSIGMASK, tid, sizeof(now), &now) && now == m->own)
		ptrace(PTRACE_SETSIGMASK, tid, sizeof(m->blocked), &m->blocked);
}

static int step_to(int tid, const struct masks *m, uint64_t pc, uint64_t sp,
		   int can_run, int *has_stopped)
{
	struct user_regs_struct regs;

	for (int i = 0; i < MAX_STEPS; i++) {
		enum kind kind;
		int result;

		if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
			return 0;
		if (pc ? regs.rip == pc && (!sp || regs.rsp == sp) : i > 0)
			return 1;
		kind = kind_of(tid, &regs);
		if (kind == NOT_OURS)
			return 0;
		if (!can_run || kind != PLAIN || regs.rip == pc ||
		    guards == THEY_DO_NOT)
			result = step(tid, kind, has_stopped);
		else if (guards == THEY_STOP)
			result = run(tid, has_stopped);
		else
			result = try_guard(tid, regs.rip, pc, has_stopped);
		if (result != 1)
			return result;
		if (kind == CALL && regs.rax == SYS_rt_sigprocmask)
			hide_mask(tid, &regs, m);
	}
	return 0;
}

int cst_thread_registers(int tid, struct cst_registers *out)
{
	struct user_regs_struct regs;

	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs))
		return 0;
	*out = (struct cst_registers){
		.pc = regs.rip,
		.sp = regs.rsp,
		.bp = regs.rbp,
		.ax = regs.rax,
		.flags = regs.eflags,
		.arguments = {regs.rdi, regs.rsi, regs.rdx, regs.rcx},
	};
	return 1;
}

int cst_thread_set(int tid, const struct cst_registers *wanted)
{
	struct user_regs_struct regs;

	/* The kernel would set it back for a system call that goes on. */
	if (ptrace(PTRACE_GETREGS, tid, NULL, &regs) || goes_on(&regs))
		return 0;
	regs.rip = wanted->pc;
	regs.rsp = wanted->sp;
	regs.rax = wanted->ax;
	regs.eflags = wanted->flags;
	return !ptrace(PTRACE_SETREGS, tid, NULL, &regs);
}

int cst_thread_move(int tid, uint64_t from, uint64_t to)
{
	struct cst_registers at;

	if (!cst_thread_registers(tid, &at) || at.pc != from)
		return 0;
	at.pc = to;
	return cst_thread_set(tid, &at);
}

int cst_thread_hit_breakpoint(int tid)
{
	siginfo_t info;

	if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) ||
	    info.si_signo != SIGTRAP || info.si_code != SI_KERNEL)
		return 0;
	info.si_code = TRAP_TRACE;
	return !ptrace(PTRACE_SETSIGINFO, tid, NULL, &info);
}

_Static_assert(sizeof(struct user_regs_struct) == 8 * CST_N_REGISTERS,
	       "the processor's registers");

int cst_thread_take(int tid, uint64_t all[CST_N_REGISTERS])
{
	return !ptrace(PTRACE_GETREGS, tid, NULL, all);
}

int cst_thread_give(int tid, const uint64_t all[CST_N_REGISTERS])
{
	return !ptrace(PTRACE_SETREGS, tid, NULL, all);
}

int cst_thread_signal(int tid, int number, uint64_t *mask)
{
	uint64_t open;

	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(*mask), mask))
		return 0;
	open = *mask & ~(1ULL << (number - 1));
	return !ptrace(PTRACE_SETSIGMASK, tid, sizeof(open), &open) &&
	       !syscall(SYS_tkill, tid, number);
}

/* Ends the kernel's own account of a step, by going on with a signal that is
 * due: nothing is executed.  PTRACE_SINGLESTEP keeps it. */
static int end_stepping(int tid)
{
	uint64_t mask;
	int status = 0, has_stopped = 0;

	if (cst_thread_signal(tid, SIGTRAP, &mask))
		status = resume(tid, PTRACE_CONT, PLAIN, &has_stopped);
	ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask);
	return status >> 8 == SIGTRAP;
}

int cst_thread_signalled(int tid, uint64_t mask,
			 const struct cst_registers *wanted)
{
	struct cst_registers now;
	siginfo_t info;
	int has_info = !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info), ok;

	ok = !ptrace(PTRACE_SETSIGMASK, tid, sizeof(mask), &mask) &&
	     cst_thread_registers(tid, &now) && cst_thread_set(tid, wanted);
	if (ok && (now.flags & ~wanted->flags & TRAP_FLAG))
		ok = end_stepping(tid);
	if (has_info)
		ptrace(PTRACE_SETSIGINFO, tid, NULL, &info);
	return ok;
}

int cst_step_out(int tid, uint64_t pc, uint64_t sp)
{
	struct masks m;
	uint64_t after;
	siginfo_t info;
	/* gdb passes a signal on with it, and shows it as $_siginfo. */
	int has_info = !ptrace(PTRACE_GETSIGINFO, tid, NULL, &info);
	struct guard guard = {.is_set = 0};
	int result, has_stopped = 0;

	if (ptrace(PTRACE_GETSIGMASK, tid, sizeof(m.own), &m.own))
		return 0;
	m.blocked = m.own | ~(faults | libcs);
	if (ptrace(PTRACE_SETSIGMASK, tid, sizeof(m.blocked), &m.blocked))
		return 0;
	/* The kernel keeps these two unblocked. */
	m.blocked &= ~(1ULL << (SIGKILL - 1) | 1ULL << (SIGSTOP - 1));
	if (pc)
		guard_set(tid, pc, &guard);
	result = step_to(tid, &m, pc, sp, guard.is_set, &has_stopped);
	if (guard.is_set)
		guard_clear(tid, &guard);
	if (has_stopped)
		syscall(SYS_tkill, tid, SIGSTOP);
	/* The shim may have restored a mask that it had saved before. */
	if (!ptrace(PTRACE_GETSIGMASK, tid, sizeof(after), &after) &&
	    after == m.blocked)
		ptrace(PTRACE_SETSIGMASK, tid, sizeof(m.own), &m.own);
	if (has_info)
		ptrace(PTRACE_SETSIGINFO, tid, NULL, &info);
	return result;
}
