/* SPDX-License-Identifier: MIT
 *
 * Finds the ELF head and the build-id note of an object in memory, which the
 * kernel reads, so that memory that is unmapped meanwhile does no harm.
 */
#include <elf.h>
#include <sys/uio.h>
#include "kernel/buildid.h"
#include "kernel/syscall.h"

enum { MAX_SEGMENTS = 32, MAX_NOTES = 1024 };

struct image {
	uint64_t start;
	int fd; /* of /proc/self/mem; negative: it cannot be opened */
};

/* A process that has changed its user cannot open that, and may read itself. */
static int get(const struct image *m, uint64_t at, void *out, uint64_t size)
{
	struct iovec to = {out, size}, from = {(void *)(m->start + at), size};
	long n = m->fd < 0 ? gate_call(SYS_process_vm_readv, sys_getpid(),
				       (long)&to, 1, (long)&from, 1, 0)
			   : sys_pread(m->fd, out, size, (long)(m->start + at));

	return n == (long)size;
}

static char *put_hex(uint8_t byte, char *out)
{
	*out++ = "0123456789abcdef"[byte >> 4];
	*out++ = "0123456789abcdef"[byte & 15];
	return out;
}

static void put_both(const uint8_t *id, uint32_t size, uint64_t zero, char *out)
{
	for (uint32_t i = 0; i < size; i++)
		out = put_hex(id[i], out);
	*out++ = ' ';
	for (int shift = 56; shift >= 0; shift -= 8)
		out = put_hex((uint8_t)(zero >> shift), out);
	*out = 0;
}

static int is_build_id(const Elf64_Nhdr *note, const uint8_t *name)
{
	return note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
	       name[0] == 'G' && name[1] == 'N' && name[2] == 'U' && !name[3] &&
	       note->n_descsz <= MAX_BUILD_ID;
}

static uint64_t rounded(uint64_t size, uint64_t align)
{
	return (size + align - 1) & ~(align - 1);
}

/* NULL: it is not there. */
static const Elf64_Nhdr *find_note(const uint8_t *notes, uint64_t size,
				   uint64_t align, const uint8_t **id)
{
	const uint64_t head = sizeof(Elf64_Nhdr);

	for (uint64_t at = 0; at + head + 4 <= size;) {
		const Elf64_Nhdr *note = (const Elf64_Nhdr *)(notes + at);
		uint64_t data = at + rounded(head + note->n_namesz, align);
		uint64_t end = data + note->n_descsz;

		if (end > size)
			return 0;
		if (is_build_id(note, notes + at + head)) {
			*id = notes + data;
			return note;
		}
		at = rounded(end, align);
	}
	return 0;
}

/* The notes are in what is mapped from the file's start, as a rule without
 * exception among linkers. */
static int look_into(const struct image *m, const Elf64_Phdr *segment,
		     uint64_t zero, char *out)
{
	static _Alignas(8) uint8_t notes[MAX_NOTES];
	uint64_t size = segment->p_filesz;
	const Elf64_Nhdr *note;
	const uint8_t *id;

	if (segment->p_type != PT_NOTE || size > MAX_NOTES ||
	    !get(m, segment->p_offset, notes, size))
		return 0;
	note = find_note(notes, size, segment->p_align == 8 ? 8 : 4, &id);
	if (note)
		put_both(id, note->n_descsz, zero, out);
	return note != 0;
}

static void read_image(const struct image *m, char *out)
{
	static Elf64_Phdr segments[MAX_SEGMENTS];
	uint64_t zero = m->start;
	Elf64_Ehdr head;

	if (!get(m, 0, &head, sizeof(head)) ||
	    *(const uint32_t *)head.e_ident != 0x464c457f ||
	    head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    head.e_phentsize != sizeof(*segments) ||
	    head.e_phnum > MAX_SEGMENTS ||
	    !get(m, head.e_phoff, segments, head.e_phnum * sizeof(*segments)))
		return;
	for (int i = 0; i < head.e_phnum; i++)
		if (segments[i].p_type == PT_LOAD && !segments[i].p_offset)
			zero = m->start - segments[i].p_vaddr;
	for (int i = 0; i < head.e_phnum; i++)
		if (look_into(m, &segments[i], zero, out))
			return;
}

void buildid_read(uint64_t start, char out[BUILD_ID_TEXT])
{
	struct image m = {.start = start};

	out[0] = 0;
	m.fd = sys_open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	read_image(&m, out);
	if (m.fd >= 0)
		sys_close(m.fd);
}
