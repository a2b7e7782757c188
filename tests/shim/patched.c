/* SPDX-License-Identifier: MIT
 *
 * What the trampolines of patched functions call: the records are those of
 * hooks, and no register differs afterwards, whichever way the event took.  The
 * slots of borders make no records here, for no caller is in a traced file.
 */
#include <string.h>
#include "cstrace/plan_layout.h"
#include "traced.h"

enum {
	N_REGISTERS = 14,
	N_VECTORS = 16,
	N_TIMES = 3,
	N_REPORTING = CST_SLOT_BORDER_ENTER + 2, /* slots: but the border's */
	N_FIRST = N_REPORTING * N_TIMES,	 /* records */
	N_MORE = 3000,				 /* functions */
	N_EDGES = 20000,			 /* each is called twice */
	N_AFTER = 5,
	AT_EDGES = N_FIRST + N_MORE * N_TIMES,
	AT_END = AT_EDGES + N_EDGES * 2,
};

struct registers {
	uint64_t general[N_REGISTERS]; /* all but rax, rsp */
	uint64_t rax;
	unsigned char vectors[N_VECTORS][16];
};

extern const uint64_t cstrace_slots[CST_PLAN_SLOTS];

static struct mini_reader *reader;
struct registers before, after[CST_PLAN_SLOTS][N_TIMES], last, *now;
uint64_t slot, returns_at, reported;
char function[N_MORE];
uint64_t named; /* where a trampoline says that the return address is */
static struct {
	uint64_t callee, caller;
} edges[N_EDGES];

/* What a trampoline of the function of that name, at its first instruction,
 * does: with known registers all around. */
void reports(void);
void reports_framed(void);
void reports_deep(void);
void reports_named(void);
#define SAVE \
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
#define RESTORE "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
/* clang-format off */
#define EACH_GENERAL(DO) \
	DO("0", "rbx") DO("8", "rcx") DO("16", "rdx") DO("24", "rsi") \
	DO("32", "rdi") DO("48", "r8") DO("56", "r9") DO("64", "r10") \
	DO("72", "r11") DO("80", "r12") DO("88", "r13") DO("96", "r14") \
	DO("104", "r15")
#define EACH_VECTOR(DO) \
	DO("0") DO("1") DO("2") DO("3") DO("4") DO("5") DO("6") DO("7") \
	DO("8") DO("9") DO("10") DO("11") DO("12") DO("13") DO("14") DO("15")
/* clang-format on */
#define LOAD(at, name) "mov before+" at "(%rip), %" name "\n"
#define STORE(at, name) "mov %" name ", " at "(%rax)\n"
#define LOAD_VECTOR(n) "movups before+120+16*" n "(%rip), %xmm" n "\n"
#define STORE_VECTOR(n) "movups %xmm" n ", 120+16*" n "(%rax)\n"
#define REPORT                                                   \
	EACH_GENERAL(LOAD)                                       \
	EACH_VECTOR(LOAD_VECTOR)                                 \
	"mov before+112(%rip), %rax\n"                           \
	"push %rax\n"                                            \
	"mov reported(%rip), %rax\n"                             \
	"call *slot(%rip)\n"                                     \
	"pop %rax\n"                                             \
	"push %rax\n"                                            \
	"mov now(%rip), %rax\n" EACH_GENERAL(STORE)              \
		EACH_VECTOR(STORE_VECTOR) "mov %rbp, 40(%rax)\n" \
					  "pop 112(%rax)\n"
__asm__(".text\n"
	"reports_framed:\n" SAVE "call 2f\n" RESTORE "ret\n"
	"2:\n"
	"push %rbp\n"
	"mov %rsp, %rbp\n"
	"lea 8(%rsp), %rax\n"
	"mov %rax, returns_at(%rip)\n"
	"sub $72, %rsp\n" REPORT "leave\n"
	"ret\n"
	"reports_deep:\n" SAVE "call 2f\n" RESTORE "ret\n"
	"2:\n"
	"mov %rsp, returns_at(%rip)\n"
	"mov before+40(%rip), %rbp\n"
	"push returns_at(%rip)\n" REPORT "pop %rax\n"
	"ret\n"
	"reports_named:\n" SAVE "call 2f\n" RESTORE "ret\n"
	"2:\n"
	"mov before+40(%rip), %rbp\n"
	"push named(%rip)\n" REPORT "pop %rax\n"
	"ret\n"
	"reports:\n" SAVE "call 2f\n" RESTORE "ret\n"
	"2:\n"
	"mov %rsp, returns_at(%rip)\n"
	"mov before+40(%rip), %rbp\n" REPORT "ret\n");

