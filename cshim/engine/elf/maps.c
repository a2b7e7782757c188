/* SPDX-License-Identifier: MIT
 *
 * Reads /proc/PID/maps and walks over its executable file mappings; also reads
 * the lines of it that the shim has copied.
 */
#include "elf/maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int maps_room(struct maps *m)
{
	uint64_t wanted = m->capacity ? m->capacity * 2 : 65536;
	char *larger;

	if (m->capacity - m->size > 4096)
		return 1;
	larger = realloc(m->text, wanted);
	if (!larger)
		return 0;
	m->text = larger;
	m->capacity = wanted;
	return 1;
}

int maps_read(struct maps *m, uint32_t pid, struct cst_error *err)
{
	char name[64];
	ssize_t n = 0;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	auto_close int fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cst_fail_sys(err, "cannot open '%s'", name);

	m->size = 0;
	do {
		m->size += (uint64_t)n;
		if (!maps_room(m))
			return cst_fail_memory(err);
		do
			n = read(fd, m->text + m->size,
				 m->capacity - m->size - 1);
		while (n < 0 && errno == EINTR);
	} while (n > 0);
	m->text[m->size] = 0;
	return n < 0 ? cst_fail_sys(err, "cannot read '%s'", name) : 0;
}

void maps_release(struct maps *m)
{
	free(m->text);
	*m = (struct maps){0};
}

static uint64_t hex(const char **text)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		unsigned c = (unsigned char)**text;

		if (c - '0' < 10)
			value = value << 4 | (c - '0');
		else if (c - 'a' < 6)
			value = value << 4 | (c - 'a' + 10);
		else
			return value;
	}
}

static const char *behind_spaces(const char *text)
{
	return text + strspn(text, " ");
}

/* The kernel writes a path's newlines, and nothing else, as \012. */
static void unescape(char *path)
{
	char *from = path;

	if (!strstr(path, "\\012"))
		return;
	while (*from) {
		int is_newline = !strncmp(from, "\\012", 4);

		*path++ = is_newline ? '\n' : *from;
		from += is_newline ? 4 : 1;
	}
	*path = 0;
}

int maps_is_memory(const char *path)
{
	return !strncmp(path, "/memfd:", strlen("/memfd:"));
}

static void parse_path(char *path, struct mapping *out)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path), cut = sizeof(mark) - 1;

	out->is_deleted = length > cut && !strcmp(path + length - cut, mark);
	if (out->is_deleted)
		path[length - cut] = 0;
	unescape(path);
	out->path = path;
}

/* "start-end rwxp offset major:minor inode   path", lower case hex but for
 * the inode. */
int maps_parse(char *line, struct mapping *out)
{
	const char *at = line;
	char *behind;

	*out = (struct mapping){.start = hex(&at)};
	if (*at++ != '-')
		return 0;
	out->end = hex(&at);
	if (strnlen(at, 5) < 5 || at[3] != 'x' || out->end <= out->start)
		return 0;
	at = behind_spaces(at + 5);
	out->offset = hex(&at);
	at = behind_spaces(at);
	at += strcspn(at, " ");
	out->inode = strtoull(at, &behind, 10);
	behind += strspn(behind, " ");
	if (*behind != '/') /* not a file: [vdso], a JIT's code */
		return 0;
	parse_path(behind, out);
	return 1;
}

void maps_parse_object(char *text, struct mapping *out)
{
	size_t n = strspn(text, "0123456789abcdef");

	if (!n || n >= CST_BUILD_ID_SIZE || text[n] != ' ')
		return;
	text[n] = 0;
	out->build_id = text;
	out->zero = strtoull(text + n + 1, NULL, 16);
}

int maps_next(struct maps *m, uint64_t *at, struct mapping *out)
{
	while (*at < m->size) {
		char *line = m->text + *at;
		size_t length = strcspn(line, "\n");

		line[length] = 0;
		*at += length + 1;
		if (maps_parse(line, out))
			return 1;
	}
	return 0;
}
