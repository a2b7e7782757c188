/* SPDX-License-Identifier: MIT
 *
 * Reads .eh_frame: its CIEs and FDEs, and the landing pads that an FDE's
 * language data has.
 */
#include "plan/frames.h"
#include "base/array.h"
#include "base/bytes.h"
#include "base/search.h"
#include "plan/frame_bytes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

struct reader {
	struct frames *frames;
	const struct image *image;
	const uint8_t *bytes; /* of .eh_frame */
	uint64_t addr, size;
};

/* ---- CIEs ---------------------------------------------------------------- */

static void read_augmentation(struct frame_cie *cie, const char *text,
			      struct cursor *c)
{
	for (; *text && !c->failed; text++) {
		if (*text == 'R') {
			cie->pointers = cursor_byte(c);
		} else if (*text == 'L') {
			cie->lsda_pointers = cursor_byte(c);
		} else if (*text == 'P') {
			frame_pointer(c, cursor_byte(c) & 15, 0);
		} else if (*text != 'B') {
			cie->is_usual = 0; /* 'S': of a signal handler */
			return;
		}
	}
}

static int read_cie(struct frame_cie *cie, struct cursor *c)
{
	uint8_t version = cursor_byte(c);
	const char *text = (const char *)c->p;
	const uint8_t *zero = memchr(c->p, 0, (size_t)(c->end - c->p));
	uint64_t size;

	if ((version != 1 && version != 3) || !zero)
		return 0;
	c->p = zero + 1;
	cie->is_usual = 1;
	cie->lsda_pointers = DW_EH_PE_omit;
	cie->code_factor = cursor_varint(c);
	cie->data_factor = frame_signed(c);
	if ((version == 1 ? cursor_byte(c) : cursor_varint(c)) != FRAME_RETURN)
		cie->is_usual = 0;
	if (*text == 'z') {
		cie->is_sized = 1;
		size = cursor_varint(c);
		if (c->failed || size > (uint64_t)(c->end - c->p))
			return 0;
		zero = c->p + size;
		read_augmentation(cie, text + 1, c);
		c->p = zero;
	} else if (*text) {
		return 0;
	}
	cie->program = c->p;
	cie->program_end = c->end;
	return !c->failed;
}

/* Returns the index of the CIE at that offset, or -1. */
static int64_t find_cie(struct reader *r, uint64_t offset)
{
	struct frames *f = r->frames;
	struct frame_cie *cie;
	struct cursor c;
	uint32_t length;

	for (uint32_t i = f->n_cies; i-- > 0;)
		if (f->cies[i].offset == offset)
			return i;
	if (offset > r->size || r->size - offset < 8)
		return -1;
	length = get_u32(r->bytes + offset);
	if (length < 4 || length > r->size - offset - 4 ||
	    get_u32(r->bytes + offset + 4))
		return -1;
	if (array_room(&f->cies, &f->cap_cies, f->n_cies + 1ull))
		return -1;
	cie = &f->cies[f->n_cies];
	*cie = (struct frame_cie){.offset = offset};
	c = (struct cursor){r->bytes + offset + 8,
			    r->bytes + offset + 4 + length, 0};
	return read_cie(cie, &c) ? (int64_t)f->n_cies++ : -1;
}

/* ---- FDEs ---------------------------------------------------------------- */

static uint64_t address_of(const struct reader *r, const uint8_t *at)
{
	return r->addr + (uint64_t)(at - r->bytes);
}

static void read_lsda(struct reader *r, struct frame *frame,
		      const struct frame_cie *cie, struct cursor *c)
{
	uint64_t size = cursor_varint(c);
	const uint8_t *next = c->p + size;

	if (c->failed || size > (uint64_t)(c->end - c->p)) {
		c->failed = 1;
		return;
	}
	if (cie->lsda_pointers != DW_EH_PE_omit && size >= 4 &&
	    get_u32(c->p) != 0)
		frame->lsda = frame_pointer(c, cie->lsda_pointers,
					    address_of(r, c->p));
	c->p = next;
}

