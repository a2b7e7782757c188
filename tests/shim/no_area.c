/* SPDX-License-Identifier: MIT
 *
 * Areas that cannot be had: the answer says why, the program notices nothing.
 */
#include <string.h>
#include <sys/mman.h>
#include <stdio.h>
#include "traced.h"

TRACED void work(void)
{
	__asm__ volatile("");
}

QUIET static void check_answer(const char *path, uint32_t mode, int error)
{
	errno = 55;
	shim_mode(path, mode);
	work();
	assert_int_equal(errno, 55);
	assert_int_equal(*shim_state(), CST_STATE_OFF);
	assert_int_equal(shim_control()->answer_state, CST_STATE_OFF);
	assert_int_equal(shim_control()->answer_errno, error);
}

QUIET static void check_file(const struct cst_area *head, uint64_t size)
{
	int fd = memfd_create("area", MFD_CLOEXEC);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(write(fd, head, sizeof(*head)), sizeof(*head));
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	check_answer(path, CST_MODE_RING, EPROTO);
	close(fd);
}

static void before_gdb_says_anything_it_is_off(void **state)
{
	(void)state;
	work();
	assert_int_equal(*shim_state(), CST_STATE_OFF);
	check_answer("", CST_MODE_RING, 0);
	check_answer("", CST_MODE_OFF, 0);
}

static void a_missing_file_is_answered(void **state)
{
	(void)state;
	check_answer("/proc/self/no such file", CST_MODE_RING, ENOENT);
	check_answer("/proc/self", CST_MODE_RING, EISDIR);
}

static void an_unknown_mode_is_answered(void **state)
{
	(void)state;
	check_answer("/dev/null", 17, EPROTO);
}

static void a_file_that_is_no_area_is_answered(void **state)
{
	struct cst_area head;

	(void)state;
	memset(&head, 0, sizeof(head));
	check_answer("/dev/null", CST_MODE_RING, EPROTO);
	check_file(&head, CST_AREA_SIZE);
	head.magic = CST_AREA_MAGIC;
	head.size = CST_AREA_SIZE;
	head.layout = CST_LAYOUT + 1;
	check_file(&head, CST_AREA_SIZE);
	head.layout = CST_LAYOUT;
	check_file(&head, 4096);
	head.size = 4096;
	check_file(&head, CST_AREA_SIZE);
}

static void the_version_is_told(void **state)
{
	(void)state;
	assert_int_not_equal(strlen(cstrace_version), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_gdb_says_anything_it_is_off),
		cmocka_unit_test(a_missing_file_is_answered),
		cmocka_unit_test(an_unknown_mode_is_answered),
		cmocka_unit_test(a_file_that_is_no_area_is_answered),
		cmocka_unit_test(the_version_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
