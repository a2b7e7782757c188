/* SPDX-License-Identifier: MIT
 *
 * What a file that cstrace wrote begins with, format by format.  Folders have
 * a mark of their own (folder_manifest.h).
 */
#include "file/ours.h"
#include "base/text.h"
#include "cstrace/layout.h"
#include "file/block.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LOOKED_AT = 4096 };

static const char *const beginnings[] = {
	BLOCK_FILE_MAGIC,
	"# One row a call",
	"{\"id\":\"",
	"{\"displayTimeUnit\":\"ns\",\"otherData\":{",
	"{\"$schema\":\"https://www.speedscope.app/",
	"{\"resourceSpans\":[",
	"# callgrind format\nversion: 1\ncreator: cstrace",
	"digraph cstrace {",
};

static int has_beginning(const char *text)
{
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++)
		if (text_begins(text, beginnings[i]))
			return 1;
	return 0;
}

/* Folded stacks have no beginning of their own: each line is "main;f;g 123".
 * The last line that was read may be half a line. */
static int is_folded(char *text)
{
	int n = 0;

	for (char *line = text, *end; (end = strchr(line, '\n'));
	     line = end + 1, n++) {
		char *number;

		*end = '\0';
		number = strrchr(line, ' ');
		if (!number || number == line || !number[1] ||
		    number[1 + strspn(number + 1, "0123456789")])
			return 0;
	}
	return n > 0;
}

static int has_ending(const char *path, const char *ending)
{
	size_t len = strlen(path), n = strlen(ending);

	return len > n && !strcmp(path + len - n, ending);
}

int ours_is_nothing(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || !S_ISREG(st.st_mode) || !st.st_size;
}

/* Formats that are folders: folder.c decides which are ours, when it replaces
 * one.
 */
static int is_folder(const char *path, const char *format)
{
	if (format)
		return !strcmp(format, "ctf") || !strcmp(format, "uftrace");
	return has_ending(path, ".ctf") || has_ending(path, ".uftrace");
}

/* The shim's own file, of a program that recorded itself. */
static int is_area(const char *text, size_t n)
{
	const uint64_t magic = CST_AREA_MAGIC;

	return n >= sizeof(magic) && !memcmp(text, &magic, sizeof(magic));
}

/* Whether the file begins as one in any of cstrace's formats, is empty, or does
 * not exist.  format is that of the new file, or NULL for path's ending. */
static int ours_is(const char *path, const char *format)
{
	static const char made[] = "\nMade by cstrace.";
	char text[LOOKED_AT + 1];
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY |
					       O_NONBLOCK | O_NOFOLLOW);
	struct stat st;
	ssize_t n;

	/* What is no file, or cannot be read, is refused where it is written;
	 * of a link what it leads to stays. */
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
	    is_folder(path, format))
		return 1;
	n = read(fd, text, LOOKED_AT);
	if (n <= 0)
		return n == 0;
	text[n] = '\0';
	if (has_beginning(text) || is_area(text, (size_t)n) ||
	    memmem(text, (size_t)n, made, sizeof(made) - 1))
		return 1;
	return (format ? !strcmp(format, "folded")
		       : has_ending(path, ".folded")) &&
	       is_folded(text);
}

int cst_may_replace(const char *path, const char *format, struct cst_error *err)
{
	if (ours_is(path, format))
		return 0;
	return cst_fail(CST_EXISTS, err,
			"'%.300s' is there, and cstrace did not write it",
			path);
}
