/* SPDX-License-Identifier: MIT
 *
 * Finds and reads the page that is installed beside the engine.
 */
#include "formats/html_page.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 4096, PAGE_MAX_BYTES = 16 << 20 };

/* The file that this code is in: the engine's library, or the program. */
static int own_path(char path[ROOM])
{
	Dl_info info;
	ssize_t n;

	if (dladdr((void *)html_page_read, &info) && info.dli_fname &&
	    strstr(info.dli_fname, "libcstrace-engine"))
		return snprintf(path, ROOM, "%s", info.dli_fname) < ROOM
			       ? 0
			       : CST_FAILED;
	n = readlink("/proc/self/exe", path, ROOM - 1);
	if (n < 0)
		return CST_FAILED;
	path[n] = '\0';
	return 0;
}

/* Beside the file, or where it is installed. */
static int open_page(void)
{
	static const char *const places[] = {"page.html",
					     "../lib/cstrace/page.html"};
	char own[ROOM], path[ROOM + 64], *slash;
	int fd = -1;

	if (own_path(own) < 0)
		return -1;
	slash = strrchr(own, '/');
	if (slash)
		slash[1] = '\0';
	else
		own[0] = '\0';
	for (size_t i = 0; fd < 0 && i < sizeof(places) / sizeof(*places);
	     i++) {
		snprintf(path, sizeof(path), "%s%s", own, places[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
	}
	return fd;
}

int html_page_read(struct bytes *out, struct cst_error *err)
{
	auto_close int fd = open_page();
	struct stat st;
	uint8_t *p;

	if (fd < 0)
		return cst_fail(CST_FAILED, err,
				"cannot make a page: cstrace was built without "
				"it; `make page` makes it, with npm");
	if (fstat(fd, &st) < 0 || st.st_size <= 0 ||
	    st.st_size > PAGE_MAX_BYTES)
		return cst_fail(CST_FAILED, err,
				"cannot make a page: page.html is damaged; "
				"try `make page`");
	p = bytes_reserve(out, (size_t)st.st_size);
	if (!p)
		return cst_fail_memory(err);
	errno = EIO;
	if (read(fd, p, (size_t)st.st_size) != st.st_size)
		return cst_fail_sys(err, "cannot read page.html");
	out->len += (size_t)st.st_size;
	return 0;
}
