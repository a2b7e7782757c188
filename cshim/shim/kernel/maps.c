/* SPDX-License-Identifier: MIT
 *
 * Lines of /proc/self/maps: "start-end rwxp offset device inode  path".
 */
#include "kernel/maps.h"
#include "kernel/syscall.h"

int maps_open(struct maps *l)
{
	l->at = l->size = 0;
	l->fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	return l->fd;
}

void maps_close(struct maps *l)
{
	sys_close(l->fd);
}

static void fill(struct maps *l)
{
	uint32_t kept = l->size - l->at;
	long n;

	for (uint32_t i = 0; i < kept; i++)
		l->buffer[i] = l->buffer[l->at + i];
	l->at = 0;
	l->size = kept;
	n = sys_read(l->fd, l->buffer + kept, MAPS_BUFFER_SIZE - kept);
	if (n > 0)
		l->size += (uint32_t)n;
}

static uint32_t line_end(const struct maps *l)
{
	uint32_t i = l->at;

	while (i < l->size && l->buffer[i] != '\n')
		i++;
	return i;
}

char *maps_next(struct maps *l)
{
	uint32_t end = line_end(l);
	char *line;

	if (end == l->size) {
		fill(l);
		end = line_end(l);
	}
	if (end == l->size)
		return 0;
	line = l->buffer + l->at;
	l->buffer[end] = 0;
	l->at = end + 1;
	return line;
}

static uint64_t number(const char **text, uint64_t base)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value * base + (uint64_t)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			value = value * base + (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

static const char *behind(const char *text, char c)
{
	while (*text && *text != c)
		text++;
	while (*text == c)
		text++;
	return text;
}

int maps_parse(const char *line, struct maps_entry *out)
{
	int is_code;

	*out = (struct maps_entry){.path = ""};
	out->start = number(&line, 16);
	if (*line++ != '-')
		return 0;
	out->end = number(&line, 16);
	for (int i = 0; i < 3; i++) /* the space, r and w */
		if (!*line++)
			return 0;
	is_code = *line == 'x';
	line = behind(line, ' ');
	out->offset = number(&line, 16);
	line = behind(behind(line, ' '), ' ');
	out->inode = number(&line, 10);
	out->path = behind(line, ' ');
	return is_code;
}
