/* SPDX-License-Identifier: MIT
 *
 * What is certain to be there: the readable segments of the program's file,
 * which nothing unloads; and the calling thread's stack from the lowest address
 * at which it was found in use, once the kernel has answered that each page
 * from there on can be read.
 */
#include "core/readable.h"
#include <elf.h>
#include <fcntl.h>
#include <sys/uio.h>
#include "core/area.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

enum {
	MAX_SEGMENTS = 8,
	MAX_VECTOR = 512, /* bytes of /proc/self/auxv */
	PAGE = 4096,
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

/* The part of the calling thread's stack that is known to be there. */
static __thread struct range stack __attribute__((tls_model("initial-exec")));

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

/* Can each page of [start, end) be read? */
static int probe(uint64_t start, uint64_t end)
{
	struct iovec from[PROBE_PAGES];
	uint8_t bytes[PROBE_PAGES];
	struct iovec to = {bytes, 0};

	while (start < end) {
		long n = 0;

		for (; n < PROBE_PAGES && start < end; n++, start += PAGE)
			from[n] = (struct iovec){(void *)start, 1};
		to.iov_len = (size_t)n;
		if (vm_read(&to, from, n) != n)
			return 0;
	}
	return 1;
}

/* ---- the stack -------------------------------------------------------------
 */

/* What lies above all frames of the thread's stack, if that is what sp is on;
 * or 0. */
static uint64_t stack_end(uint64_t sp)
{
	uint64_t libcs = thread_pointer();

	if (libcs - sp < STACK_BYTES)
		return libcs;
	return main_stack_end - sp < STACK_BYTES ? main_stack_end : 0;
}

/* Makes `stack` reach down to sp, if it can be. */
static COLD void stack_reach(uint64_t sp)
{
	uint64_t low = sp & -(uint64_t)PAGE, end = stack_end(sp);

	if (!end || (stack.end && stack.end != end))
		return;
	if (stack.end && stack.start <= low)
		return;
	if (!probe(low, stack.end ? stack.start : end))
		return;
	stack.start = low;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	stack.end = end;
}

uint32_t readable_copy(uint64_t sp, void *to, uint64_t from, uint32_t n)
{
	struct iovec ours = {to, n}, its = {(void *)from, n};
	uint64_t has;
	long got;

	if (from < PAGE || (from + n) >> ADDRESS_BITS)
		return 0;
	if (unlikely(!__atomic_load_n(&is_known, __ATOMIC_ACQUIRE)))
		learn();
	if (from >= sp && from - sp < STACK_BYTES &&
	    unlikely(from - stack.start >= stack.end - stack.start))
		stack_reach(sp);
	has = within(&stack, from, n);
	for (uint32_t i = 0;
	     !has && i < __atomic_load_n(&n_segments, __ATOMIC_RELAXED); i++)
		has = within(&segments[i], from, n);
	if (has) {
		copy_bytes(to, from, (uint32_t)has);
		return (uint32_t)has;
	}
	got = vm_read(&ours, &its, 1);
	return got < 0 ? 0 : (uint32_t)got;
}
