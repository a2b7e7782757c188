/* SPDX-License-Identifier: MIT
 *
 * The file that holds a session's trace: named and locked while it is wanted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "file/cache_file.h"
#include "file/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct place {
	char dir[64], file[96], second[96];
};

static int make_place(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	if (!p)
		return -1;
	strcpy(p->dir, "/var/tmp/heldfile-XXXXXX");
	if (!mkdtemp(p->dir))
		return -1;
	snprintf(p->file, sizeof(p->file), "%s/app-7.cst", p->dir);
	snprintf(p->second, sizeof(p->second), "%s/app-7.2.cst", p->dir);
	*state = p;
	return 0;
}

/* All is removed: it can be removed itself. */
static int remove_place(void **state)
{
	struct place *p = *state;
	int status = rmdir(p->dir);

	free(p);
	return status;
}

static int is_held(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), failed;

	assert_true(fd >= 0);
	failed = flock(fd, LOCK_SH | LOCK_NB);
	assert_true(!failed || errno == EWOULDBLOCK);
	close(fd);
	return failed;
}

static void it_is_seen_locked_and_for_its_owner(void **state)
{
	struct place *p = *state;
	struct stat st;
	char *path;
	int fd = cache_file_open(p->dir, "app-7", &path);

	assert_true(fd >= 0);
	assert_string_equal(path, p->file);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(st.st_nlink, 1);
	assert_true(is_held(path));
	cache_file_remove(path);
	assert_int_equal(access(p->file, F_OK), -1);
	close(fd);
}

static void a_name_that_is_taken_gets_a_number(void **state)
{
	struct place *p = *state;
	char *path;
	int fd;

	/* The name may also be that of a link to nowhere: it is not
	 * followed. */
	assert_int_equal(symlink("/var/tmp/no/such/file", p->file), 0);
	fd = cache_file_open(p->dir, "app-7", &path);
	assert_true(fd >= 0);
	assert_string_equal(path, p->second);
	cache_file_remove(path);
	close(fd);
	unlink(p->file);
}

static void whoever_dies_leaves_it_unlocked(void **state)
{
	struct place *p = *state;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char *path;

		_exit(cache_file_open(p->dir, "app-7", &path) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(is_held(p->file));
	unlink(p->file);
}

static void it_goes_with_its_spool(void **state)
{
	struct place *p = *state;
	struct cst_error err;
	struct spool s;

	assert_int_equal(spool_open(&s, NULL, p->dir, "app-7", &err), 0);
	assert_true(s.is_named);
	assert_int_equal(spool_flush(&s), 0);
	assert_true(is_held(p->file));
	spool_release(&s);
	assert_int_equal(access(p->file, F_OK), -1);
}

static void a_folder_that_is_a_link_has_none(void **state)
{
	struct place *p = *state;
	struct cst_error err;
	struct spool s;
	char link[80], *path;

	snprintf(link, sizeof(link), "%s/link", p->dir);
	assert_int_equal(symlink(p->dir, link), 0);
	assert_true(cache_file_open(link, "app-7", &path) < 0);
	/* It does without a name. */
	assert_int_equal(spool_open(&s, NULL, link, "app-7", &err), 0);
	assert_false(s.is_named);
	spool_release(&s);
	unlink(link);
}

#define HELD_TEST(f) \
	cmocka_unit_test_setup_teardown(f, make_place, remove_place)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HELD_TEST(it_is_seen_locked_and_for_its_owner),
		HELD_TEST(a_name_that_is_taken_gets_a_number),
		HELD_TEST(whoever_dies_leaves_it_unlocked),
		HELD_TEST(it_goes_with_its_spool),
		HELD_TEST(a_folder_that_is_a_link_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