QUIET static void prepare(void)
{
	unsigned char *p = (unsigned char *)&before;

	for (size_t i = 0; i < sizeof(before); i++)
		p[i] = (unsigned char)(i * 7 + 1);
}

static int is_framed(int s)
{
	return s == CST_SLOT_FRAMED || s == CST_SLOT_BEGUN ||
	       s == CST_SLOT_FRAMED_EXIT;
}

/* Functions of a program with a caller each, then many from one place, and some
 * with addresses that differ in one bit. */
QUIET static void choose_edges(void)
{
	for (uint64_t i = 0; i < N_EDGES; i++) {
		edges[i].callee = 0x400000 + i % 700 * 16;
		edges[i].caller = i % 3 ? 0x500000 + i * 11 : 0x600000;
		if (i % 5 == 0)
			edges[i].caller = 0x700000 + (1ull << i % 46);
		if (i % 7 == 0)
			edges[i].callee = 0x800000 + (1ull << i / 7 % 46);
	}
}

QUIET static void call_edges(void)
{
	slot = cstrace_slots[CST_SLOT_DEEP];
	for (int i = 0; i < N_EDGES * 2; i++) {
		reported = edges[i % N_EDGES].callee;
		named = (uint64_t)&edges[i % N_EDGES].caller;
		reports_named();
	}
}

/* One whose verdict is changed, then one whose code is unmapped. */
QUIET static void call_after_changes(void)
{
	volatile struct cst_control *c = shim_control();
	struct cst_area *a = reader_area(reader);
	struct cst_site *sites = (struct cst_site *)((char *)a + CST_AT_SITES);
	uint32_t last_site = a->n_sites - 1;

	reported = sites[last_site].callee;
	named = (uint64_t)&sites[last_site].caller;
	reports_named();
	a->has_verdicts = 1;
	sites[last_site].verdict = CST_MUTED;
	reports_named();
	sites[last_site].verdict = CST_RECORDED;
	reports_named();
	c->retire_start = reported;
	c->retire_end = reported + 1;
	c->retire_seq++;
	shim_mode(NULL, CST_MODE_RING);
	/* The first event after that takes another way. */
	reported = sites[last_site - 1].callee;
	named = (uint64_t)&sites[last_site - 1].caller;
	reports_named();
	reported = sites[last_site].callee;
	named = (uint64_t)&sites[last_site].caller;
	reports_named();
	reports_named();
}

QUIET static int play(void **state)
{
	(void)state;
	prepare();
	reader = reader_start(8, 0);
	reported = (uint64_t)function;
	shim_mode(reader_path(reader), CST_MODE_RING);
	for (int s = 0; s < CST_PLAN_SLOTS; s++)
		for (int i = 0; i < N_TIMES; i++) {
			slot = cstrace_slots[s];
			now = &after[s][i];
			if (is_framed(s))
				reports_framed();
			else if (s == CST_SLOT_DEEP)
				reports_deep();
			else
				reports();
		}
	slot = cstrace_slots[CST_SLOT_ENTER];
	now = &last;
	for (int i = 0; i < N_MORE * N_TIMES; i++) {
		reported = (uint64_t)&function[i % N_MORE];
		reports();
	}
	choose_edges();
	call_edges();
	call_after_changes();
	shim_mode(NULL, CST_MODE_OFF);
	slot = cstrace_slots[0];
	now = &after[0][0];
	reports();
	reader_stop(reader);
	return 0;
}

