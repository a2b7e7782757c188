/* SPDX-License-Identifier: MIT
 *
 * Where nobody asks for a recording the shim makes no system call at all: the
 * program may be where all but read, write, exit and sigreturn kill.
 */
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "traced.h"

TRACED void first(void)
{
	__asm__ volatile("");
}

/* Not by libc's exit(), which ends the process by another system call. */
QUIET static void go_on_in_strict_mode(void)
{
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		syscall(SYS_exit, 77);
	first();
	syscall(SYS_exit, 7);
}

QUIET static void no_call_before_the_first_event_nor_by_it(void **state)
{
	int status = 0;
	pid_t pid = fork();

	(void)state;
	if (!pid)
		go_on_in_strict_mode();
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
}

QUIET int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_call_before_the_first_event_nor_by_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
