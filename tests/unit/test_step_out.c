/* SPDX-License-Identifier: MIT
 *
 * A stopped thread is stepped out of the function that it is in, and nothing
 * else happens to it.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <linux/futex.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cstrace/engine.h"

enum { CARRY = 1 };

enum how {
	PLAINLY,
	BY_A_SYSTEM_CALL,
	BY_A_BREAKPOINT,
	WITH_SIGNALS_BLOCKED,
	BLOCKED_SINCE_BEFORE,
	BY_A_WAIT,
	GIVEN_UP_WHILE_BLOCKED,
};

static uint64_t caller_pc, caller_sp;
static volatile int n_turns;
static int word;

/* Where the test finds it stopped, in the middle. */
static __attribute__((noinline)) void hook(enum how how)
{
	sigset_t all, old;

	sigfillset(&all);
	caller_pc = (uint64_t)__builtin_return_address(0);
	caller_sp = (uint64_t)__builtin_frame_address(0) + 16;
	if (how == BLOCKED_SINCE_BEFORE)
		sigprocmask(SIG_BLOCK, &all, &old);
	__asm__ volatile("int3");
	if (how == WITH_SIGNALS_BLOCKED || how == GIVEN_UP_WHILE_BLOCKED)
		sigprocmask(SIG_BLOCK, &all, &old);
	for (n_turns = 0; n_turns < 1000; n_turns++)
		;
	if (how == WITH_SIGNALS_BLOCKED || how == BLOCKED_SINCE_BEFORE)
		sigprocmask(SIG_SETMASK, &old, NULL);
	if (how == BY_A_WAIT)
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	if (how == BY_A_SYSTEM_CALL || how == GIVEN_UP_WHILE_BLOCKED)
		syscall(SYS_getuid);
	if (how == GIVEN_UP_WHILE_BLOCKED) {
		sigprocmask(SIG_SETMASK, &old, NULL);
		__asm__ volatile("int3");
	}
	if (how == BY_A_BREAKPOINT)
		__asm__ volatile("int3");
}

static volatile int has_returned;

static pid_t stopped_child(enum how how)
{
	pid_t child = fork();

	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		hook(how);
		has_returned = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	return child;
}

static uint64_t peek(pid_t child, const volatile void *at)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, child, at, NULL);
}

static int step_out(pid_t child)
{
	return cst_step_out(child, peek(child, &caller_pc),
			    peek(child, &caller_sp));
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void it_stands_in_the_caller(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	struct user_regs_struct regs;

	(void)state;
	assert_int_equal(step_out(child), 1);
	ptrace(PTRACE_GETREGS, child, NULL, &regs);
	assert_int_equal(regs.rip, peek(child, &caller_pc));
	assert_int_equal((int)peek(child, &n_turns), 1000);
	assert_int_equal((int)peek(child, &has_returned), 0);
	end(child);
}

static void a_signal_waits_and_the_last_one_stays_known(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	siginfo_t before, after;
	uint64_t mask_before, mask_after;
	int status;

	(void)state;
	ptrace(PTRACE_GETSIGINFO, child, NULL, &before);
	ptrace(PTRACE_GETSIGMASK, child, sizeof(mask_before), &mask_before);
	kill(child, SIGUSR1);
	assert_int_equal(step_out(child), 1);
	ptrace(PTRACE_GETSIGINFO, child, NULL, &after);
	ptrace(PTRACE_GETSIGMASK, child, sizeof(mask_after), &mask_after);
	assert_int_equal(before.si_code, after.si_code);
	assert_int_equal(mask_before, mask_after);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1);
	end(child);
}

static uint64_t mask_of(pid_t child)
{
	uint64_t mask = 0;

	ptrace(PTRACE_GETSIGMASK, child, sizeof(mask), &mask);
	return mask;
}

