/* SPDX-License-Identifier: MIT
 *
 * An open call has the place of its return address for itself, whatever thread
 * or stack it is on.  So that place is all that has to be remembered of it:
 * each 8 bytes of a stack have a word that says which function was entered last
 * with its return address there.  Calls that a jump or an exception left, and
 * calls whose ends have no patch, leave words that the next entry overwrites.
 */
#include <signal.h>
#include "core/ends_check.h"
#include "cstrace/plan_layout.h"
#include "kernel/output.h"
#include "kernel/symbols.h"
#include "kernel/syscall.h"

enum {
	REGION_SHIFT = 21, /* of addresses that share an item of `regions` */
	REGION_WORDS = 1 << (REGION_SHIFT - 3),
	N_REGIONS = 1 << 12,
	NO_RESERVE = 0x4000, /* MAP_NORESERVE */
};

int ends_are_checked;
/* Which memory the words are of, each a region's number; 0: none. */
static uint64_t regions[N_REGIONS];
static uint64_t *words; /* REGION_WORDS for each of them */

void ends_check_begin(void)
{
	long at =
		words ? 0
		      : sys_mmap(0, 8ull * REGION_WORDS * N_REGIONS,
				 PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | NO_RESERVE, -1);

	if (at <= 0)
		return;
	words = (uint64_t *)at;
	ends_are_checked = 1;
}

void ends_check_end(void)
{
	ends_are_checked = 0;
}

/* Returns the word of that place, or NULL: there are too many stacks. */
static uint64_t *word_of(uint64_t place)
{
	uint64_t number = place >> REGION_SHIFT;
	uint64_t at = (number * 0x9e3779b97f4a7c15ull) >> 32;

	for (uint64_t i = 0; i < N_REGIONS; i++) {
		uint64_t region = (at + i) % N_REGIONS, seen = 0;

		/* A handler or another thread may come in between. */
		if (__atomic_load_n(&regions[region], __ATOMIC_RELAXED) ==
			    number ||
		    __atomic_compare_exchange_n(&regions[region], &seen, number,
						0, __ATOMIC_RELAXED,
						__ATOMIC_RELAXED) ||
		    seen == number)
			return &words[region * REGION_WORDS +
				      (place >> 3) % REGION_WORDS];
	}
	return 0;
}

static void put_function(struct output *o, uint64_t address)
{
	struct symbol s;

	if (symbols_find(address, &s)) {
		output_text(o, s.name);
		output_char(o, ' ');
	}
	output_char(o, '(');
	output_hex(o, address);
	if (s.module[0]) {
		output_text(o, " in ");
		output_text(o, s.module);
	}
	output_char(o, ')');
}

/* Whatever the program does with that signal. */
__attribute__((noreturn)) static void die(void)
{
	const uint64_t action[4] = {0}, mask = 1ull << (SIGABRT - 1);

	gate_call(SYS_rt_sigaction, SIGABRT, (long)action, 0, 8, 0, 0);
	gate_call(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, 8, 0, 0);
	sys_kill(sys_getpid(), SIGABRT);
	__builtin_trap();
}

__attribute__((noreturn)) COLD static void fail(uint64_t function,
						uint64_t entered,
						uint64_t returns_at,
						uint64_t reported_at)
{
	struct output o = {.fd = 2, .n = 0};

	output_text(&o, "cstrace: a plan is wrong: ");
	put_function(&o, function);
	output_text(&o, " ends with its return address at ");
	output_hex(&o, returns_at);
	output_text(&o, ", where ");
	if (entered) {
		output_text(&o, "the open call is of ");
		put_function(&o, entered);
	} else {
		output_text(&o, "no call is open");
	}
	output_text(&o, "; reported at ");
	output_hex(&o, reported_at);
	output_char(&o, '\n');
	output_flush(&o);
	die();
}

void ends_check(uint64_t function, uint64_t returns_at, uint64_t hook,
		uint64_t reported_at)
{
	uint64_t *word = word_of(returns_at), entered;

	if (!word)
		return;
	entered = *word;
	switch (hook) {
	case CST_PATCHED_EXIT:
	case CST_PATCHED_TAIL:
	case CST_PATCHED_FRAMED_EXIT:
		if (entered != function)
			fail(function, entered, returns_at, reported_at);
		*word = 0;
		return;
	/* A file that the plan was not made for may call such a function: it
	 * has no entry then. */
	case CST_PATCHED_RETURN:
	case CST_PATCHED_PASS:
		*word = 0;
		return;
	default:
		*word = function;
	}
}
