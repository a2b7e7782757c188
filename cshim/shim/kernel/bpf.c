/* SPDX-License-Identifier: MIT
 *
 * Interprets classic BPF as far as seccomp filters may use it, to find out what
 * a filter would do to a system call.
 */
#include "kernel/bpf.h"

enum { REFUSED = -1, GOES_ON = 0, HAS_ANSWER = 1 };

struct machine {
	uint32_t a, x, memory[BPF_MEMWORDS];
	uint32_t at; /* the next instruction */
	const struct seccomp_data *data;
};

static int put(uint32_t *to, uint32_t value)
{
	*to = value;
	return GOES_ON;
}

static int load(struct machine *m, const struct sock_filter *i, uint32_t *to)
{
	const uint32_t *words = (const uint32_t *)m->data;

	switch (BPF_MODE(i->code)) {
	case BPF_IMM:
		return put(to, i->k);
	case BPF_LEN:
		return put(to, sizeof(*m->data));
	case BPF_MEM:
		return i->k < BPF_MEMWORDS ? put(to, m->memory[i->k]) : REFUSED;
	case BPF_ABS:
		return to == &m->a && i->k < sizeof(*m->data) && i->k % 4 == 0
			       ? put(to, words[i->k / 4])
			       : REFUSED;
	}
	return REFUSED;
}

static int store(struct machine *m, const struct sock_filter *i, uint32_t value)
{
	return i->k < BPF_MEMWORDS ? put(&m->memory[i->k], value) : REFUSED;
}

/* The filter is over, with 0: death. */
static int divide_by_zero(struct machine *m)
{
	m->a = 0;
	return HAS_ANSWER;
}

static int compute(struct machine *m, const struct sock_filter *i, uint32_t by)
{
	switch (BPF_OP(i->code)) {
	case BPF_ADD:
		return put(&m->a, m->a + by);
	case BPF_SUB:
		return put(&m->a, m->a - by);
	case BPF_MUL:
		return put(&m->a, m->a * by);
	case BPF_DIV:
		return by ? put(&m->a, m->a / by) : divide_by_zero(m);
	case BPF_AND:
		return put(&m->a, m->a & by);
	case BPF_OR:
		return put(&m->a, m->a | by);
	case BPF_XOR:
		return put(&m->a, m->a ^ by);
	case BPF_LSH:
		return put(&m->a, m->a << (by & 31));
	case BPF_RSH:
		return put(&m->a, m->a >> (by & 31));
	case BPF_NEG:
		return put(&m->a, 0 - m->a);
	}
	return REFUSED;
}

/* Forwards only, so no filter goes round and round. */
static int jump(struct machine *m, const struct sock_filter *i, uint32_t to)
{
	int is_so;

	switch (BPF_OP(i->code)) {
	case BPF_JA:
		/* The kernel lets none get behind the end, nor round it. */
		return i->k < BPF_MAXINSNS ? put(&m->at, m->at + i->k)
					   : REFUSED;
	case BPF_JEQ:
		is_so = m->a == to;
		break;
	case BPF_JGT:
		is_so = m->a > to;
		break;
	case BPF_JGE:
		is_so = m->a >= to;
		break;
	case BPF_JSET:
		is_so = (m->a & to) != 0;
		break;
	default:
		return REFUSED;
	}
	return put(&m->at, m->at + (is_so ? i->jt : i->jf));
}

static int step(struct machine *m, const struct sock_filter *i)
{
	uint32_t operand = BPF_SRC(i->code) == BPF_X ? m->x : i->k;

	switch (BPF_CLASS(i->code)) {
	case BPF_LD:
		return load(m, i, &m->a);
	case BPF_LDX:
		return load(m, i, &m->x);
	case BPF_ST:
		return store(m, i, m->a);
	case BPF_STX:
		return store(m, i, m->x);
	case BPF_ALU:
		return compute(m, i, operand);
	case BPF_JMP:
		return jump(m, i, operand);
	case BPF_MISC:
		return BPF_MISCOP(i->code) == BPF_TAX ? put(&m->x, m->a)
						      : put(&m->a, m->x);
	}
	if (BPF_RVAL(i->code) != BPF_A)
		m->a = i->k;
	return HAS_ANSWER;
}

uint32_t bpf_run(const struct sock_filter *code, uint32_t n,
		 const struct seccomp_data *data)
{
	struct machine m;
	int status = GOES_ON;

	m.a = m.x = m.at = 0;
	m.data = data;
	for (int i = 0; i < BPF_MEMWORDS; i++)
		m.memory[i] = 0;
	while (status == GOES_ON && m.at < n)
		status = step(&m, &code[m.at++]);
	return status == HAS_ANSWER ? m.a : SECCOMP_RET_ALLOW;
}