static void the_mask_that_is_saved_is_the_programs_own(void **state)
{
	pid_t child = stopped_child(GIVEN_UP_WHILE_BLOCKED);
	uint64_t mask = mask_of(child);
	int status;

	(void)state;
	assert_int_equal(step_out(child), 0);
	assert_int_not_equal(mask_of(child), mask);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(mask_of(child), mask);
	end(child);
}

static void the_mask_is_the_programs_own(void **state)
{
	pid_t child = stopped_child(WITH_SIGNALS_BLOCKED);
	uint64_t mask = mask_of(child);

	(void)state;
	assert_int_equal(step_out(child), 1);
	assert_int_equal(mask_of(child), mask);
	end(child);
	child = stopped_child(BLOCKED_SINCE_BEFORE);
	assert_int_not_equal(mask_of(child), mask);
	assert_int_equal(step_out(child), 1);
	assert_int_equal(mask_of(child), mask);
	end(child);
}

static void a_wait_without_end_is_left(void **state)
{
	pid_t child = stopped_child(BY_A_WAIT);
	int status;

	(void)state;
	assert_int_equal(step_out(child), -1);
	assert_int_equal(step_out(child), -1);
	/* It stands still, and then waits on. */
	ptrace(PTRACE_POKEDATA, child, &word, 1);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

/* It might block. */
static void no_other_system_call_is_made(void **state)
{
	pid_t child = stopped_child(BY_A_SYSTEM_CALL);
	int status;

	(void)state;
	assert_int_equal(step_out(child), 0);
	assert_int_equal((int)peek(child, &n_turns), 1000);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static void a_breakpoint_stays_gdbs(void **state)
{
	pid_t child = stopped_child(BY_A_BREAKPOINT);
	int status;

	(void)state;
	assert_int_equal(step_out(child), 0);
	ptrace(PTRACE_CONT, child, NULL, NULL);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	end(child);
}

static void a_breakpoint_is_told_once(void **state)
{
	pid_t child = stopped_child(PLAINLY);

	(void)state;
	assert_int_equal(cst_thread_hit_breakpoint(child), 1);
	assert_int_equal(cst_thread_hit_breakpoint(child), 0);
	assert_int_equal(cst_step_out(child, 0, 0), 1);
	assert_int_equal(cst_thread_hit_breakpoint(child), 0);
	end(child);
}

static void it_goes_on_where_it_is_moved_to(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	struct cst_registers at, moved;
	uint64_t other = (uint64_t)&hook, start;

	(void)state;
	assert_int_equal(cst_thread_registers(child, &at), 1);
	start = at.pc;
	assert_int_equal(at.sp % 8, 0);
	assert_int_equal(cst_thread_move(child, at.pc + 1, other), 0);
	assert_int_equal(cst_thread_move(child, at.pc, other), 1);
	assert_int_equal(cst_thread_registers(child, &moved), 1);
	assert_int_equal(moved.pc, other);
	assert_int_equal(moved.sp, at.sp);
	assert_int_equal(moved.bp, at.bp);
	moved.flags ^= CARRY;
	assert_int_equal(cst_thread_set(child, &moved), 1);
	at.flags = 0;
	assert_int_equal(cst_thread_registers(child, &at), 1);
	assert_int_equal(at.flags, moved.flags);
	assert_int_equal(cst_thread_move(child, other, start), 1);
	assert_int_equal(step_out(child), 1);
	end(child);
}

/* Steps it, with a signal due, and expects that it has not gone on. */
static uint64_t step_with_signal(pid_t child, const struct cst_registers *at)
{
	struct cst_registers now;
	uint64_t mask;
	int status;

	assert_int_equal(cst_thread_signal(child, SIGTRAP, &mask), 1);
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
	assert_int_equal(cst_thread_registers(child, &now), 1);
	assert_int_equal(now.pc, at->pc);
	assert_int_equal(cst_thread_signalled(child, mask, at), 1);
	return now.flags;
}

static void a_signal_stops_it_before_it_executes_anything(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	struct cst_registers at;

	(void)state;
	assert_int_equal(cst_thread_registers(child, &at), 1);
	step_with_signal(child, &at);
	assert_int_equal(step_out(child), 1);
	end(child);
}

static void a_signal_that_it_blocks_does_so_too(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	uint64_t all = ~0ULL, mask;
	struct cst_registers at;

	(void)state;
	assert_int_equal(cst_thread_registers(child, &at), 1);
	assert_int_equal(ptrace(PTRACE_SETSIGMASK, child, sizeof(all), &all),
			 0);
	step_with_signal(child, &at);
	assert_int_equal(ptrace(PTRACE_GETSIGMASK, child, sizeof(mask), &mask),
			 0);
	assert_true(mask >> (SIGTRAP - 1) & 1);
	end(child);
}

/* The kernel looks at the instruction that is to be stepped. */
static void no_trap_flag_is_left_at_a_popf(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	struct cst_registers at;
	long code;
	int status;

	(void)state;
	assert_int_equal(cst_thread_registers(child, &at), 1);
	code = ptrace(PTRACE_PEEKTEXT, child, (void *)at.pc, NULL);
	ptrace(PTRACE_POKETEXT, child, (void *)at.pc,
	       (void *)((code & ~0xffL) | 0x9d));
	assert_true(step_with_signal(child, &at) & 0x100);
	ptrace(PTRACE_POKETEXT, child, (void *)at.pc, (void *)code);
	assert_int_equal(ptrace(PTRACE_SINGLESTEP, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(cst_thread_registers(child, &at), 1);
	assert_false(at.flags & 0x100);
	assert_int_equal(step_out(child), 1);
	end(child);
}

static void *debug_register(size_t i)
{
	return (void *)(offsetof(struct user, u_debugreg) + i * sizeof(long));
}

static void gdbs_watchpoints_stay(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	long was[8];

	(void)state;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(ptrace(PTRACE_POKEUSER, child,
					debug_register(i), (long)&was[2 * i]),
				 0);
	/* Four watchpoints for writes, of 4 bytes each. */
	assert_int_equal(
		ptrace(PTRACE_POKEUSER, child, debug_register(7), 0xdddd0055L),
		0);
	for (size_t i = 0; i < 8; i++)
		was[i] = i == 4 || i == 5 ? 0
					  : ptrace(PTRACE_PEEKUSER, child,
						   debug_register(i), NULL);
	assert_int_equal(step_out(child), 1);
	for (size_t i = 0; i < 8; i++)
		if (i != 4 && i != 5)
			assert_int_equal(ptrace(PTRACE_PEEKUSER, child,
						debug_register(i), NULL),
					 was[i]);
	end(child);
}

static void who_is_gone_is_not_waited_for(void **state)
{
	pid_t child = stopped_child(PLAINLY);
	struct cst_registers at;

	(void)state;
	kill(child, SIGKILL);
	assert_int_equal(step_out(child), 0);
	assert_int_equal(cst_thread_registers(child, &at), 0);
	assert_int_equal(cst_thread_move(child, 0, 0), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stands_in_the_caller),
		cmocka_unit_test(a_signal_waits_and_the_last_one_stays_known),
		cmocka_unit_test(the_mask_is_the_programs_own),
		cmocka_unit_test(the_mask_that_is_saved_is_the_programs_own),
		cmocka_unit_test(a_wait_without_end_is_left),
		cmocka_unit_test(no_other_system_call_is_made),
		cmocka_unit_test(a_breakpoint_stays_gdbs),
		cmocka_unit_test(a_breakpoint_is_told_once),
		cmocka_unit_test(it_goes_on_where_it_is_moved_to),
		cmocka_unit_test(a_signal_stops_it_before_it_executes_anything),
		cmocka_unit_test(a_signal_that_it_blocks_does_so_too),
		cmocka_unit_test(no_trap_flag_is_left_at_a_popf),
		cmocka_unit_test(gdbs_watchpoints_stay),
		cmocka_unit_test(who_is_gone_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
