/* SPDX-License-Identifier: MIT
 *
 * Finding the debug file of an ELF file, the way gdb does: by build-id, then
 * by .gnu_debuglink, whose checksum proves it.  Only files that are already
 * here; nobody is asked for more.
 */
#include "elf/debugfile.h"

#include <elfutils/libdwelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define DEBUG_FOLDER "/usr/lib/debug"

struct build_id {
	const uint8_t *bytes;
	size_t size;
};

static struct build_id build_id_of(Elf *elf)
{
	const void *bytes = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &bytes);

	return (struct build_id){bytes, size > 0 ? (size_t)size : 0};
}

void elf_file_build_id(const struct elf_file *f, char out[BUILD_ID_SIZE])
{
	struct build_id id = build_id_of(f->elf);

	out[0] = 0;
	for (size_t i = 0; i < id.size && 2 * i + 2 < BUILD_ID_SIZE; i++)
		snprintf(out + 2 * i, 3, "%02x", id.bytes[i]);
}

int cst_build_id(const char *path, char out[CST_BUILD_ID_SIZE])
{
	struct elf_file f;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	elf_file_build_id(&f, out);
	elf_file_close(&f);
	return 1;
}

/* 1: the same, 0: different, -1: one has none. */
static int has_same_build_id(Elf *a, Elf *b)
{
	struct build_id x = build_id_of(a), y = build_id_of(b);

	if (!x.size || !y.size)
		return -1;
	return x.size == y.size && !memcmp(x.bytes, y.bytes, x.size);
}

/* Has the file the CRC-32 of .gnu_debuglink? */
static int has_checksum(int fd, uint32_t wanted)
{
	uint8_t block[65536];
	uLong crc = 0;
	off_t at = 0;
	ssize_t n;

	while ((n = pread(fd, block, sizeof(block), at)) > 0) {
		crc = crc32_z(crc, block, (size_t)n);
		at += n;
	}
	return !n && crc == wanted;
}

/* Open path when it belongs to f: by build-id, else by checksum, which may be
 * NULL for a file that the user chose. */
static int open_matching(const struct elf_file *f, const char *path,
			 const uint32_t *checksum, struct elf_file *out)
{
	int is_same;

	if (!elf_file_open(out, elf_file_descriptor(path)))
		return 0;
	is_same = has_same_build_id(f->elf, out->elf);
	if (is_same > 0 ||
	    (is_same < 0 && (!checksum || has_checksum(out->fd, *checksum))))
		return 1;
	elf_file_close(out);
	return 0;
}

static int open_by_build_id(const struct elf_file *f, struct elf_file *out)
{
	struct build_id id = build_id_of(f->elf);
	char path[256];
	int used;

	if (id.size < 2 || id.size > 64)
		return 0;
	used = snprintf(path, sizeof(path), DEBUG_FOLDER "/.build-id/%02x/",
			id.bytes[0]);
	for (size_t i = 1; i < id.size; i++)
		used += snprintf(path + used, sizeof(path) - (size_t)used,
				 "%02x", id.bytes[i]);
	snprintf(path + used, sizeof(path) - (size_t)used, ".debug");
	return open_matching(f, path, NULL, out);
}

static int open_by_link(const struct elf_file *f, const char *path,
			struct elf_file *out)
{
	static const char *const places[] = {"%.*s/%s", "%.*s/.debug/%s",
					     DEBUG_FOLDER "%.*s/%s"};
	GElf_Word crc;
	const char *link = dwelf_elf_gnu_debuglink(f->elf, &crc);
	const char *slash = strrchr(path, '/');
	uint32_t checksum = crc;

	if (!link || !slash || strchr(link, '/'))
		return 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char name[PATH_MAX];
		int length = snprintf(name, sizeof(name), places[i],
				      (int)(slash - path), path, link);

		if (length > 0 && (size_t)length < sizeof(name) &&
		    open_matching(f, name, &checksum, out))
			return 1;
	}
	return 0;
}

int elf_file_open_debug(const struct elf_file *f, const char *path,
			const char *hint, struct elf_file *out)
{
	if (hint && open_matching(f, hint, NULL, out))
		return 1;
	return open_by_build_id(f, out) || open_by_link(f, path, out);
}
