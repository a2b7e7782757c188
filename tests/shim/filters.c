/* SPDX-License-Identifier: MIT
 *
 * Seccomp filters made at random: what our reading of them says of a system
 * call is what the kernel does with it.
 */
#include <errno.h>
#include <linux/audit.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "kernel/bpf.h"

enum {
	N_PROGRAMS = 300,
	BODY = 60,
	MAX_CODE = 2 * BPF_MEMWORDS + BODY + 16,
	AS_TOLD = 0,
	NOT_AS_TOLD = 1,
	REFUSED = 2,
};

struct program {
	struct sock_filter code[MAX_CODE];
	unsigned short n;
};

static uint32_t number(void)
{
	return (uint32_t)random() << 16 ^ (uint32_t)random();
}

static uint32_t below(uint32_t n)
{
	return number() % n;
}

/* Equal ones are rare among numbers at random. */
static uint32_t small_or_not(void)
{
	return below(2) ? below(4) : number();
}

static void add(struct program *p, unsigned code, uint8_t jt, uint8_t jf,
		uint32_t k)
{
	p->code[p->n++] = (struct sock_filter){(uint16_t)code, jt, jf, k};
}

static void add_load(struct program *p)
{
	/* Without the instruction's own address. */
	static const uint32_t at[] = {0,  4,  16, 20, 24, 28, 32,
				      36, 40, 44, 48, 52, 56, 60};

	switch (below(7)) {
	case 0:
		return add(p, BPF_LD | BPF_IMM, 0, 0, small_or_not());
	case 1:
		return add(p, BPF_LDX | BPF_IMM, 0, 0, small_or_not());
	case 2:
		return add(p, BPF_LD | BPF_MEM, 0, 0, below(BPF_MEMWORDS));
	case 3:
		return add(p, BPF_LDX | BPF_MEM, 0, 0, below(BPF_MEMWORDS));
	case 4:
		return add(p, BPF_LD | BPF_W | BPF_LEN, 0, 0, 0);
	case 5:
		return add(p, BPF_LDX | BPF_W | BPF_LEN, 0, 0, 0);
	}
	add(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, at[below(14)]);
}

static void add_computing(struct program *p)
{
	static const unsigned ops[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV,
				       BPF_AND, BPF_OR,	 BPF_XOR, BPF_LSH,
				       BPF_RSH, BPF_NEG};
	unsigned op = ops[below(10)], source = below(2) ? BPF_X : BPF_K;
	uint32_t k =
		op == BPF_LSH || op == BPF_RSH ? below(32) : small_or_not();

	if (op == BPF_NEG)
		source = BPF_K;
	add(p, BPF_ALU | op | source, 0, 0, op == BPF_DIV && !k ? 1 : k);
}

static void add_jump(struct program *p, uint32_t left)
{
	static const unsigned ops[] = {BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET};
	uint32_t most = left < 8 ? left : 8;

	if (below(8) == 0)
		return add(p, BPF_JMP | BPF_JA, 0, 0, below(most));
	add(p, BPF_JMP | ops[below(4)] | (below(2) ? BPF_X : BPF_K),
	    (uint8_t)below(most), (uint8_t)below(most), small_or_not());
}

static void add_any(struct program *p, uint32_t left)
{
	switch (below(16)) {
	case 0:
		return add(p, BPF_MISC | BPF_TAX, 0, 0, 0);
	case 1:
		return add(p, BPF_MISC | BPF_TXA, 0, 0, 0);
	case 2:
		return add(p, BPF_ST, 0, 0, below(BPF_MEMWORDS));
	case 3:
		return add(p, BPF_STX, 0, 0, below(BPF_MEMWORDS));
	case 4:
	case 5:
	case 6:
		return add_jump(p, left);
	case 7:
	case 8:
	case 9:
		return add_computing(p);
	}
	add_load(p);
}

/* Says nothing of all calls but getppid(): an errno, or death by a division. */
static void program_make(struct program *p)
{
	p->n = 0;
	add(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, 0);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, 1, 0, SYS_getppid);
	add(p, BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW);
	for (uint32_t i = 0; i < BPF_MEMWORDS; i++) {
		add(p, BPF_LD | BPF_IMM, 0, 0, small_or_not());
		add(p, BPF_ST, 0, 0, i);
	}
	for (uint32_t left = BODY; left; left--)
		add_any(p, left);
	add(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, 0x7ff);
	add(p, BPF_ALU | BPF_ADD | BPF_K, 0, 0, 1);
	add(p, BPF_ALU | BPF_OR | BPF_K, 0, 0, SECCOMP_RET_ERRNO);
	add(p, BPF_RET | BPF_A, 0, 0, 0);
}

static int try(struct program *p, uint32_t told, const uint64_t *a)
{
	struct sock_fprog filter = {p->n, p->code};
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		return REFUSED;
	if (syscall(SYS_getppid, a[0], a[1], a[2], a[3], a[4], a[5]) != -1)
		return NOT_AS_TOLD;
	return told == (SECCOMP_RET_ERRNO | (uint32_t)errno) ? AS_TOLD
							     : NOT_AS_TOLD;
}

/* Returns whether the kernel took it. */
static int check_one(void)
{
	struct seccomp_data data = {.nr = SYS_getppid,
				    .arch = AUDIT_ARCH_X86_64};
	uint64_t args[6];
	struct program p;
	uint32_t told;
	int status;
	pid_t pid;

	program_make(&p);
	for (int i = 0; i < 6; i++)
		data.args[i] = args[i] = (uint64_t)number() << 32 | number();
	told = bpf_run(p.code, p.n, &data);
	pid = fork();
	if (!pid)
		_exit(try(&p, told, args));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGSYS);
		assert_int_equal(told, SECCOMP_RET_KILL);
		return 1;
	}
	assert_int_not_equal(WEXITSTATUS(status), NOT_AS_TOLD);
	return WEXITSTATUS(status) == AS_TOLD;
}

static void as_the_kernel_reads_them(void **state)
{
	int n_taken = 0;

	(void)state;
	srandom(20);
	for (int i = 0; i < N_PROGRAMS; i++)
		n_taken += check_one();
	if (!n_taken) /* no seccomp here */
		skip();
	assert_int_equal(n_taken, N_PROGRAMS);
}

static uint32_t answer_to(const struct sock_filter *code, uint32_t n)
{
	struct seccomp_data data = {.nr = 1};

	return bpf_run(code, n, &data);
}

/* Whatever they are, none leads out of it. */
static void what_the_kernel_refuses_does_no_harm(void **state)
{
	struct sock_filter code[8];
	const uint32_t values[] = {0, 1, 15, 16, 61, 64, ~0u, ~0u - 3};

	(void)state;
	srandom(21);
	for (int i = 0; i < 200000; i++) {
		for (int j = 0; j < 8; j++)
			code[j] = (struct sock_filter){
				(uint16_t)below(256), (uint8_t)below(256),
				(uint8_t)below(4), values[below(8)]};
		answer_to(code, 8);
	}
	assert_int_equal(answer_to(code, 0), SECCOMP_RET_ALLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_the_kernel_reads_them),
		cmocka_unit_test(what_the_kernel_refuses_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