static void registers_stay(void **state)
{
	(void)state;
	for (int s = 0; s < CST_PLAN_SLOTS; s++)
		for (int i = 0; i < N_TIMES; i++) {
			/* The frame's own. */
			if (is_framed(s))
				before.general[5] = after[s][i].general[5];
			assert_memory_equal(&after[s][i], &before,
					    sizeof(before));
			prepare();
		}
}

static void records_are_as_those_of_hooks(void **state)
{
	struct stream *s = reader_my_stream(reader);

	(void)state;
	assert_int_equal(s->n, AT_END + N_AFTER);
	for (int i = 0; i < N_FIRST; i++) {
		static const uint64_t hooks[] = {
			CST_PATCHED_ENTRY,	CST_PATCHED_EXIT,
			CST_PATCHED_TAIL,	CST_PATCHED_FRAMED,
			CST_PATCHED_BEGUN,	CST_PATCHED_DEEP,
			CST_PATCHED_FRAMED_EXIT};
		static const uint16_t kinds[] = {
			CST_ENTER, CST_EXIT,  CST_EXIT, CST_ENTER,
			CST_ENTER, CST_ENTER, CST_EXIT};
		static const int slots[] = {
			CST_SLOT_ENTER,	     CST_SLOT_EXIT,  CST_SLOT_TAIL,
			CST_SLOT_FRAMED,     CST_SLOT_BEGUN, CST_SLOT_DEEP,
			CST_SLOT_FRAMED_EXIT};
		const struct cst_record *r = &s->records[i];
		const struct cst_site *site = record_site(reader, r);

		assert_int_equal(site->callee, (uint64_t)function);
		assert_int_equal(site->hook, hooks[i / N_TIMES]);
		assert_int_equal(site->kind, kinds[i / N_TIMES]);
		assert_in_range(site->caller, (uint64_t)reports_framed,
				(uint64_t)reports + 64);
		if (!is_framed(slots[i / N_TIMES])) {
			assert_int_equal(cst_record_sp(r), returns_at);
			assert_int_equal(cst_record_fp(r),
					 before.general[5] & 0xffffffffffffull);
		} else {
			assert_int_equal(cst_record_fp(r) + 8,
					 cst_record_sp(r));
		}
	}
}

/* Many share a slot of the table of sites. */
static void many_functions_have_each_its_site(void **state)
{
	struct stream *s = reader_my_stream(reader);

	(void)state;
	for (int i = 0; i < N_MORE * N_TIMES; i++) {
		const struct cst_site *site =
			record_site(reader, &s->records[N_FIRST + i]);

		assert_int_equal(site->callee, (uint64_t)&function[i % N_MORE]);
		assert_int_equal(site->hook, CST_PATCHED_ENTRY);
	}
	assert_memory_equal(&last, &before, sizeof(before));
}

static void edges_are_told_apart(void **state)
{
	struct stream *s = reader_my_stream(reader);

	(void)state;
	for (int i = 0; i < N_EDGES * 2; i++) {
		const struct cst_site *site =
			record_site(reader, &s->records[AT_EDGES + i]);

		assert_int_equal(site->callee, edges[i % N_EDGES].callee);
		assert_int_equal(site->caller, edges[i % N_EDGES].caller);
		assert_int_equal(site->hook, CST_PATCHED_DEEP);
	}
}

static void verdicts_are_obeyed_and_retired_sites_made_anew(void **state)
{
	const struct cst_record *r = reader_my_stream(reader)->records + AT_END;
	uint32_t before = cst_record_site(&r[0]);
	uint32_t after = cst_record_site(&r[3]);

	(void)state;
	assert_int_equal(cst_record_site(&r[1]), before);
	assert_int_not_equal(after, before);
	assert_int_equal(cst_record_site(&r[4]), after);
	assert_int_equal(record_site(reader, &r[3])->callee,
			 record_site(reader, &r[0])->callee);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registers_stay),
		cmocka_unit_test(records_are_as_those_of_hooks),
		cmocka_unit_test(many_functions_have_each_its_site),
		cmocka_unit_test(edges_are_told_apart),
		cmocka_unit_test(
			verdicts_are_obeyed_and_retired_sites_made_anew),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
