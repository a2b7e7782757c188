/* SPDX-License-Identifier: MIT
 *
 * Finds the ELF head and the build-id note of an object in memory, which the
 * kernel reads, so that memory that is unmapped meanwhile does no harm.
 */
#include <elf.h>
#include <sys/uio.h>
#include "cstrace/plan_layout.h"
#include "kernel/buildid.h"
#include "kernel/syscall.h"

enum { MAX_NOTES = 1024 };

struct image {
	uint64_t start;
	uint64_t zero; /* where its own address 0 is */
	int fd;	       /* of /proc/self/mem; negative: it cannot be opened */
	int n;	       /* segments */
	Elf64_Ehdr head;
	Elf64_Phdr segments[CST_PLAN_MAX_SEGMENTS];
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

static char *put_bytes(const uint8_t *bytes, uint32_t size, char *out)
{
	for (uint32_t i = 0; i < size; i++)
		out = put_hex(bytes[i], out);
	*out = 0;
	return out;
}

static void put_zero(uint64_t zero, char *out)
{
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
 * exception among linkers.  Returns the end of the text, or NULL. */
static char *put_build_id(const struct image *m, const Elf64_Phdr *segment,
			  char *out)
{
	static _Alignas(8) uint8_t notes[MAX_NOTES];
	uint64_t size = segment->p_filesz;
	const Elf64_Nhdr *note;
	const uint8_t *id;

	if (segment->p_type != PT_NOTE || size > MAX_NOTES ||
	    !get(m, segment->p_offset, notes, size))
		return 0;
	note = find_note(notes, size, segment->p_align == 8 ? 8 : 4, &id);
	return note ? put_bytes(id, note->n_descsz, out) : 0;
}

static char *find_build_id(const struct image *m, char *out)
{
	char *end = 0;

	for (int i = 0; i < m->n && !end; i++)
		end = put_build_id(m, &m->segments[i], out);
	return end;
}

static void read_head(struct image *m)
{
	Elf64_Ehdr *head = &m->head;

	m->zero = m->start;
	if (!get(m, 0, head, sizeof(*head)) ||
	    *(const uint32_t *)head->e_ident != 0x464c457f ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_phentsize != sizeof(*m->segments) ||
	    head->e_phnum > CST_PLAN_MAX_SEGMENTS ||
	    !get(m, head->e_phoff, m->segments,
		 head->e_phnum * sizeof(*m->segments)))
		return;
	m->n = head->e_phnum;
	for (int i = 0; i < m->n; i++)
		if (m->segments[i].p_type == PT_LOAD &&
		    !m->segments[i].p_offset)
			m->zero = m->start - m->segments[i].p_vaddr;
}

/* Returns that of the object; image_close() is for it. */
static struct image *image_open(uint64_t start)
{
	static struct image m;

	m.start = start;
	m.n = 0;
	m.fd = sys_open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	read_head(&m);
	return &m;
}

static void image_close(const struct image *m)
{
	if (m->fd >= 0)
		sys_close(m->fd);
}

void buildid_read(uint64_t start, char out[BUILD_ID_TEXT])
{
	const struct image *m = image_open(start);
	char *end = find_build_id(m, out);

	if (end)
		put_zero(m->zero, end);
	else
		out[0] = 0;
	image_close(m);
}

/* Returns 0 if it cannot be read. */
static int add_segment(const struct image *m, const Elf64_Phdr *segment,
		       uint64_t *id)
{
	static _Alignas(8) uint8_t block[CST_PLAN_ID_BLOCK];

	for (uint64_t at = 0; at < segment->p_filesz; at += CST_PLAN_ID_BLOCK) {
		uint64_t left = segment->p_filesz - at;
		uint64_t n = left < sizeof(block) ? left : sizeof(block);

		if (!get(m, m->zero - m->start + segment->p_vaddr + at, block,
			 n))
			return 0;
		*id = cst_plan_id_more(*id, block, n);
	}
	return 1;
}

/* Returns how many segments were added, or -1: one cannot be read. */
static int add_segments(const struct image *m, uint64_t *id)
{
	int has_table = 0, n = 0;

	for (int i = 0; i < m->n; i++)
		has_table |= m->segments[i].p_type == PT_GNU_EH_FRAME;
	for (int i = 0; i < m->n; i++) {
		const Elf64_Phdr *s = &m->segments[i];

		if (!cst_plan_id_has(s->p_type, s->p_flags, has_table))
			continue;
		if (!add_segment(m, s, id))
			return -1;
		n++;
	}
	return n;
}

static void put_sum(const struct image *m, char *out)
{
	uint8_t name[CST_PLAN_ID_SIZE];
	uint64_t id = cst_plan_id_more(0, &m->head, sizeof(m->head));

	id = cst_plan_id_more(id, m->segments,
			      (uint64_t)m->n * sizeof(*m->segments));
	if (add_segments(m, &id) > 0) {
		cst_plan_id_put(id, name);
		put_bytes(name, sizeof(name), out);
	}
}

void buildid_of_plan(uint64_t start, char out[BUILD_ID_TEXT])
{
	const struct image *m = image_open(start);

	out[0] = 0;
	if (!find_build_id(m, out))
		put_sum(m, out);
	image_close(m);
}