static int read_fde(struct reader *r, uint64_t offset, uint32_t length)
{
	const uint8_t *at = r->bytes + offset + 4;
	struct cursor c = {at + 4, at + length, 0};
	int64_t index = find_cie(r, offset + 4 - get_u32(at));
	struct frames *f = r->frames;
	const struct frame_cie *cie;
	struct frame frame = {0};

	if (index < 0)
		return 0;
	cie = &f->cies[index];
	frame.cie = (uint32_t)index;
	frame.start = frame_pointer(&c, cie->pointers, address_of(r, c.p));
	frame.end = frame.start + frame_pointer(&c, cie->pointers & 15, 0);
	if (cie->is_sized)
		read_lsda(r, &frame, cie, &c);
	frame.program = c.p;
	frame.program_end = c.end;
	if (c.failed || frame.end <= frame.start ||
	    frame.start < r->image->code_start ||
	    frame.end > r->image->code_end)
		return 0;
	if (array_room(&f->all, &f->cap, f->n + 1ull))
		return CST_MEMORY;
	f->all[f->n++] = frame;
	return 0;
}

static int read_all(struct reader *r)
{
	uint64_t offset = 0;

	while (r->size - offset >= 8) {
		uint32_t length = get_u32(r->bytes + offset);

		if (!length) { /* crtend's; more may follow in theory only */
			offset += 4;
			continue;
		}
		if (length < 4 || length > r->size - offset - 4)
			break;
		if (get_u32(r->bytes + offset + 4) && length >= 8 &&
		    read_fde(r, offset, length) == CST_MEMORY)
			return CST_MEMORY;
		offset += 4 + length;
	}
	return 0;
}

static int compare_frames(const void *a, const void *b)
{
	const struct frame *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Two that overlap cannot both be true. */
static void drop_overlaps(struct frames *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (!n || f->all[i].start >= f->all[n - 1].end)
			f->all[n++] = f->all[i];
	f->n = n;
}

int frames_init(struct frames *f, const struct image *im)
{
	struct reader r = {.frames = f, .image = im};
	GElf_Shdr header;
	int status;

	*f = (struct frames){0};
	if (!elf_file_section_named(im->file.elf, ".eh_frame", &header))
		return 0;
	r.addr = header.sh_addr;
	r.bytes = image_bytes(im, r.addr, &r.size);
	if (!r.bytes)
		return 0;
	status = read_all(&r);
	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), compare_frames);
	drop_overlaps(f);
	return status;
}

void frames_release(struct frames *f)
{
	free(f->all);
	free(f->cies);
	*f = (struct frames){0};
}

const struct frame *frames_at(const struct frames *f, uint64_t addr)
{
	uint32_t n = search_while(i, f->n, f->all[i].start <= addr);

	return n && addr < f->all[n - 1].end ? &f->all[n - 1] : NULL;
}

/* ---- landing pads -------------------------------------------------------- */

void frames_landing_pads(const struct image *im, const struct frame *frame,
			 void (*mark)(void *context, uint64_t addr),
			 void *context)
{
	uint64_t n = 0, base = frame->start, pad, size;
	const uint8_t *bytes = image_bytes(im, frame->lsda, &n);
	struct cursor c = {bytes, bytes, 0};
	uint8_t encoding;

	if (!frame->lsda || !bytes)
		return;
	c.end += n;
	encoding = cursor_byte(&c);
	if (encoding != DW_EH_PE_omit)
		base = frame_pointer(&c, encoding,
				     frame->lsda + (uint64_t)(c.p - bytes));
	encoding = cursor_byte(&c);
	if (encoding != DW_EH_PE_omit)
		cursor_varint(&c);
	encoding = cursor_byte(&c) & 15;
	size = cursor_varint(&c);
	if (c.failed || size > (uint64_t)(c.end - c.p))
		return;
	c.end = c.p + size;
	while (c.p < c.end && !c.failed) {
		frame_pointer(&c, encoding, 0);
		frame_pointer(&c, encoding, 0);
		pad = frame_pointer(&c, encoding, 0);
		cursor_varint(&c);
		if (pad && !c.failed)
			mark(context, base + pad);
	}
}
