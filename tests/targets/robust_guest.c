/* SPDX-License-Identifier: MIT
 *
 * robust_guest HARDSHIP [late]: makes its own life hard, then 2000 calls from
 * 1000 places and 20000 from one, and says how it went.  What it says must not
 * depend on who watches.  late: a call of begin() after the hardship.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))

static volatile long n_leaves;

static void leaf(void)
{
	n_leaves++;
}

static void begin(void)
{
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

/* ---- hardships ----------------------------------------------------------- */

QUIET static int check(int is_right, const char *what)
{
	if (!is_right)
		printf("%s: %s\n", what, strerror(errno));
	return is_right;
}

QUIET static void limit(int resource, rlim_t value)
{
	struct rlimit to = {value, value};

	check(!setrlimit(resource, &to), "setrlimit");
}

QUIET static void close_all(void)
{
	check(!close_range(3, ~0u, 0), "close_range");
}

/* Each descriptor is taken and stays what it is. */
QUIET static void take_all_descriptors(void)
{
	for (int fd = 3; fd < 200; fd++)
		check(dup2(0, fd) == fd, "dup2");
}

QUIET static void check_descriptors(void)
{
	struct stat first, other;

	fstat(0, &first);
	for (int fd = 3; fd < 200; fd++)
		check(!fstat(fd, &other) && other.st_ino == first.st_ino &&
			      other.st_dev == first.st_dev,
		      "a descriptor has changed");
}

QUIET static void be_nobody(void)
{
	check(!setgroups(0, NULL) && !setresgid(65534, 65534, 65534) &&
		      !setresuid(65534, 65534, 65534),
	      "setresuid");
}

QUIET static void be_in_an_empty_root(void)
{
	char folder[] = "/tmp/robust-XXXXXX";

	/* Removed already: nobody could, afterwards. */
	if (check(mkdtemp(folder) && !chdir(folder) && !rmdir(folder) &&
			  !chroot("."),
		  "chroot"))
		be_nobody();
}

enum { ALLOW = SECCOMP_RET_ALLOW };

QUIET static void forbid(const int *calls, int n, unsigned verdict)
{
	struct sock_filter code[64];
	struct sock_fprog program = {.filter = code};
	int at = 0;

	code[at++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (int i = 0; i < n; i++) {
		code[at++] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
		code[at++] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
	}
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, ALLOW);
	program.len = (unsigned short)at;
	check(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
		      !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program),
	      "seccomp");
}

/* What a sandbox denies a program that has opened all it wants to. */
static const int denied[] = {
	SYS_open,     SYS_openat,  SYS_memfd_create,  SYS_mmap,	   SYS_mremap,
	SYS_mprotect, SYS_madvise, SYS_prctl,	      SYS_pread64, SYS_lseek,
	SYS_getpid,   SYS_gettid,  SYS_clock_gettime, SYS_socket,  SYS_execve};

QUIET static void have_little_room(void)
{
	void *room;

	limit(RLIMIT_AS, 256 << 20);
	room = mmap(NULL, 64 << 20, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	check(room != MAP_FAILED, "64 MiB of 256");
}

QUIET static void suffer(const char *what)
{
	int n_denied = sizeof(denied) / sizeof(denied[0]);

	if (!strcmp(what, "close-all"))
		close_all();
	if (!strcmp(what, "dup2"))
		take_all_descriptors();
	if (!strcmp(what, "nofile"))
		limit(RLIMIT_NOFILE, 3);
	if (!strcmp(what, "chdir"))
		check(!chdir("/"), "chdir");
	if (!strcmp(what, "chroot"))
		be_in_an_empty_root();
	if (!strcmp(what, "setuid"))
		be_nobody();
	if (!strcmp(what, "clearenv"))
		clearenv();
	if (!strcmp(what, "fsize"))
		limit(RLIMIT_FSIZE, 0);
	if (!strcmp(what, "seccomp"))
		forbid(denied, n_denied, SECCOMP_RET_ERRNO | EPERM);
	if (!strcmp(what, "seccomp-kill"))
		forbid(denied, 4, SECCOMP_RET_KILL_PROCESS);
	if (!strcmp(what, "as"))
		have_little_room();
}

QUIET int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	suffer(what);
	if (argc > 2)
		begin();
	from_many_places();
	from_one_place();
	if (!strcmp(what, "dup2"))
		check_descriptors();
	printf("%ld leaves\n", n_leaves);
	return 42;
}
