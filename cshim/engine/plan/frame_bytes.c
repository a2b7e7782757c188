/* SPDX-License-Identifier: MIT
 *
 * LEB128 and encoded pointers.
 */
#include "plan/frame_bytes.h"

#include <dwarf.h>

int64_t frame_signed(struct cursor *c)
{
	uint64_t value = 0;
	uint32_t shift = 0;
	uint8_t byte;

	do {
		byte = cursor_byte(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	if (shift < 64 && byte & 64)
		value |= ~0ull << shift;
	return (int64_t)value;
}

uint64_t frame_number(struct cursor *c, uint32_t size)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < size; i++)
		value |= (uint64_t)cursor_byte(c) << 8 * i;
	return value;
}

uint64_t frame_pointer(struct cursor *c, uint8_t encoding, uint64_t addr)
{
	uint64_t value = 0;

	switch (encoding & 15) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = frame_number(c, 8);
		break;
	case DW_EH_PE_uleb128:
		value = cursor_varint(c);
		break;
	case DW_EH_PE_sleb128:
		value = (uint64_t)frame_signed(c);
		break;
	case DW_EH_PE_udata2:
		value = frame_number(c, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)frame_number(c, 2);
		break;
	case DW_EH_PE_udata4:
		value = frame_number(c, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)frame_number(c, 4);
		break;
	default:
		c->failed = 1;
	}
	switch (encoding & 0x70) {
	case 0:
		return value;
	case DW_EH_PE_pcrel:
		return value + addr;
	default:
		c->failed = 1;
		return value;
	}
}

void frame_put_signed(struct bytes *b, int64_t value)
{
	uint64_t left = (uint64_t)value, sign = value < 0 ? ~0ull : 0;
	uint8_t byte;
	int is_last;

	do {
		byte = (uint8_t)(left & 127);
		left = left >> 7 | sign << 57;
		is_last = left == sign && (byte >> 6 & 1) == (sign & 1);
		bytes_put_byte(b, is_last ? byte : byte | 128);
	} while (!is_last);
}

void frame_put_unsigned(struct bytes *b, uint64_t value)
{
	bytes_put_varint(b, value);
}
