/* SPDX-License-Identifier: MIT
 *
 * Reads .eh_frame with libdw: the CFA rule at an address, and the ranges of its
 * FDEs as the functions that no symbol names.
 */
#include "elf/cfi.h"
#include "base/array.h"
#include "elf/elffile.h"
#include "elf/x86_64.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

/* ---- the rule at an address ------------------------------------------- */

/* The register and offset of a DW_OP_breg; 0: another operation. */
static int based_on(const Dwarf_Op *op, uint64_t *reg, int64_t *offset)
{
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		*reg = op->atom - DW_OP_breg0;
		*offset = (int64_t)op->number;
		return 1;
	}
	*reg = op->number;
	*offset = (int64_t)op->number2;
	return op->atom == DW_OP_bregx;
}

static void set_rule(struct code *out, enum cfa_base base, int64_t offset)
{
	if (offset < INT32_MIN || offset > INT32_MAX)
		return;
	out->cfa_base = (uint8_t)base;
	out->cfa_offset = (int32_t)offset;
}

static void read_cfa(const Dwarf_Op *ops, size_t n, struct code *out)
{
	uint64_t reg;
	int64_t offset;

	if (!n || !based_on(&ops[0], &reg, &offset))
		return;
	if (n == 1 && reg == PROCESSOR_DWARF_SP)
		set_rule(out, CFA_SP, offset);
	else if (n == 1 && reg == PROCESSOR_DWARF_FP)
		set_rule(out, CFA_FP, offset);
	else if (n == 2 && reg == PROCESSOR_DWARF_FP &&
		 ops[1].atom == DW_OP_deref) {
		/* gcc's realigned stack: the CFA was saved below rbp. */
		set_rule(out, CFA_FP_NEAR, PROCESSOR_FRAME_HEAD);
		out->cfa_at = (int32_t)offset;
	}
}

static void read_fp(Dwarf_Frame *frame, struct code *out)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t n = 1;
	uint64_t reg;
	int64_t offset = 0;

	out->fp_rule = FP_LOST;
	if (dwarf_frame_register(frame, PROCESSOR_DWARF_FP, memory, &ops, &n))
		return;
	if (!n) {
		out->fp_rule = ops ? FP_LOST : FP_SAME;
	} else if (ops[0].atom == DW_OP_call_frame_cfa &&
		   (n == 1 || (n == 2 && ops[1].atom == DW_OP_plus_uconst))) {
		out->fp_rule = FP_AT_CFA;
		offset = n == 2 ? (int64_t)ops[1].number : 0;
	} else if (n == 1 && based_on(&ops[0], &reg, &offset) &&
		   reg == PROCESSOR_DWARF_FP) {
		out->fp_rule = FP_AT_FP;
	}
	out->fp_offset = (int32_t)offset;
}

/* A return address that is undefined marks the first frame of a stack. */
static int is_outermost(Dwarf_Frame *frame)
{
	Dwarf_Op memory[3], *ops = NULL;
	size_t n = 1;

	return !dwarf_frame_register(frame, PROCESSOR_DWARF_RETURN, memory,
				     &ops, &n) &&
	       n == 0 && ops == memory;
}

static int is_signal(Dwarf_Frame *frame)
{
	bool is_signal = false;

	dwarf_frame_info(frame, NULL, NULL, &is_signal);
	return is_signal;
}

int cfi_rule_of(Dwarf_CFI *frames, uint64_t addr, struct code *out)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t n;

	if (!frames || dwarf_cfi_addrframe(frames, addr, &frame))
		return 0;
	if (!dwarf_frame_cfa(frame, &ops, &n))
		read_cfa(ops, n, out);
	read_fp(frame, out);
	out->is_outermost = (uint8_t)is_outermost(frame);
	out->is_signal = (uint8_t)is_signal(frame);
	free(frame);
	return 1;
}

int cfi_rule(struct cfi *c, uint64_t addr, struct code *out)
{
	return cfi_rule_of(c->frames, addr, out);
}

/* ---- where the FDEs begin --------------------------------------------- */

/* .eh_frame's own bytes, in the order of the processor. */
struct cursor {
	const uint8_t *at, *end;
	uint64_t addr; /* of *at, in the file's addresses */
};

/* A fixed-size pointer of this DW_EH_PE format; 0: no such, or no room. */
static int cursor_pointer(struct cursor *c, uint8_t encoding, uint64_t *value)
{
	static const uint8_t sizes[8] = {8, 0, 2, 4, 8, 0, 0, 0};
	uint8_t size = sizes[encoding & 7];
	int is_signed = encoding & 8;
	uint64_t bits = 0;

	if (!size || (uint64_t)(c->end - c->at) < size)
		return 0;
	memcpy(&bits, c->at, size);
	if (is_signed && size < 8 && bits >> (size * 8 - 1))
		bits |= UINT64_MAX << (size * 8);
	c->at += size;
	c->addr += size;
	*value = bits;
	return 1;
}

