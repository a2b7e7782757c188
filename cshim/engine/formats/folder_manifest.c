/* SPDX-License-Identifier: MIT
 *
 * Writes and reads the hidden list of what cstrace put into a folder, and
 * removes such a folder.
 */
#include "formats/folder_manifest.h"
#include "base/error.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_line[] = "written by cstrace:\n";

enum { FIRST = sizeof(first_line) - 1, MARK_MAX = 64 << 20, READ = 64 << 10 };

void manifest_begin(struct bytes *text)
{
	bytes_put(text, first_line, FIRST);
}

void manifest_add(struct bytes *text, const char *name)
{
	bytes_put(text, name, strlen(name));
	bytes_put_byte(text, '\n');
}

/* ---- read ---------------------------------------------------------------- */

struct mark {
	struct bytes text;
	const char **names; /* sorted, in the text */
	size_t n;
};

static void manifest_release(struct mark *m)
{
	bytes_release(&m->text);
	free(m->names);
}

static int read_text(int dir, struct bytes *out)
{
	auto_close int fd = openat(
		dir, MARK_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && out->len < MARK_MAX) {
		uint8_t *p = bytes_reserve(out, READ + 1);

		if (!p)
			return CST_MEMORY;
		n = read(fd, p, READ);
		out->len += n > 0 ? (size_t)n : 0;
	}
	if (n || out->len < FIRST || memcmp(out->data, first_line, FIRST) != 0)
		return CST_EXISTS;
	out->data[out->len] = '\0';
	return 0;
}

static int name_compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int manifest_read(struct mark *m, int dir)
{
	char *p, *end;
	size_t n = 0;
	int status = read_text(dir, &m->text);

	if (status < 0)
		return status;
	p = (char *)m->text.data;
	for (size_t i = FIRST; i < m->text.len; i++)
		n += p[i] == '\n';
	m->names = calloc(n + 1, sizeof(*m->names));
	if (!m->names)
		return CST_MEMORY;
	for (p += FIRST; (end = strchr(p, '\n')) != NULL; p = end + 1) {
		*end = '\0';
		m->names[m->n++] = p;
	}
	qsort(m->names, m->n, sizeof(*m->names), name_compare);
	return 0;
}

/* ---- what is there ------------------------------------------------------- */

/* Call for each entry but the mark; negative: one call was. */
static int each_entry(int dir,
		      int (*call)(const struct mark *m, int dir,
				  const char *name),
		      const struct mark *m)
{
	int copy = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int status = d ? 0 : CST_FAILED;

	if (!d && copy >= 0)
		close(copy);
	while (status >= 0 && (e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0 &&
		    strcmp(e->d_name, MARK_NAME) != 0)
			status = call(m, dir, e->d_name);
	if (d)
		closedir(d);
	return status;
}

static int check_entry(const struct mark *m, int dir, const char *name)
{
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !S_ISREG(st.st_mode))
		return CST_EXISTS;
	return bsearch(&name, m->names, m->n, sizeof(*m->names), name_compare)
		       ? 0
		       : CST_EXISTS;
}

static int remove_entry(const struct mark *m, int dir, const char *name)
{
	(void)m;
	return unlinkat(dir, name, 0);
}

int manifest_check(int dir)
{
	struct mark m = {.n = 0};
	int status = manifest_read(&m, dir);

	if (status == 0)
		status = each_entry(dir, check_entry, &m);
	manifest_release(&m);
	return status;
}

void manifest_remove(const char *path)
{
	auto_close int dir =
		open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	/* The mark goes last: should we end midway, the rest is still ours. */
	if (dir < 0 || each_entry(dir, remove_entry, NULL) < 0)
		return;
	unlinkat(dir, MARK_NAME, 0);
	rmdir(path);
}
