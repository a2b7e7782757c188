/* SPDX-License-Identifier: MIT
 *
 * What is certain to be there: the readable segments of the program's file,
 * which nothing unloads; and the calling thread's stack from the lowest address
 * at which it was found in use, once the kernel has answered that each page
 * from there on can be read.
 */
#include "core/readable.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include "core/area.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

enum {
	MAX_SEGMENTS = 8,
	MAX_VECTOR = 512, /* bytes of /proc/self/auxv */
	PAGE = READABLE_PAGE,
	PROBE_PAGES = 32,	/* that are asked for at once */
	STACK_BYTES = 64 << 20, /* a stack may be this large */
	ADDRESS_BITS = 47,
};

struct range {
	uint64_t start, end;
};

static struct range segments[MAX_SEGMENTS];
static uint32_t n_segments;
static uint64_t main_stack_end; /* something that lies above all its frames */
static uint32_t is_known;

__thread struct readable_stack readable_stack
	__attribute__((tls_model("initial-exec")));

/* ---- the program's file ----------------------------------------------------
 */

static void take_segments(const Elf64_Phdr *p, uint64_t n)
{
	uint64_t bias = 0;
	uint32_t found = 0;

	for (uint64_t i = 0; i < n; i++)
		if (p[i].p_type == PT_PHDR)
			bias = (uint64_t)p - p[i].p_vaddr;
	for (uint64_t i = 0; i < n && found < MAX_SEGMENTS; i++)
		if (p[i].p_type == PT_LOAD && p[i].p_flags & PF_R)
			segments[found++] = (struct range){
				bias + p[i].p_vaddr,
				bias + p[i].p_vaddr + p[i].p_memsz,
			};
	__atomic_store_n(&n_segments, found, __ATOMIC_RELEASE);
}

/* Threads that do this at once find the same. */
static COLD void learn(void)
{
	Elf64_auxv_t vector[MAX_VECTOR / sizeof(Elf64_auxv_t)];
	int fd = sys_open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
	const Elf64_Phdr *headers = NULL;
	uint64_t n_headers = 0;
	long got = -1;

	if (fd >= 0) {
		got = sys_read(fd, vector, sizeof(vector));
		sys_close(fd);
	}
	for (long i = 0; fd >= 0 && i < got / (long)sizeof(*vector); i++) {
		if (vector[i].a_type == AT_PHDR)
			headers = (const Elf64_Phdr *)vector[i].a_un.a_val;
		else if (vector[i].a_type == AT_PHNUM)
			n_headers = vector[i].a_un.a_val;
		else if (vector[i].a_type == AT_RANDOM)
			main_stack_end = vector[i].a_un.a_val;
	}
	if (headers)
		take_segments(headers, n_headers);
	__atomic_store_n(&is_known, 1, __ATOMIC_RELEASE);
}

/* How many of n bytes lie in the range, from `from` on. */
static uint64_t within(const struct range *r, uint64_t from, uint64_t n)
{
	if (from - r->start >= r->end - r->start)
		return 0;
	return r->end - from < n ? r->end - from : n;
}

/* ---- the kernel ------------------------------------------------------------
 */

static long vm_read(const struct iovec *to, const struct iovec *from, long n)
{
	uint32_t process = state_page.process;

	if (!process)
		return -1;
	return gate_call(SYS_process_vm_readv,
			 (long)area_process(process - 1)->pid, (long)to, 1,
			 (long)from, n, 0);
}

/* For sandboxes that forbid the former: the kernel reads the set of signals
 * before it refuses a change that there is not. */
static int is_page_there(uint64_t addr)
{
	return gate_call(SYS_rt_sigprocmask, -1, (long)addr, 0, 8, 0, 0) ==
	       -EINVAL;
}

/* How many of n pages can be read, up to the first one that cannot. */
static uint32_t pages_there(uint64_t start, uint32_t n)
{
	struct iovec from[PROBE_PAGES];
	uint8_t bytes[PROBE_PAGES];
	struct iovec to = {bytes, n};
	uint32_t i;
	long got;

	for (i = 0; i < n; i++)
		from[i] = (struct iovec){(void *)(start + i * PAGE), 1};
	got = vm_read(&to, from, n);
	if (got > 0)
		return (uint32_t)got;
	for (i = 0; i < n && is_page_there(start + i * PAGE); i++)
		;
	return i;
}

