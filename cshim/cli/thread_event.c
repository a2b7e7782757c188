/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A perf event of a thread of another process, and its ring.
 */
#include "thread_event.h"

#include <asm/perf_regs.h>
#include <libunwind-x86_64.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	RING = 64 * PAGE, /* a power of 2 */
	STACK = 4 * PAGE, /* bytes of the stack in each sample */
};

/* The kernel writes registers in the order of its own numbers. */
static const struct {
	uint8_t kernels, libunwinds;
} regs[SNAPSHOT_REGS] = {
	{PERF_REG_X86_AX, UNW_X86_64_RAX},  {PERF_REG_X86_BX, UNW_X86_64_RBX},
	{PERF_REG_X86_CX, UNW_X86_64_RCX},  {PERF_REG_X86_DX, UNW_X86_64_RDX},
	{PERF_REG_X86_SI, UNW_X86_64_RSI},  {PERF_REG_X86_DI, UNW_X86_64_RDI},
	{PERF_REG_X86_BP, UNW_X86_64_RBP},  {PERF_REG_X86_SP, UNW_X86_64_RSP},
	{PERF_REG_X86_IP, UNW_X86_64_RIP},  {PERF_REG_X86_R8, UNW_X86_64_R8},
	{PERF_REG_X86_R9, UNW_X86_64_R9},   {PERF_REG_X86_R10, UNW_X86_64_R10},
	{PERF_REG_X86_R11, UNW_X86_64_R11}, {PERF_REG_X86_R12, UNW_X86_64_R12},
	{PERF_REG_X86_R13, UNW_X86_64_R13}, {PERF_REG_X86_R14, UNW_X86_64_R14},
	{PERF_REG_X86_R15, UNW_X86_64_R15},
};

/* A record of the ring, from its begin to its end. */
static union {
	struct perf_event_header head;
	struct {
		struct perf_event_header head;
		uint64_t abi; /* of the registers; 0: there are none */
		uint64_t regs[SNAPSHOT_REGS];
		uint64_t size;
		unsigned char stack[STACK];
		uint64_t dumped; /* bytes of it that are true */
	} sample;
	struct {
		struct perf_event_header head;
		uint64_t id, n;
	} lost;
	unsigned char bytes[UINT16_MAX + 1];
} record;

static struct perf_event_mmap_page *page_of(const struct thread_event *e)
{
	return (struct perf_event_mmap_page *)e->ring;
}

int thread_event_open(struct thread_event *e, uint32_t tid, uint32_t hz)
{
	struct perf_event_attr attr;
	void *ring;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = 1000000000ull / hz;
	attr.sample_type = PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = STACK;
	attr.wakeup_events = 1;
	for (int i = 0; i < SNAPSHOT_REGS; i++)
		attr.sample_regs_user |= 1ull << regs[i].kernels;
	e->ring = NULL;
	e->fd = (int)syscall(SYS_perf_event_open, &attr, (pid_t)tid, -1, -1,
			     PERF_FLAG_FD_CLOEXEC);
	if (e->fd < 0)
		return 0;
	ring = mmap(NULL, PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED,
		    e->fd, 0);
	if (ring == MAP_FAILED) {
		close(e->fd);
		e->fd = -1;
		return 0;
	}
	e->ring = ring;
	return 1;
}

void thread_event_close(struct thread_event *e)
{
	if (e->ring)
		munmap(e->ring, PAGE + RING);
	if (e->fd >= 0)
		close(e->fd);
	e->ring = NULL;
	e->fd = -1;
}

/* Copies n bytes at a position of the ring, which goes on at its begin. */
static void copy(const struct thread_event *e, uint64_t at, size_t n)
{
	size_t from = at % RING, first = RING - from < n ? RING - from : n;

	memcpy(record.bytes, e->ring + PAGE + from, first);
	memcpy(record.bytes + first, e->ring + PAGE, n - first);
}

/* The next record of any kind. */
static int take(struct thread_event *e)
{
	struct perf_event_mmap_page *page = page_of(e);
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail;

	if (head - tail < sizeof(record.head))
		return 0;
	copy(e, tail, sizeof(record.head));
	copy(e, tail, record.head.size);
	__atomic_store_n(&page->data_tail, tail + record.head.size,
			 __ATOMIC_RELEASE);
	return 1;
}

int thread_event_next(struct thread_event *e, struct snapshot *out)
{
	while (e->ring && take(e)) {
		if (record.head.type == PERF_RECORD_LOST)
			e->n_lost += (uint32_t)record.lost.n;
		if (record.head.type != PERF_RECORD_SAMPLE ||
		    record.sample.abi != PERF_SAMPLE_REGS_ABI_64)
			continue;
		for (int i = 0; i < SNAPSHOT_REGS; i++)
			out->regs[regs[i].libunwinds] = record.sample.regs[i];
		out->sp = out->regs[UNW_X86_64_RSP];
		out->stack = record.sample.stack;
		out->size = record.sample.size == STACK &&
					    record.sample.dumped <= STACK
				    ? record.sample.dumped
				    : 0;
		return 1;
	}
	return 0;
}
