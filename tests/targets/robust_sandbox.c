/* SPDX-License-Identifier: MIT
 *
 * robust_sandbox WHERE [VERDICT]: 1000 calls, then a sandbox with room for no
 * more system calls than the program makes itself, then 1000 calls from 1000
 * places and 20000 from one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define COUNT(list) (sizeof(list) / sizeof(*(list)))

enum { N_THREADS = 3 };

static volatile long n_leaves;
static volatile int is_over;

static void leaf(void)
{
	__atomic_fetch_add(&n_leaves, 1, __ATOMIC_RELAXED);
}

static void before(void)
{
	for (int i = 0; i < 999; i++)
		leaf();
}

#define TEN(x) x x x x x x x x x x

static void from_many_places(void)
{
	TEN(TEN(TEN(leaf();)))
}

static void from_one_place(void)
{
	for (int i = 0; i < 20000; i++)
		leaf();
}

static jmp_buf back;
static int is_to_jump, is_to_jump_within;

static void at_alarm(int signo)
{
	jmp_buf within; /* each its own: they come in each other */

	(void)signo;
	leaf();
	if (is_to_jump_within && _setjmp(within) == 0)
		_longjmp(within, 1);
	if (is_to_jump)
		_longjmp(back, 1);
}

/* ---- sandboxes ----------------------------------------------------------- */

static const int usual[] = {SYS_read, SYS_write, SYS_exit, SYS_exit_group,
			    SYS_rt_sigreturn};
/* What libc's fork() and waitpid() take. */
static const int forking[] = {
	SYS_read,	SYS_write,	     SYS_exit,
	SYS_exit_group, SYS_rt_sigreturn,    SYS_clone,
	SYS_wait4,	SYS_set_robust_list, SYS_rt_sigprocmask};
/* What a program may need that makes itself another. */
static const int wide[] = {
	SYS_read,	    SYS_write,	 SYS_exit,   SYS_exit_group,
	SYS_prctl,	    SYS_seccomp, SYS_gettid, SYS_futex,
	SYS_rt_sigprocmask, SYS_madvise, SYS_mremap, SYS_rt_sigreturn,
	SYS_openat,	    SYS_pread64, SYS_close,  SYS_clock_gettime};

static unsigned verdict = SECCOMP_RET_KILL_PROCESS;
static int is_by_syscall;

QUIET static void allow(const int *calls, int n, int flags)
{
	struct sock_filter code[64];
	struct sock_fprog program = {.filter = code};
	int at = 0, status;

	code[at++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < n; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							  SECCOMP_RET_ALLOW);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
	program.len = (unsigned short)at;
	status = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (status == 0)
		status = is_by_syscall ? (int)syscall(SYS_seccomp,
						      SECCOMP_SET_MODE_FILTER,
						      flags, &program)
				       : prctl(PR_SET_SECCOMP,
					       SECCOMP_MODE_FILTER, &program);
	if (status)
		_exit(77);
}

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static volatile char is_handed; /* each system call would be a SIGSYS */

/* A kernel before 5.11 does not know it. */
QUIET static void hand_over_all(void)
{
	long failed = is_by_syscall
			      ? syscall(SYS_prctl, PR_SET_SYSCALL_USER_DISPATCH,
					1L, 0L, 0L, &is_handed)
			      : prctl(PR_SET_SYSCALL_USER_DISPATCH, 1L, 0L, 0L,
				      &is_handed);

	is_handed = !failed;
}

/* Not by stdio, which asks for the kind of its file. */
QUIET static void say(const char *format, long n)
{
	char text[64];
	int size = snprintf(text, sizeof(text), format, n);

	if (write(1, text, (size_t)size) != size)
		_exit(78);
}

QUIET static void go_on(void)
{
	from_many_places();
	from_one_place();
}

/* ---- where --------------------------------------------------------------- */

static void *crew_member(void *unused)
{
	before();
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE))
		;
	go_on();
	__atomic_fetch_add(&is_over, 1, __ATOMIC_RELEASE);
	for (;;) /* its end would take more */
		;
	return unused;
}

QUIET static void in_all_threads(void)
{
	pthread_t thread;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&thread, NULL, crew_member, NULL);
	while (n_leaves < 999 * (N_THREADS + 1))
		;
	is_by_syscall = 1;
	allow(usual, COUNT(usual), SECCOMP_FILTER_FLAG_TSYNC);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) <= N_THREADS)
		;
}

QUIET static void in_a_child(int is_before)
{
	int status;

	fflush(stdout);
	if (is_before)
		allow(forking, COUNT(forking), 0);
	if (fork() == 0) {
		if (!is_before)
			allow(usual, COUNT(usual), 0);
		go_on();
		_exit(9);
	}
	wait(&status);
	say("child %ld\n", status);
}

QUIET static void with_alarms(volatile int n)
{
	struct sigaction action = {.sa_handler = at_alarm,
				   .sa_flags = SA_NODEFER};
	const struct itimerval often = {{0, 200}, {0, 200}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	const int calls[] = {SYS_write, SYS_exit_group, SYS_rt_sigreturn,
			     SYS_setitimer};

	sigaction(SIGALRM, &action, NULL);
	allow(calls, COUNT(calls), 0);
	if (_setjmp(back) == 0)
		setitimer(ITIMER_REAL, &often, NULL);
	while (n-- > 0)
		from_one_place();
	setitimer(ITIMER_REAL, &never, NULL);
}

QUIET int main(int argc, char **argv)
{
	const char *where = argc > 1 ? argv[1] : "";

	if (argc > 2 && !strcmp(argv[2], "trap"))
		verdict = SECCOMP_RET_TRAP;
	if (argc > 2 && !strcmp(argv[2], "errno"))
		verdict = SECCOMP_RET_ERRNO | EACCES;
	before();
	if (!strcmp(where, "prctl"))
		allow(usual, COUNT(usual), 0);
	if (!strcmp(where, "syscall")) {
		is_by_syscall = 1;
		allow(usual, COUNT(usual), 0);
	}
	is_by_syscall |= !strcmp(where, "handed-by-syscall");
	if (!strncmp(where, "handed", 6))
		hand_over_all();
	if (!strcmp(where, "twice")) {
		allow(wide, COUNT(wide), 0);
		allow(usual, COUNT(usual), 0);
	}
	if (!strcmp(where, "threads"))
		in_all_threads();
	if (!strcmp(where, "child"))
		in_a_child(0);
	if (!strcmp(where, "parent"))
		in_a_child(1);
	is_to_jump = !strcmp(where, "jumps");
	is_to_jump_within = !strcmp(where, "alarms-within");
	if (!strncmp(where, "alarms", 6))
		with_alarms(50);
	else if (is_to_jump)
		with_alarms(500);
	else
		go_on();
	is_handed = 0;
	say(strncmp(where, "alarms", 6) && !is_to_jump ? "%ld leaves\n"
						       : "over\n",
	    n_leaves);
	_exit(42);
}
