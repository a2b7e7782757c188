/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looks up addresses in one object file with libbfd, which reads forms of debug
 * information that libdw does not (stabs). The file is opened again when libbfd
 * has come to hold much memory for it.
 */
#include "binary.h"

/* bfd.h demands the macro of a configured package. */
#define PACKAGE "cstrace"
#define PACKAGE_VERSION CST_VERSION
#include <bfd.h>

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MUCH_MEMORY = 256 << 20 };

struct binary {
	char *path;
	int fd;
	struct stat st;
	bfd *abfd; /* NULL: not open */
	asymbol **symbols;
	int is_bad;
	size_t before; /* memory in use when it was opened */
	int has_asked, has_found;
};

static size_t memory_used(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

static void be_silent(const char *format, va_list args)
{
	(void)format;
	(void)args;
}

struct binary *binary_new(const char *path, int fd)
{
	struct binary *b = calloc(1, sizeof(*b));

	if (!b)
		return NULL;
	b->path = strdup(path);
	b->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (!b->path || b->fd < 0 || fstat(fd, &b->st)) {
		binary_free(b);
		return NULL;
	}
	return b;
}

static void binary_close(struct binary *b)
{
	if (b->abfd)
		bfd_close(b->abfd);
	free(b->symbols);
	b->abfd = NULL;
	b->symbols = NULL;
}

void binary_free(struct binary *b)
{
	if (!b)
		return;
	binary_close(b);
	if (b->fd >= 0)
		close(b->fd);
	free(b->path);
	free(b);
}

int binary_is_of(const struct binary *b, int fd)
{
	struct stat st;

	return !fstat(fd, &st) && st.st_ino == b->st.st_ino &&
	       st.st_dev == b->st.st_dev;
}

/* Its symbols tell functions that the debug information has no name for. */
static void read_symbols(struct binary *b)
{
	long size = bfd_get_symtab_upper_bound(b->abfd);

	b->symbols = size > 0 ? malloc((size_t)size) : NULL;
	if (b->symbols && bfd_canonicalize_symtab(b->abfd, b->symbols) < 0) {
		free(b->symbols);
		b->symbols = NULL;
	}
}

static int binary_open(struct binary *b)
{
	char same[64];
	int fd;

	if (b->abfd && memory_used() - b->before > MUCH_MEMORY)
		binary_close(b);
	if (b->abfd || b->is_bad)
		return !b->is_bad;
	b->is_bad = 1;
	bfd_init();
	bfd_set_error_handler(be_silent);
	b->before = memory_used();
	/* Opened by its descriptor, with an offset of its own, but under its
	 * name, by which libbfd looks for the debug file. */
	snprintf(same, sizeof(same), "/proc/self/fd/%d", b->fd);
	fd = open(same, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	b->abfd = bfd_fopen(b->path, NULL, "r", fd);
	if (!b->abfd)
		return 0;
	b->abfd->flags |= BFD_DECOMPRESS;
	if (!bfd_check_format(b->abfd, bfd_object)) {
		binary_close(b);
		return 0;
	}
	read_symbols(b);
	b->is_bad = 0;
	return 1;
}

const char *binary_take_failure(struct binary *b)
{
	if (!b->has_asked || b->has_found)
		return NULL;
	b->has_asked = 0;
	return b->path;
}

static asection *section_at(bfd *abfd, uint64_t addr)
{
	for (asection *s = abfd->sections; s; s = s->next)
		if ((bfd_section_flags(s) & SEC_ALLOC) &&
		    addr >= bfd_section_vma(s) &&
		    addr - bfd_section_vma(s) < bfd_section_size(s))
			return s;
	return NULL;
}

int binary_find(struct binary *b, uint64_t addr, struct binary_answer *out)
{
	asection *section;
	unsigned line = 0;

	*out = (struct binary_answer){0};
	b->has_asked = 1;
	if (!binary_open(b))
		return 0;
	section = section_at(b->abfd, addr);
	if (!section ||
	    !bfd_find_nearest_line(b->abfd, section, b->symbols,
				   addr - bfd_section_vma(section), &out->file,
				   &out->function, &line))
		return 0;
	out->line = line;
	b->has_found |= line != 0;
	return 1;
}
