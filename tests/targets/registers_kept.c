/* SPDX-License-Identifier: MIT
 *
 * Nothing of cstrace: calls a function that changes rax alone, some thousand
 * times, with a pattern in every register that there is, and looks whether any
 * is another one behind it.  In between it calls with another text, so that
 * events take all the ways that there are.
 */
#include <cpuid.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_GENERAL = 14, ROUNDS = 9000, AREA = 1 << 14, N_PARTS = 8 };
enum { MXCSR_AT = 24, XMM_AT = 160, XMM_BYTES = 256, STATES_AT = 512 };

struct general {
	uint64_t all[N_GENERAL]; /* all but rax and rsp, in the order below */
};

_Alignas(64) unsigned char vectors_before[AREA], vectors_after[AREA];
struct general general_before, general_after;
static struct part {
	const char *name;
	uint32_t at, size;
} parts[N_PARTS];

/* Not the last one: its end has padding behind it. */
__attribute__((noipa, cold)) int passed(int number, const char *text)
{
	int next;

	/* Room for a jump, and nothing that touches another register. */
	__asm__("add $0x10000001, %0\nsub $0x10000000, %0\n"
		"add $0x10000001, %0\nsub $0x10000001, %0"
		: "=a"(next)
		: "0"(number));
	return next;
}

int passes(int number, const char *text);

/* clang-format off */
#define EACH(DO) \
	DO("0", "rbx") DO("8", "rcx") DO("16", "rdx") DO("24", "rbp") \
	DO("32", "r8") DO("40", "r9") DO("48", "r10") DO("56", "r11") \
	DO("64", "r12") DO("72", "r13") DO("80", "r14") DO("88", "r15")
#define TAKEN(at, name) "mov general_before+" at "(%rip), %" name "\n"
#define STORED(at, name) "mov %" name ", general_after+" at "(%rip)\n"
__asm__(".text\n"
	".globl passes, save\n"
	"passes:\n"
	"push %rbx\npush %rbp\npush %r12\npush %r13\npush %r14\npush %r15\n"
	"sub $8, %rsp\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xrstor64 vectors_before(%rip)\n"
	EACH(TAKEN)
	"mov %rdi, general_before+96(%rip)\n"
	"mov %rsi, general_before+104(%rip)\n"
	"call passed\n"
	EACH(STORED)
	"mov %rdi, general_after+96(%rip)\n"
	"mov %rsi, general_after+104(%rip)\n"
	"mov %eax, %ebx\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xsave64 vectors_after(%rip)\n"
	"fninit\n"
	"ldmxcsr vectors_usual(%rip)\n"
	"mov %ebx, %eax\n"
	"add $8, %rsp\n"
	"pop %r15\npop %r14\npop %r13\npop %r12\npop %rbp\npop %rbx\n"
	"ret\n"
	"save:\n"
	"fninit\nfld1\nfldpi\nfldln2\n"
	"mov $-1, %eax\n"
	"mov $-1, %edx\n"
	"xsave64 vectors_before(%rip)\n"
	"fninit\n"
	"ret\n"
	"vectors_usual: .long 0x1f80\n");
/* clang-format on */
void save(void);

static void add_part(uint32_t *n, const char *name, uint32_t at, uint32_t size)
{
	parts[(*n)++] = (struct part){name, at, size};
	for (uint32_t i = 0; i < size; i++)
		vectors_before[at + i] = (unsigned char)(at + i * 7 + 1);
}

/* What the processor has and the kernel keeps. */
static void prepare(void)
{
	static const char *const names[] = {
		[2] = "ymm", [5] = "mask", [6] = "zmm", [7] = "zmm16"};
	uint32_t a, b, c, d, low, high, n = 0;
	uint64_t has;

	save();
	__asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	add_part(&n, "xmm", XMM_AT, XMM_BYTES);
	has = 3;
	for (uint32_t i = 2; i < sizeof(names) / sizeof(*names); i++) {
		if (!names[i] || !(low & 1u << i))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		add_part(&n, names[i], b, a);
		has |= 1ull << i;
	}
	vectors_before[MXCSR_AT] = 0xa1;     /* flags that are set */
	vectors_before[MXCSR_AT + 1] = 0x7f; /* rounds towards zero */
	memcpy(&b, vectors_before + STATES_AT, sizeof(b));
	has |= b;
	memcpy(vectors_before + STATES_AT, &has, sizeof(has));
	for (int i = 0; i < N_GENERAL; i++)
		general_before.all[i] = 0x0123456789abcdef * (uint64_t)(i + 3);
}

static void same(const char *name, uint32_t at, uint32_t size)
{
	if (!memcmp(vectors_before + at, vectors_after + at, size))
		return;
	printf("%s differs\n", name);
	exit(1);
}

static void compare(void)
{
	same("control and status of the x87", 0, 5);
	same("mxcsr", MXCSR_AT, 4);
	for (uint32_t i = 0; i < 8; i++)
		same("x87", 32 + 16 * i, 10);
	for (uint32_t i = 0; i < N_PARTS && parts[i].name; i++)
		same(parts[i].name, parts[i].at, parts[i].size);
	for (int i = 0; i < N_GENERAL; i++) {
		if (general_before.all[i] == general_after.all[i])
			continue;
		printf("general register %d differs\n", i);
		exit(1);
	}
}

int main(void)
{
	static const char constant[] = "constant";
	char *allocated = strdup("allocated"), here[] = "here";
	const char *texts[] = {constant, allocated, here, NULL,
			       (const char *)1};

	prepare();
	for (int i = 0; i < ROUNDS; i++) {
		memset(vectors_after, 0, sizeof(vectors_after));
		if (passes(i, texts[i % 5]) != i + 1)
			return 2;
		compare();
	}
	for (uint32_t i = 0; i < N_PARTS && parts[i].name; i++)
		printf("%s ", parts[i].name);
	puts("kept");
	free(allocated);
	return 0;
}