/* Returns the first page of [start, end) that cannot be read, or end. */
static uint64_t probe(uint64_t start, uint64_t end)
{
	uint64_t n = PROBE_PAGES, there = n;

	for (; start < end && there == n; start += there * PAGE) {
		if (end - start < PROBE_PAGES * PAGE)
			n = (end - start + PAGE - 1) / PAGE;
		there = pages_there(start, (uint32_t)n);
	}
	return start < end ? start : end;
}

/* ---- the stack -------------------------------------------------------------
 */

/* What of the thread's stack is cut off from its end: a coroutine's, which lies
 * below.  It is not asked for again and again. */
static __thread struct range cut_off __attribute__((tls_model("initial-exec")));

/* What lies above all frames of the thread's stack, if that is what sp is on;
 * or 0. */
static uint64_t stack_end(uint64_t sp)
{
	uint64_t libcs = thread_pointer();

	if (libcs - sp < STACK_BYTES)
		return libcs;
	return main_stack_end - sp < STACK_BYTES ? main_stack_end : 0;
}

/* Makes readable_stack reach down to our own frame, if that is on the same one.
 * A handler may come between: whatever it sets, that part is there.  A
 * guest may have its maker's thread data at the same time as that. */
static COLD void stack_reach(void)
{
	struct readable_stack *s = &readable_stack;
	uint64_t low = own_sp() & -(uint64_t)PAGE, end = stack_end(low), got;

	if (!end || state_page.has_guests || (s->room && s->end != end) ||
	    low - cut_off.start < cut_off.end - cut_off.start)
		return;
	if (s->room && s->start <= low)
		return;
	got = probe(low, s->room ? s->start : end);
	if (got < (s->room ? s->start : end)) {
		cut_off = (struct range){low, got};
		return;
	}
	s->end = end;
	s->start = low;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->room = end - low - sizeof(uint64_t);
	s->near_size = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	s->near_start = low + READABLE_NEAR;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (end - low > 2 * READABLE_NEAR)
		s->near_size = end - low - 2 * READABLE_NEAR;
}

void readable_look(void)
{
	if (unlikely(!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)))
		learn();
	if (!readable_stack.room)
		stack_reach();
}

/* How many of n bytes from `from` on are there for certain. */
static uint32_t known_at(uint64_t sp, uint64_t from, uint32_t n)
{
	const struct readable_stack *s = &readable_stack;
	uint64_t has;

	if (from >= sp && from - sp < STACK_BYTES &&
	    unlikely(from - s->start > s->room))
		stack_reach();
	has = s->room ? within(&(struct range){s->start, s->end}, from, n) : 0;
	if (!has)
		has = within(&(struct range){own_sp(), readable_page_end(sp)},
			     from, n);
	for (uint32_t i = 0;
	     !has && i < __atomic_load_n(&n_segments, __ATOMIC_RELAXED); i++)
		has = within(&segments[i], from, n);
	return (uint32_t)has;
}

static int is_address(uint64_t from, uint32_t n)
{
	return from >= PAGE && !((from + n) >> ADDRESS_BITS);
}

uint32_t readable_at_once(uint64_t sp, uint64_t from, uint32_t n)
{
	if (!is_address(from, n))
		return 0;
	if (unlikely(!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)))
		learn();
	return known_at(sp, from, n);
}

/* ---- all other memory ------------------------------------------------------
 */

/* libc's word, which is 0 as soon as there may be a second thread. */
extern char __libc_single_threaded __attribute__((weak));

/* Nobody but this thread could unmap what it has found to be there. */
static int is_alone(void)
{
	return &__libc_single_threaded && __libc_single_threaded &&
	       !state_page.has_guests;
}

/* To ask whether a page is there takes an eighth of what it takes to have the
 * kernel copy from it. */
static uint32_t copy_pages(uint8_t *to, uint64_t from, uint32_t n)
{
	uint64_t page = from & -(uint64_t)PAGE, end = from + n;

	for (; page < end && is_page_there(page); page += PAGE)
		;
	if (page <= from)
		return 0;
	n = (uint32_t)((page < end ? page : end) - from);
	copy_bytes(to, from, n);
	return n;
}

uint32_t readable_copy(uint64_t sp, void *to, uint64_t from, uint32_t n)
{
	struct iovec ours = {to, n}, its = {(void *)from, n};
	uint32_t has = readable_at_once(sp, from, n);
	long got = 0;

	if (has == n) {
		copy_bytes(to, from, n);
		return n;
	}
	if (is_address(from, n))
		got = is_alone() ? copy_pages(to, from, n)
				 : vm_read(&ours, &its, 1);
	if (got >= (long)has)
		return (uint32_t)got;
	copy_bytes(to, from, has);
	return has;
}
