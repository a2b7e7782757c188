/* SPDX-License-Identifier: MIT
 *
 * A program that unwinds stacks with libunwind itself, as the sampler does in
 * its handler: argv[1] times.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libunwind.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In no header, but exported. */
int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
		 unw_proc_info_t *, int,
		 void *) __asm__("_Ux86_64_dwarf_search_unwind_table");

static int find_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *out,
		     int need, void *arg)
{
	struct dl_find_object object;
	unw_dyn_info_t info;
	char *head;

	if (_dl_find_object((void *)ip, &object) || !object.dlfo_eh_frame)
		return -UNW_ENOINFO;
	head = object.dlfo_eh_frame;
	memset(&info, 0, sizeof(info));
	info.start_ip = (unw_word_t)object.dlfo_map_start;
	info.end_ip = (unw_word_t)object.dlfo_map_end;
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = (unw_word_t)head;
	info.u.rti.table_data = (unw_word_t)head + 12;
	info.u.rti.table_len = *(uint32_t *)(head + 8);
	return search_table(as, ip, &info, out, need, arg);
}

static void put_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as, (void)info, (void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *out, void *arg)
{
	(void)as, (void)out, (void)arg;
	return -UNW_ENOINFO;
}

static int read_memory(unw_addr_space_t as, unw_word_t at, unw_word_t *value,
		       int is_write, void *arg)
{
	(void)as, (void)is_write, (void)arg;
	memcpy(value, (const void *)at, sizeof(*value));
	return 0;
}

static int read_register(unw_addr_space_t as, unw_regnum_t number,
			 unw_word_t *value, int is_write, void *arg)
{
	const unw_word_t *frame = arg;

	(void)as, (void)is_write;
	*value = number == UNW_X86_64_RIP   ? frame[1]
		 : number == UNW_X86_64_RBP ? frame[0]
					    : (unw_word_t)(frame + 2);
	return 0;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_info,
	.put_unwind_info = put_info,
	.get_dyn_info_list_addr = no_list,
	.access_mem = read_memory,
	.access_reg = read_register,
};

__attribute__((noinline)) static int step_once(unw_addr_space_t space)
{
	unw_cursor_t cursor;

	return unw_init_remote(&cursor, space, __builtin_frame_address(0)) ==
		       0 &&
	       unw_step(&cursor) > 0;
}

int main(int argc, char **argv)
{
	unw_addr_space_t space = unw_create_addr_space(&accessors, 0);
	long n = argc > 1 ? atol(argv[1]) : 1000, done = 0;

	unw_set_caching_policy(space, UNW_CACHE_NONE);
	for (long i = 0; i < n; i++)
		done += step_once(space);
	printf("%ld of %ld\n", done, n);
	return 0;
}
