/* SPDX-License-Identifier: MIT */
#include "file/block.h"

#include <pthread.h>

static uint32_t crc_table[256];
static pthread_once_t crc_once = PTHREAD_ONCE_INIT;

static void crc_table_fill(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
		crc_table[i] = c;
	}
}

uint32_t block_crc(const uint8_t *p, size_t n)
{
	uint32_t c = UINT32_MAX;

	pthread_once(&crc_once, crc_table_fill);
	for (size_t i = 0; i < n; i++)
		c = crc_table[(c ^ p[i]) & 0xff] ^ c >> 8;
	return ~c;
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
		return -1;
	out->kind = get_u32(in + 4);
	out->info_size = get_u32(in + 8);
	out->data_size = get_u32(in + 12);
	out->info_crc = get_u32(in + 16);
	if (out->info_size > BLOCK_INFO_MAX || out->data_size > BLOCK_DATA_MAX)
		return -1;
	return 0;
}
