/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A function returns to address 0, where it faults: ptrace stops the thread
 * before the program hears of that.  A process that ignores the fault would
 * lose that choice: there the function returns to an instruction `syscall`, and
 * the thread stops at each call of the kernel on the way, which takes much
 * longer.
 */
#include "attach/remote_call.h"
#include "base/task_file.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum {
	CALL_LIMIT_MS = 20000,
	SYSCALL_STOP = SIGTRAP | 0x80,
	DIRECTION_FLAG = 0x400,
};

/* Goes on to the next begin or end of a system call.  0: to something else. */
static int step(const struct remote_call *c)
{
	int status;

	if (ptrace(PTRACE_SYSCALL, c->tid, NULL, NULL) < 0)
		return 0;
	status = tracee_wait(c->tid, CALL_LIMIT_MS);
	return status >= 0 && WSTOPSIG(status) == SYSCALL_STOP;
}

static int is_entry(const struct remote_call *c)
{
	struct __ptrace_syscall_info info = {0};

	return ptrace(PTRACE_GET_SYSCALL_INFO, c->tid, (void *)sizeof(info),
		      &info) > 0 &&
	       info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

static struct user_regs_struct fresh(const struct remote_call *c)
{
	struct user_regs_struct r = c->registers;

	r.orig_rax = ~0ull; /* no call to be made anew */
	r.eflags &= ~(unsigned long long)DIRECTION_FLAG;
	return r;
}

static int call_kernel(struct remote_call *c, long number,
		       const uint64_t arguments[6], uint64_t *result)
{
	struct user_regs_struct r = fresh(c);

	r.rip = c->gate;
	r.rax = (unsigned long long)number;
	r.rdi = arguments[0];
	r.rsi = arguments[1];
	r.rdx = arguments[2];
	r.r10 = arguments[3];
	r.r8 = arguments[4];
	r.r9 = arguments[5];
	if (ptrace(PTRACE_SETREGS, c->tid, NULL, &r) < 0 || !step(c) ||
	    !step(c) || ptrace(PTRACE_GETREGS, c->tid, NULL, &r) < 0)
		return 0;
	*result = r.rax;
	return (long long)r.rax >= 0 || (long long)r.rax < -4095;
}

/* Waits for the return to address 0, at the first instruction of which ptrace
 * stops the thread before its handler knows. */
static int come_back_by_fault(const struct remote_call *c, uint64_t top,
			      uint64_t *result)
{
	struct user_regs_struct r;
	int status;

	if (ptrace(PTRACE_CONT, c->tid, NULL, NULL) < 0)
		return 0;
	status = tracee_wait(c->tid, CALL_LIMIT_MS);
	if (status < 0 || WSTOPSIG(status) != SIGSEGV ||
	    ptrace(PTRACE_GETREGS, c->tid, NULL, &r) < 0 || r.rip ||
	    r.rsp != top)
		return 0;
	*result = r.rax;
	return 1;
}

static int come_back_by_call(const struct remote_call *c, uint64_t top,
			     uint64_t *result)
{
	struct user_regs_struct r;

	do {
		if (!step(c))
			return 0;
		if (!is_entry(c))
			continue;
		if (ptrace(PTRACE_GETREGS, c->tid, NULL, &r) < 0)
			return 0;
	} while (r.rip != c->gate + 2 || r.rsp != top);
	*result = r.orig_rax;
	r.orig_rax = ~0ull;
	return ptrace(PTRACE_SETREGS, c->tid, NULL, &r) == 0 && step(c);
}

int remote_call(struct remote_call *c, uint64_t function,
		const uint64_t arguments[3], uint64_t *result)
{
	uint64_t top = c->stack + REMOTE_STACK - 64;
	uint64_t back = c->is_fault_ignored ? c->gate : 0;
	struct user_regs_struct r = fresh(c);

	r.rip = function;
	r.rdi = arguments[0];
	r.rsi = arguments[1];
	r.rdx = arguments[2];
	r.rax = 0;
	r.rbp = 0;
	r.rsp = top - 8;
	if (!tracee_write(c->tracee, r.rsp, &back, sizeof(back)) ||
	    ptrace(PTRACE_SETREGS, c->tid, NULL, &r) < 0)
		return 0;
	return c->is_fault_ignored ? come_back_by_call(c, top, result)
				   : come_back_by_fault(c, top, result);
}

uint64_t remote_call_put(struct remote_call *c, uint64_t offset,
			 const void *from, size_t size)
{
	if (offset + size > REMOTE_STACK / 2 ||
	    !tracee_write(c->tracee, c->stack + offset, from, size))
		return 0;
	return c->stack + offset;
}

/* ---- before and behind -----------------------------------------------------
 */

/* What the processor raises must not find itself blocked: the kernel would take
 * the program's handler away. */
static uint64_t calls_mask(void)
{
	static const int raised[] = {SIGSEGV, SIGBUS,  SIGILL,
				     SIGFPE,  SIGTRAP, SIGSYS};
	uint64_t mask = ~0ull;

	for (size_t i = 0; i < sizeof(raised) / sizeof(*raised); i++)
		mask &= ~(1ull << (raised[i] - 1));
	return mask;
}

static int save(struct remote_call *c)
{
	struct iovec v = {c->vectors, sizeof(c->vectors)};

	if (ptrace(PTRACE_GETREGS, c->tid, NULL, &c->registers) < 0 ||
	    ptrace(PTRACE_GETREGSET, c->tid, (void *)NT_X86_XSTATE, &v) < 0 ||
	    ptrace(PTRACE_GETSIGMASK, c->tid, (void *)8, &c->mask) < 0)
		return 0;
	c->vectors_size = v.iov_len;
	return 1;
}

/* The thread stops once more, where the kernel looks for signals: only there
 * does it make a call anew that we have interrupted. */
static int put_back(struct remote_call *c)
{
	struct iovec v = {c->vectors, c->vectors_size};
	int status;

	if (ptrace(PTRACE_INTERRUPT, c->tid, NULL, NULL) < 0 ||
	    ptrace(PTRACE_CONT, c->tid, NULL, NULL) < 0)
		return 0;
	status = tracee_wait(c->tid, CALL_LIMIT_MS);
	return status >= 0 &&
	       ptrace(PTRACE_SETREGS, c->tid, NULL, &c->registers) == 0 &&
	       ptrace(PTRACE_SETREGSET, c->tid, (void *)NT_X86_XSTATE, &v) ==
		       0 &&
	       ptrace(PTRACE_SETSIGMASK, c->tid, (void *)8, &c->mask) == 0;
}

static int is_ignored(pid_t tid, int signal)
{
	char status[8192];
	const char *at;

	if (!task_file_read((uint32_t)tid, (uint32_t)tid, "status", status,
			    sizeof(status)))
		return 1;
	at = strstr(status, "\nSigIgn:");
	return !at || strtoull(at + 8, NULL, 16) >> (signal - 1) & 1;
}

int remote_call_begin(struct remote_call *c, struct tracee *t, pid_t tid,
		      uint64_t gate)
{
	const uint64_t memory[6] = {0,
				    REMOTE_STACK,
				    PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS,
				    ~0ull,
				    0};
	uint64_t mask = calls_mask();

	c->tracee = t;
	c->tid = tid;
	c->gate = gate;
	c->stack = 0;
	c->is_fault_ignored = is_ignored(t->pid, SIGSEGV);
	if (!save(c) || ptrace(PTRACE_SETSIGMASK, tid, (void *)8, &mask) < 0)
		return 0;
	if (call_kernel(c, SYS_mmap, memory, &c->stack))
		return 1;
	c->stack = 0;
	put_back(c);
	return 0;
}

int remote_call_end(struct remote_call *c)
{
	const uint64_t memory[6] = {c->stack, REMOTE_STACK};
	uint64_t unused;

	if (c->stack)
		call_kernel(c, SYS_munmap, memory, &unused);
	c->stack = 0;
	return put_back(c);
}
