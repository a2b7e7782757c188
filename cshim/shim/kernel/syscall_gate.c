/* SPDX-License-Identifier: MIT
 *
 * Filters are kept as the program made them, and asked before each call with
 * what the kernel would ask them with.  They are the calling thread's and
 * those' that it makes, but heeded in all: a thread's calls are few here, and
 * which of its makers had which filter is not worth knowing.
 */
#include <errno.h>
#include "kernel/arch.h"
#include "kernel/bpf.h"
#include "kernel/state.h"
#include "kernel/syscall_gate.h"

enum { MAX_FILTERS = 64, MAX_CODE = 16384, PAGE = 4096, WORD = 8 };

/* Looks at the calls that other threads are in: about 100 ms. */
enum { PATIENCE = 4000000 };

struct filter {
	uint32_t start, n; /* in code[]; n is written last, 0: not yet there */
};

static struct sock_filter code[MAX_CODE];
static struct filter filters[MAX_FILTERS];
static uint32_t n_code, n_filters;
static uint32_t is_unknown; /* there were more */
static uint32_t is_watched; /* there are any, or threads with the following */
static __thread const volatile uint8_t *selector
	__attribute__((tls_model("initial-exec")));

/* ---- what the sandbox would say -------------------------------------------
 */

static uint32_t filters_answer(const struct seccomp_data *data)
{
	uint32_t n = __atomic_load_n(&n_filters, __ATOMIC_RELAXED);
	uint32_t strictest = SECCOMP_RET_ALLOW;

	for (uint32_t i = n < MAX_FILTERS ? n : MAX_FILTERS; i-- > 0;) {
		uint32_t size =
			__atomic_load_n(&filters[i].n, __ATOMIC_ACQUIRE);
		uint32_t answer = bpf_run(code + filters[i].start, size, data);

		/* The order of strictness is the kernel's. */
		if ((int32_t)(answer & SECCOMP_RET_ACTION_FULL) <
		    (int32_t)(strictest & SECCOMP_RET_ACTION_FULL))
			strictest = answer;
	}
	return strictest;
}

static long filters_errno(const struct seccomp_data *data)
{
	uint32_t answer = filters_answer(data);
	uint32_t code_given = answer & SECCOMP_RET_DATA;

	switch (answer & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return 0;
	case SECCOMP_RET_ERRNO:
		if (code_given && code_given < 4096)
			return -(long)code_given;
	}
	return -EPERM; /* death, a signal, or somebody else is asked */
}

/* 0, or why not. */
static long gate_errno(long number, long a, long b, long c, long d, long e,
		       long f)
{
	struct seccomp_data data = {
		.nr = (int)number,
		.arch = AUDIT_ARCH_NOW,
		.instruction_pointer = (uint64_t)gate_call,
		.args = {(uint64_t)a, (uint64_t)b, (uint64_t)c, (uint64_t)d,
			 (uint64_t)e, (uint64_t)f},
	};
	long error;

	if (__atomic_load_n(&is_unknown, __ATOMIC_RELAXED) ||
	    (selector && *selector))
		return -EPERM;
	error = filters_errno(&data);
	/* With a limit: if the process is stopped meanwhile, the kernel goes on
	 * by this one. */
	if (!error && number == SYS_futex && d) {
		data.nr = SYS_restart_syscall;
		error = filters_errno(&data);
	}
	return error;
}

void gate_hold(void)
{
	__atomic_fetch_add(&state_page.n_in_calls, 1, __ATOMIC_SEQ_CST);
}

void gate_release(void)
{
	__atomic_fetch_sub(&state_page.n_in_calls, 1, __ATOMIC_SEQ_CST);
}

long gate_call(long number, long a, long b, long c, long d, long e, long f)
{
	long result = 0;

	gate_hold();
	/* Behind the former: pairs with wait_for_calls(). */
	if (__atomic_load_n(&is_watched, __ATOMIC_SEQ_CST))
		result = gate_errno(number, a, b, c, d, e, f);
	if (!result)
		result = syscall6(number, a, b, c, d, e, f);
	gate_release();
	return result;
}

/* ---- a new one ------------------------------------------------------------
 */

/* Does a word lie there?  A way to ask the kernel that every program uses, and
 * that does nothing. */
static int is_word(uint64_t addr)
{
	return gate_call(SYS_rt_sigprocmask, -1, (long)addr, 0, WORD, 0, 0) !=
	       -EFAULT;
}

static int is_readable(const void *start, uint64_t size)
{
	uint64_t last = (uint64_t)start + size - WORD;

	for (uint64_t at = (uint64_t)start; at < last;
	     at = (at | (PAGE - 1)) + 1)
		if (!is_word(at))
			return 0;
	return is_word(last);
}

static int is_same(const struct filter *f, const struct sock_filter *other,
		   uint32_t n)
{
	uint32_t i = 0;

	if (__atomic_load_n(&f->n, __ATOMIC_ACQUIRE) != n)
		return 0;
	for (const struct sock_filter *mine = code + f->start; i < n; i++)
		if (mine[i].code != other[i].code ||
		    mine[i].jt != other[i].jt || mine[i].jf != other[i].jf ||
		    mine[i].k != other[i].k)
			return 0;
	return 1;
}

/* Each thread may make the same. */
static int is_known(const struct sock_filter *other, uint32_t n)
{
	uint32_t have = __atomic_load_n(&n_filters, __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < have && i < MAX_FILTERS; i++)
		if (is_same(&filters[i], other, n))
			return 1;
	return 0;
}

/* 0: there is no room. */
static int keep(const struct sock_filter *from, uint32_t n)
{
	uint32_t at = __atomic_fetch_add(&n_code, n, __ATOMIC_RELAXED);
	uint32_t index;

	if (at + n > MAX_CODE)
		return 0;
	index = __atomic_fetch_add(&n_filters, 1, __ATOMIC_RELAXED);
	if (index >= MAX_FILTERS)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		code[at + i] = from[i];
	filters[index].start = at;
	__atomic_store_n(&filters[index].n, n, __ATOMIC_RELEASE);
	return 1;
}

/* A call that another thread is about to make was allowed before. */
static void wait_for_calls(void)
{
	for (int i = 0; i < PATIENCE; i++) {
		if (!__atomic_load_n(&state_page.n_in_calls, __ATOMIC_SEQ_CST))
			return;
		cpu_relax();
	}
}

void gate_add_filter(const struct sock_fprog *program, int is_for_all)
{
	/* The kernel refuses what cannot be read or is too long. */
	if (!program || !is_readable(program, sizeof(*program)) ||
	    !program->len || program->len > BPF_MAXINSNS || !program->filter ||
	    !is_readable(program->filter,
			 program->len * sizeof(*program->filter)) ||
	    is_known(program->filter, program->len) ||
	    __atomic_load_n(&is_unknown, __ATOMIC_RELAXED))
		return;
	if (!keep(program->filter, program->len))
		__atomic_store_n(&is_unknown, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&is_watched, 1, __ATOMIC_SEQ_CST);
	if (is_for_all)
		wait_for_calls();
}

void gate_dispatch(int is_on, const volatile uint8_t *at)
{
	static const uint8_t always = 1;

	if (!is_on)
		selector = 0;
	else if (!at)
		selector = &always;
	else if (is_word((uint64_t)at & -(uint64_t)WORD))
		selector = at;
	if (selector)
		__atomic_store_n(&is_watched, 1, __ATOMIC_SEQ_CST);
}
