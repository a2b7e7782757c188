/* SPDX-License-Identifier: MIT
 *
 * The dynamic linker calls an empty function of its own whenever it has mapped
 * or unmapped libraries, for debuggers to have a breakpoint there
 * (r_debug.r_brk).  Nothing else of it is called between the mapping of a
 * library and its first constructor.  A jump to us is written over that
 * function, and the padding behind it: before other threads have been begun, or
 * by a debugger that sees that none is in there.
 */
#include "libc/opened.h"
#include "cstrace/attach.h"
#include <link.h>
#include "core/patches.h"
#include "kernel/all_objects.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

static const struct r_debug *linkers;
static int are_seen;
static uint32_t is_reported;

void opened_now(void)
{
	if (patches_are_on() && linkers->r_state == RT_CONSISTENT)
		patches_look();
}

extern HIDDEN char opened_notice[];
PASSED_FUNCTION(opened_notice, opened_now, "ret");
__asm__(".hidden opened_notice");

/* Returns the length of an instruction that compilers pad functions with, or
 * 0. */
static uint32_t padding_length(const uint8_t *at)
{
	static const uint8_t lengths[] = {
		[0x00] = 3, [0x40] = 4, [0x44] = 5, [0x80] = 7, [0x84] = 8};
	uint32_t n = 0;

	while (at[n] == 0x66 || at[n] == 0x2e)
		n++;
	if (at[n] == 0x90 || at[n] == 0xcc)
		return n + 1;
	if (at[n] != 0x0f || at[n + 1] != 0x1f || at[n + 2] > 0x84 ||
	    !lengths[at[n + 2]])
		return 0;
	return n + lengths[at[n + 2]];
}

/* Is it a function that returns at once, with room for a jump of size bytes? */
static int is_empty(const uint8_t *at, uint32_t size)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint32_t n = 0, length = 1;

	while (n < 4 && at[n] == endbr64[n])
		n++;
	if (n % 4 || at[n++] != 0xc3)
		return 0;
	for (; length && n < size; n += length)
		length = padding_length(at + n);
	return n >= size;
}

/* jmp *0(%rip), and the address. */
static int lead(uint64_t function)
{
	uint8_t jump[14] = {0xff, 0x25};
	uint64_t to = (uint64_t)opened_notice;
	int fd, is_done;

	if (!is_empty((const uint8_t *)function, sizeof(jump)))
		return 0;
	for (int i = 0; i < 8; i++)
		jump[6 + i] = (uint8_t)(to >> 8 * i);
	fd = sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return 0;
	is_done = sys_pwrite(fd, jump, sizeof(jump), (long)function) ==
		  sizeof(jump);
	sys_close(fd);
	return is_done;
}

void opened_later(void)
{
	if (patches_are_on() && !are_seen &&
	    !__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED))
		patches_refuse("libraries that it opens are not seen, for its "
			       "dynamic linker is another than libc's");
}

static int find_linkers(void)
{
	linkers = linkers_debug();
	return linkers && linkers->r_brk;
}

EXPORT uint64_t cstrace_tell_opened(uint64_t *to)
{
	if (!find_linkers())
		return 0;
	patches_tell();
	are_seen = 1;
	*to = (uint64_t)opened_notice;
	return linkers->r_brk;
}

void opened_begin(void)
{
	if (!patches_are_on())
		return;
	are_seen = find_linkers() &&
		   (patches_lead(linkers->r_brk, (uint64_t)opened_notice) ||
		    lead(linkers->r_brk));
}
