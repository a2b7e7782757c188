/* SPDX-License-Identifier: MIT
 *
 * A vfork child is awake before its parent waits for it.  Here the parent is
 * kept from waiting: a debugger, as gdb does, has it stopped on its way there,
 * or lets it go on where another process has the processor.
 */
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include "traced.h"

enum { N_CALLS = 10000, N_ROUNDS = 10, N_WAYS = 2 };

enum way { STOPPED, WITHOUT_PROCESSOR };

/* What the debugger shares with the program. */
static struct {
	enum way way;
	uint32_t is_traced, may_go, is_done;
	int cpu; /* 1 + the child's */
} * shared;

static struct mini_reader *reader;
static uint32_t n_failed;

TRACED void in_host(void)
{
	__asm__ volatile("");
}

TRACED void in_vfork(void)
{
	__asm__ volatile("");
}

QUIET static void await(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_SEQ_CST))
		sched_yield();
}

QUIET static void set(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
}

/* ---- the debugger ----------------------------------------------------------
 */

QUIET static void pin(pid_t pid, int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(pid, sizeof(cpus), &cpus);
}

/* One of these that the child is not on, if there is any. */
QUIET static int other_cpu(const cpu_set_t *cpus)
{
	int childs = shared->cpu - 1;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (cpu != childs && CPU_ISSET(cpu, cpus))
			return cpu;
	return childs;
}

/* Lets the program go on where we are, and stay.  A thread of SCHED_BATCH takes
 * the processor from no other as it wakes. */
QUIET static void keep_from_waiting(pid_t program)
{
	struct sched_param none = {0};
	cpu_set_t before;
	int cpu;

	await(&shared->may_go);
	sched_getaffinity(program, sizeof(before), &before);
	cpu = other_cpu(&before);
	pin(0, cpu);
	pin(program, cpu);
	sched_setscheduler(program, SCHED_BATCH, &none);
	ptrace(PTRACE_CONT, program, 0, 0);
	__atomic_store_n(&shared->may_go, 0, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&shared->is_done, __ATOMIC_SEQ_CST))
		;
	sched_setscheduler(program, SCHED_OTHER, &none);
	sched_setaffinity(program, sizeof(before), &before);
}

QUIET static void has_vforked(pid_t program)
{
	unsigned long child;
	int status;

	ptrace(PTRACE_GETEVENTMSG, program, 0, &child);
	waitpid((pid_t)child, &status, __WALL);
	ptrace(PTRACE_DETACH, (pid_t)child, 0, 0);
	if (shared->way == WITHOUT_PROCESSOR) {
		keep_from_waiting(program);
		return;
	}
	await(&shared->is_done);
	ptrace(PTRACE_CONT, program, 0, 0);
}

QUIET static void debug(pid_t program)
{
	const int vforks = SIGTRAP | PTRACE_EVENT_VFORK << 8;
	int status;

	if (ptrace(PTRACE_SEIZE, program, 0, PTRACE_O_TRACEVFORK))
		_exit(1);
	set(&shared->is_traced);
	while (waitpid(program, &status, __WALL) == program &&
	       WIFSTOPPED(status)) {
		if (status >> 8 == vforks)
			has_vforked(program);
		else
			ptrace(PTRACE_CONT, program, 0, WSTOPSIG(status));
	}
	_exit(1);
}

/* Made before the shim records. */
QUIET static pid_t debugger_start(void)
{
	pid_t program = getpid(), debugger;

	/* Where a kernel lets parents alone debug. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	debugger = fork();
	if (!debugger)
		debug(program);
	return debugger;
}

/* ---- the program -----------------------------------------------------------
 */

QUIET static void childs_part(void)
{
	if (shared->way == WITHOUT_PROCESSOR) {
		shared->cpu = sched_getcpu() + 1;
		pin(0, shared->cpu - 1);
		set(&shared->may_go);
		while (__atomic_load_n(&shared->may_go, __ATOMIC_SEQ_CST))
			sched_yield();
	}
	for (int i = 0; i < N_CALLS; i++)
		in_vfork();
	set(&shared->is_done);
}

QUIET static void play_vfork(enum way way)
{
	int status = 0;
	pid_t pid;

	shared->way = way;
	shared->is_done = 0;
	pid = vfork();
	if (!pid) {
		childs_part();
		_exit(7);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	n_failed += !WIFEXITED(status) || WEXITSTATUS(status) != 7;
}

QUIET static int play(void **state)
{
	pid_t debugger;

	(void)state;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	debugger = debugger_start();
	while (!__atomic_load_n(&shared->is_traced, __ATOMIC_SEQ_CST))
		if (waitpid(debugger, NULL, WNOHANG))
			return -1;
	reader = reader_start(8, 1);
	shim_mode(reader_path(reader), CST_MODE_RING);
	in_host();
	for (int i = 0; i < N_ROUNDS; i++) {
		play_vfork(STOPPED);
		play_vfork(WITHOUT_PROCESSOR);
	}
	shim_mode(NULL, CST_MODE_OFF);
	in_host();
	kill(debugger, SIGKILL);
	waitpid(debugger, NULL, 0);
	reader_stop(reader);
	return 0;
}

static void it_is_its_parents_thread(void **state)
{
	struct cst_area *a = reader_area(reader);

	(void)state;
	assert_int_equal(n_failed, 0);
	assert_int_equal(a->n_lost_threads, 0);
	assert_int_equal(a->n_processes, 1);
	assert_int_equal(a->n_threads, 1);
}

static void its_calls_are_recorded_whole(void **state)
{
	(void)state;
	assert_int_equal(reader_count(reader, in_vfork, CST_ENTER),
			 N_WAYS * N_ROUNDS * N_CALLS);
	reader_check_nesting(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_its_parents_thread),
		cmocka_unit_test(its_calls_are_recorded_whole),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
