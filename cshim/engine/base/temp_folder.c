/* SPDX-License-Identifier: MIT
 *
 * Makes temporary folders, and removes them and those of owners who died.
 */
#include "base/temp_folder.h"
#include "base/task_file.h"
#include "base/text.h"

#include "base/error.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "cstrace-"

enum { MOST_TRIES = 100, N_BASES = 4, READ_SIZE = 64 << 10 };

/* Where such folders may be; the caller's wishes first. */
static void find_bases(const char *bases[N_BASES])
{
	bases[0] = getenv("XDG_RUNTIME_DIR");
	bases[1] = getenv("TMPDIR");
	bases[2] = "/tmp";
	bases[3] = "/var/tmp";
}

/* ---- making ----------------------------------------------------------------
 */

/* Locks the folder for its owner.  Returns the file, or -1 with errno: 0 if the
 * folder was swept away before it had its lock. */
static int lock_new(const char *folder)
{
	char path[PATH_MAX];
	struct stat st;
	int fd, n = snprintf(path, sizeof(path), "%s/" TEMP_FOLDER_LOCK,
			     folder);

	errno = ENAMETOOLONG;
	if (n >= (int)sizeof(path))
		return -1;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		  0600);
	if (fd < 0)
		return -1;
	/* A file system without locks: then nobody can sweep it either. */
	while (flock(fd, LOCK_EX) && errno == EINTR)
		;
	if (fstat(fd, &st) == 0 && st.st_nlink)
		return fd;
	close(fd);
	errno = 0;
	return -1;
}

static int make_in(const char *base, const char *word, char *out, size_t size)
{
	for (int i = 0; i < MOST_TRIES; i++) {
		int fd;

		if (snprintf(out, size, "%s/" PREFIX "%s-XXXXXX", base, word) >=
		    (int)size) {
			errno = ENAMETOOLONG;
			return -1;
		}
		if (!mkdtemp(out))
			return -1;
		fd = lock_new(out);
		if (fd >= 0 || errno) {
			int code = errno;

			if (fd < 0)
				rmdir(out);
			errno = code;
			return fd;
		}
	}
	return -1;
}

int cst_folder_make(const char *word, int is_for_preload, char *out,
		    uint64_t size, struct cst_error *err)
{
	const char *bases[N_BASES];
	int fd, code = 0;

	cst_folder_sweep();
	find_bases(bases);
	for (int i = is_for_preload ? 0 : 1; i < N_BASES; i++) {
		if (!bases[i] || *bases[i] != '/' ||
		    (is_for_preload && strpbrk(bases[i], " :\t\n")))
			continue;
		fd = make_in(bases[i], word, out, size);
		if (fd >= 0)
			return fd;
		code = code ? code : errno;
	}
	errno = code ? code : ENOENT;
	return cst_fail_sys(err, "cannot make a folder '%.300s'", out);
}

/* ---- removing -------------------------------------------------------------
 */

/* Removes the folder at path, which is open as fd, and the files in it; links
 * are removed themselves.  The lock goes last. */
static void empty(int fd, const char *path)
{
	DIR *all = fdopendir(fd);
	const struct dirent *entry;

	while (all && (entry = readdir(all)))
		if (strcmp(entry->d_name, TEMP_FOLDER_LOCK))
			unlinkat(fd, entry->d_name, 0);
	unlinkat(fd, TEMP_FOLDER_LOCK, 0);
	rmdir(path);
	if (all)
		closedir(all);
	else
		close(fd);
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

void cst_folder_remove(const char *path, int fd)
{
	int folder = open_folder(path);

	if (folder >= 0)
		empty(folder, path);
	if (fd >= 0)
		close(fd);
}

/* ---- sharing ---------------------------------------------------------------
 *
 * Nobody but us may make or replace files there, so that we follow no link of
 * another's. */

static void let_read(int folder, const char *name)
{
	auto_close int fd = openat(
		folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0)
		fchmod(fd, 0644);
}

static void let_write(int folder, const char *name, uid_t user, gid_t group)
{
	auto_close int fd =
		openat(folder, name,
		       O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd >= 0 && !fchown(fd, user, group))
		fchmod(fd, 0600);
}

void cst_folder_share(const char *path, uint32_t pid)
{
	auto_close int folder = open_folder(path);
	const struct dirent *entry;
	uid_t user;
	gid_t group;
	DIR *all;

	if (folder < 0 || !task_owner(pid, &user, &group) ||
	    user == geteuid() || fchmod(folder, 0711))
		return;
	all = fdopendir(dup(folder));
	while (all && (entry = readdir(all)))
		if (*entry->d_name != '.')
			let_read(folder, entry->d_name);
	if (all)
		closedir(all);
	let_write(folder, "refused", user, group);
}

/* ---- sweeping --------------------------------------------------------------
 */

static int is_own(int fd, mode_t kind)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind &&
	       st.st_uid == geteuid() && st.st_nlink;
}

/* Returns the lock of the folder, which is ours now, or -1: its owner lives, or
 * it is no folder of ours. */
static int lock_orphan(int folder)
{
	int fd = is_own(folder, S_IFDIR)
			 ? openat(folder, TEMP_FOLDER_LOCK,
				  O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
			 : -1;

	/* It is looked at under the lock: others sweep, too. */
	if (fd >= 0 && (flock(fd, LOCK_EX | LOCK_NB) || !is_own(fd, S_IFREG))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static int has_word(const char *file, const char *word)
{
	auto_close int fd = open(file, O_RDONLY | O_CLOEXEC);
	char text[READ_SIZE];
	size_t n_word = strlen(word), n_kept = 0;
	ssize_t n;

	while (fd >= 0 &&
	       (n = read(fd, text + n_kept, sizeof(text) - n_kept)) > 0) {
		size_t n_all = n_kept + (size_t)n;

		if (memmem(text, n_all, word, n_word))
			return 1;
		n_kept = n_all < n_word ? n_all : n_word;
		memmove(text, text + n_all - n_kept, n_kept);
	}
	return 0;
}

/* Does a process that lives have the path in its environment?  It may outlive
 * who recorded it, and what it runs in turn is to find the shim still. */
static int is_named_by_any(const char *path)
{
	char file[NAME_MAX + 32];
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	int is_named = 0;

	while (all && !is_named && (entry = readdir(all))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(file, sizeof(file), "/proc/%s/environ", entry->d_name);
		is_named = has_word(file, path);
	}
	if (all)
		closedir(all);
	return is_named;
}

static void sweep_one(const char *base, const char *name)
{
	char path[PATH_MAX];
	int folder, lock;

	if (snprintf(path, sizeof(path), "%s/%s", base, name) >=
	    (int)sizeof(path))
		return;
	folder = open_folder(path);
	if (folder < 0)
		return;
	lock = lock_orphan(folder);
	if (lock >= 0 && !is_named_by_any(path))
		empty(folder, path);
	else
		close(folder);
	if (lock >= 0)
		close(lock);
}

static void sweep_in(const char *base)
{
	DIR *all = opendir(base);
	const struct dirent *entry;

	while (all && (entry = readdir(all)))
		if (text_begins(entry->d_name, PREFIX))
			sweep_one(base, entry->d_name);
	if (all)
		closedir(all);
}

void cst_folder_sweep(void)
{
	const char *bases[N_BASES];

	find_bases(bases);
	for (int i = 0; i < N_BASES; i++)
		if (bases[i] && *bases[i] == '/')
			sweep_in(bases[i]);
}
