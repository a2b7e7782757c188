/* SPDX-License-Identifier: MIT
 *
 * Writes and reads the heads of a trace file's blocks, and computes their
 * checksum.
 */
#include "file/block.h"
#include "base/error.h"

#include <zlib.h>

uint32_t block_crc(const uint8_t *p, size_t n)
{
	return (uint32_t)crc32_z(0, p, n);
}

void block_head_put(const struct block_head *head, uint8_t out[BLOCK_HEAD])
{
	put_u32(out, BLOCK_MARK);
	put_u32(out + 4, head->kind);
	put_u32(out + 8, head->info_size);
	put_u32(out + 12, head->data_size);
	put_u32(out + 16, head->info_crc);
	put_u32(out + 20, block_crc(out, 20));
}

int block_head_get(const uint8_t in[BLOCK_HEAD], struct block_head *out)
{
	if (get_u32(in) != BLOCK_MARK || get_u32(in + 20) != block_crc(in, 20))
		return CST_BAD_FILE;
	out->kind = get_u32(in + 4);
	out->info_size = get_u32(in + 8);
	out->data_size = get_u32(in + 12);
	out->info_crc = get_u32(in + 16);
	if (out->info_size > BLOCK_INFO_MAX || out->data_size > BLOCK_DATA_MAX)
		return CST_BAD_FILE;
	return 0;
}