/* How a CIE's FDEs write their addresses (R of its augmentation), or
 * DW_EH_PE_omit where we cannot read it. */
static uint8_t encoding_of(const Dwarf_CIE *cie)
{
	struct cursor c = {.at = cie->augmentation_data};
	const char *letter = cie->augmentation;
	uint64_t ignored;

	if (!letter || !*letter)
		return DW_EH_PE_absptr;
	if (*letter++ != 'z' || !c.at)
		return DW_EH_PE_omit;
	c.end = c.at + cie->augmentation_data_size;
	for (; *letter && c.at < c.end; letter++) {
		if (*letter == 'R')
			return *c.at;
		if (*letter == 'L')
			c.at++;
		else if (*letter == 'P' &&
			 !(c.at++, cursor_pointer(&c, c.at[-1], &ignored)))
			return DW_EH_PE_omit;
	}
	return *letter ? DW_EH_PE_omit : DW_EH_PE_absptr;
}

static void add_part(struct cfi *c, const Dwarf_FDE *fde, uint8_t encoding,
		     struct cursor at)
{
	uint64_t base = at.addr, start, size;
	struct range *r;

	if (encoding == DW_EH_PE_omit || encoding & DW_EH_PE_indirect ||
	    ((encoding & 0x70) && (encoding & 0x70) != DW_EH_PE_pcrel))
		return;
	at.end = fde->end;
	if (!cursor_pointer(&at, encoding, &start) ||
	    !cursor_pointer(&at, encoding & 7, &size) || !size)
		return;
	start += encoding & DW_EH_PE_pcrel ? base : 0;
	if (start + size < start ||
	    array_room(&c->parts, &c->cap_parts, c->n_parts + 1ull) < 0)
		return;
	r = &c->parts[c->n_parts++];
	r->start = start;
	r->end = start + size;
}

/* Returns the pointer encoding of the CIE at that offset of the section. */
static uint8_t encoding_at(const unsigned char *ident, Elf_Data *data,
			   Dwarf_Off at)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (dwarf_next_cfi(ident, data, true, at, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return DW_EH_PE_omit;
	return encoding_of(&entry.cie);
}

static void read_entries(struct cfi *c, const unsigned char *ident,
			 Elf_Data *data, uint64_t section_addr)
{
	Dwarf_Off at = 0, next = 0, cie_at = (Dwarf_Off)-1;
	uint8_t encoding = DW_EH_PE_omit;
	Dwarf_CFI_Entry entry;

	for (; at < data->d_size; at = next) {
		int status =
			dwarf_next_cfi(ident, data, true, at, &next, &entry);
		struct cursor addr = {0};

		if (status > 0 || next <= at)
			break;
		if (status < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			cie_at = entry.fde.CIE_pointer;
			encoding = encoding_at(ident, data, cie_at);
		}
		addr.at = entry.fde.start;
		addr.addr = section_addr +
			    (uint64_t)(addr.at - (uint8_t *)data->d_buf);
		add_part(c, &entry.fde, encoding, addr);
	}
}

static void read_parts(struct cfi *c)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section_named(c->elf, ".eh_frame", &header);
	const unsigned char *ident = (void *)elf_getident(c->elf, NULL);
	Elf_Data *data;

	if (!section || header.sh_type == SHT_NOBITS || !ident)
		return;
	data = elf_getdata(section, NULL);
	if (!data || !data->d_buf)
		return;
	read_entries(c, ident, data, header.sh_addr);
	ranges_sort(c->parts, c->n_parts, sizeof(*c->parts));
}

const struct range *cfi_part(struct cfi *c, uint64_t addr)
{
	uint32_t i;

	if (!c->has_parts)
		read_parts(c);
	c->has_parts = 1;
	i = ranges_find(c->parts, c->n_parts, sizeof(*c->parts), addr);
	return i == RANGE_NONE ? NULL : &c->parts[i];
}

/* ---- open and close ---------------------------------------------------- */

void cfi_init(struct cfi *c, Elf *elf)
{
	GElf_Ehdr header;

	*c = (struct cfi){.elf = elf};
	if (gelf_getehdr(elf, &header) &&
	    header.e_machine == PROCESSOR_ELF_MACHINE &&
	    header.e_ident[EI_CLASS] == PROCESSOR_ELF_CLASS)
		c->frames = dwarf_getcfi_elf(elf);
}

void cfi_release(struct cfi *c)
{
	if (c->frames)
		dwarf_cfi_end(c->frames);
	free(c->parts);
	*c = (struct cfi){0};
}
