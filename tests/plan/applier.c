/* SPDX-License-Identifier: MIT
 *
 * A preloaded library that applies the plan of the file $PLAN to the program or
 * the library whose path ends with $PLAN_OF, before main.  At the end it writes
 * what it has seen to $PLAN_SEEN.  Each event is held against a stack that each
 * thread has, and some are unwound.
 */
#include "cstrace/plan_layout.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

enum { DEPTH = 1 << 16 };

struct open_call {
	uint64_t function, slot, address;
};

#define PER_THREAD static __thread __attribute__((tls_model("initial-exec")))
PER_THREAD struct open_call *open_calls; /* DEPTH of them */
PER_THREAD unsigned depth;
static _Atomic unsigned long n_entered, n_left, n_tails, n_closed, n_unmatched,
	n_unwound, n_lost;

static const struct cst_plan *plan;
static unsigned char *area;
static uint64_t bias;
static int is_single;

struct frames {
	unsigned n;
	uint64_t hook, wanted;
	int is_hook_found, is_found;
};

static _Unwind_Reason_Code see_frame(struct _Unwind_Context *c, void *arg)
{
	struct frames *f = arg;
	uint64_t ip = _Unwind_GetIP(c);

	if (f->is_hook_found) {
		f->is_found = ip == f->wanted;
		return _URC_END_OF_STACK;
	}
	f->is_hook_found = ip == f->hook;
	return f->n++ < 20 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

static void unwind(uint64_t hook, uint64_t address)
{
	struct frames f = {.hook = hook, .wanted = address};

	_Unwind_Backtrace(see_frame, &f);
	n_unwound++;
	n_lost += !f.is_found;
}

static int is_framed(uint64_t kind)
{
	return kind == CST_SLOT_FRAMED || kind == CST_SLOT_BEGUN ||
	       kind == CST_SLOT_FRAMED_EXIT;
}

__attribute__((used)) static void report(uint64_t function, uint64_t *at,
					 uint64_t kind, uint64_t *frame)
{
	uint64_t *address = kind == CST_SLOT_DEEP ? (uint64_t *)at[2]
			    : is_framed(kind)	  ? &frame[1]
						  : &at[2];
	uint64_t slot = (uint64_t)address;
	unsigned long n = n_entered + n_left;

	if (!open_calls)
		open_calls = mmap(NULL, DEPTH * sizeof(*open_calls),
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (is_single && (n < 2000 || n % 997 == 0))
		unwind(at[0], *address);
	if (kind == CST_SLOT_ENTER || kind == CST_SLOT_DEEP ||
	    (is_framed(kind) && kind != CST_SLOT_FRAMED_EXIT)) {
		n_entered++;
		while (depth && open_calls[depth - 1].slot <= slot) {
			depth--;
			n_closed++;
		}
		if (depth < DEPTH) {
			open_calls[depth].function = function;
			open_calls[depth].slot = slot;
			open_calls[depth++].address = *address;
		}
		return;
	}
	n_left++;
	n_tails += kind == CST_SLOT_TAIL;
	while (depth && open_calls[depth - 1].slot < slot) {
		depth--;
		n_closed++;
	}
	if (depth && open_calls[depth - 1].slot == slot &&
	    open_calls[depth - 1].function == function &&
	    open_calls[depth - 1].address == *address)
		depth--;
	else if (n_unmatched++ < 10)
		fprintf(stderr, "unmatched end of %lx\n", function - bias);
}

#define SLOT(name, kind)                                                    \
	void name(void);                                                    \
	__asm__(".text\n.type " #name ", @function\n" #name ":\n"           \
		".cfi_startproc\n"                                          \
		"push %rbp\n.cfi_adjust_cfa_offset 8\n"                     \
		".cfi_offset 6, -16\n"                                      \
		"mov %rsp, %rbp\n.cfi_def_cfa_register 6\n"                 \
		"push %rcx\npush %rdx\npush %rsi\npush %rdi\npush %r8\n"    \
		"push %r9\npush %r10\npush %r11\n"                          \
		"and $-64, %rsp\nsub $512, %rsp\nfxsave64 (%rsp)\n"         \
		"mov %rax, %rdi\nlea 8(%rbp), %rsi\nmov $" #kind ", %edx\n" \
		"mov (%rbp), %rcx\n"                                        \
		"call report\n"                                             \
		"fxrstor64 (%rsp)\nlea -64(%rbp), %rsp\n"                   \
		"pop %r11\npop %r10\npop %r9\npop %r8\npop %rdi\n"          \
		"pop %rsi\npop %rdx\npop %rcx\n"                            \
		"pop %rbp\n.cfi_def_cfa 7, 8\n"                             \
		"mov $0x5a5a5a5a, %eax\ncmp $-1, %eax\nret\n"               \
		".cfi_endproc\n")

SLOT(slot_enter, 0);
SLOT(slot_exit, 1);
SLOT(slot_tail, 2);
SLOT(slot_framed, 3);
SLOT(slot_deep, 8);
SLOT(slot_framed_exit, 9);

static void fail(const char *text)
{
	fprintf(stderr, "applier: %s\n", text);
	_exit(99);
}

static int find_module(struct dl_phdr_info *info, size_t size, void *arg)
{
	const char *name =
		*info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	const char *wanted = getenv("PLAN_OF");
	char real[4096];
	size_t n, m;

	(void)size;
	if (!realpath(name, real))
		return 0;
	n = strlen(real);
	m = strlen(wanted);
	if (n < m || strcmp(real + n - m, wanted))
		return 0;
	*(uint64_t *)arg = info->dlpi_addr;
	return 1;
}

/* Below the module or above it, wherever there is room. */
static void map_area(void)
{
	uint64_t size = plan->area_size,
		 wanted = bias + (uint64_t)plan->area_at;

	for (int i = 0; i < 30000; i++) {
		uint64_t d = (uint64_t)(i / 2) << 16;
		uint64_t at = i % 2 ? wanted + d : wanted - d;

		if (getenv("PLAN_ELSEWHERE"))
			at -= 1 << 24;
		if (at > 1ull << 47)
			continue;
		area = mmap((void *)at, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
			    -1, 0);
		if (area == (unsigned char *)at)
			return;
		if (area != MAP_FAILED)
			munmap(area, size);
	}
	fail("no room for the area");
}

static void fill_area(void)
{
	const uint32_t *moves = cst_plan_at(plan, &plan->moves);
	uint32_t by =
		(uint32_t)((uint64_t)area - bias - (uint64_t)plan->area_at);
	uint64_t slots[CST_PLAN_SLOTS] = {
		[CST_SLOT_ENTER] = (uint64_t)slot_enter,
		[CST_SLOT_EXIT] = (uint64_t)slot_exit,
		[CST_SLOT_TAIL] = (uint64_t)slot_tail,
		[CST_SLOT_FRAMED] = (uint64_t)slot_framed,
		[CST_SLOT_BEGUN] = (uint64_t)slot_framed,
		[CST_SLOT_DEEP] = (uint64_t)slot_deep,
		[CST_SLOT_FRAMED_EXIT] = (uint64_t)slot_framed_exit};

	memcpy(area, cst_plan_at(plan, &plan->area), plan->area_size);
	memcpy(area, slots, sizeof(slots));
	for (uint32_t i = 0; i < plan->moves.n; i++) {
		uint32_t value;

		memcpy(&value, area + moves[i], 4);
		value -= by;
		memcpy(area + moves[i], &value, 4);
	}
	mprotect(area + plan->code_at, plan->code_size, PROT_READ | PROT_EXEC);
}

static void patch(void)
{
	const struct cst_patch *patches = cst_plan_at(plan, &plan->patches);
	uint32_t by =
		(uint32_t)((uint64_t)area - bias - (uint64_t)plan->area_at);
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < plan->patches.n; i++) {
		if (patches[i].address < low)
			low = patches[i].address;
		high = patches[i].address + 16;
	}
	low = (bias + low) & -4096ull;
	high = (bias + high + 4095) & -4096ull;
	if (!plan->patches.n)
		return;
	if (mprotect((void *)low, high - low, 7))
		fail("mprotect");
	for (uint32_t i = 0; i < plan->patches.n; i++) {
		struct cst_patch p = patches[i];
		unsigned char *at = (unsigned char *)(bias + p.address);
		uint32_t value;

		if (memcmp(at, p.old_bytes, p.length))
			fail("other bytes");
		if (p.moved) {
			memcpy(&value, p.new_bytes + p.moved, 4);
			value += by;
			memcpy(p.new_bytes + p.moved, &value, 4);
		}
		memcpy(at, p.new_bytes, p.length);
	}
	mprotect((void *)low, high - low, 5);
}

extern void __register_frame(void *);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("PLAN");
	struct stat st;
	int fd;

	bias = 1;
	if (!path)
		return;
	dl_iterate_phdr(find_module, &bias);
	if (bias == 1)
		return; /* a child that runs something else */
	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		fail("no plan");
	plan = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (plan == MAP_FAILED ||
	    !cst_plan_is_valid(plan, (uint64_t)st.st_size))
		fail("damaged plan");
	map_area();
	fill_area();
	is_single = getenv("PLAN_UNWINDS") != NULL;
	if (is_single)
		__register_frame(area + plan->frames_at);
	patch();
}

__attribute__((destructor)) static void end(void)
{
	const char *seen = getenv("PLAN_SEEN");
	FILE *f = seen && plan ? fopen(seen, "w") : NULL;

	if (!f)
		return;
	fprintf(f,
		"{\"entered\": %lu, \"left\": %lu, \"tails\": %lu, "
		"\"closed\": %lu, \"unmatched\": %lu, \"unwound\": %lu, "
		"\"lost\": %lu, \"open\": %u}\n",
		n_entered, n_left, n_tails, n_closed, n_unmatched, n_unwound,
		n_lost, depth);
	fclose(f);
}
