/* SPDX-License-Identifier: MIT
 *
 * The hooks of the libraries that test_args builds: they hand over the
 * registers as the function had them.
 */
#include <stdint.h>

#define NO_TRACE __attribute__((no_instrument_function))

/* rbx, rbp, r12 to r15, the stack pointer */
void (*args_hear)(int kind, uint64_t callee, uint64_t hook,
		  const uint64_t *registers);

NO_TRACE void args_hook(int kind, uint64_t callee, const uint64_t *registers);

void args_hook(int kind, uint64_t callee, const uint64_t *registers)
{
	if (args_hear)
		args_hear(kind, callee, registers[7], registers);
}

/* The hooks may not spoil the registers that a call keeps. */
#define HOOK(name, kind)                                 \
	__asm__(".globl " name "\n"                      \
		".type " name ", @function\n" name ":\n" \
		"leaq 8(%rsp), %rax\n"                   \
		"movq (%rsp), %rdx\n"                    \
		"pushq %rbp\n"                           \
		"movq %rsp, %rbp\n"                      \
		"movq (%rsp), %rcx\n"                    \
		"pushq %rdx\n"                           \
		"pushq %rax\n"                           \
		"pushq %r15\n"                           \
		"pushq %r14\n"                           \
		"pushq %r13\n"                           \
		"pushq %r12\n"                           \
		"pushq %rcx\n"                           \
		"pushq %rbx\n"                           \
		"movq %rdi, %rsi\n"                      \
		"movl $" kind ", %edi\n"                 \
		"movq %rsp, %rdx\n"                      \
		"andq $-16, %rsp\n"                      \
		"call args_hook@PLT\n"                   \
		"movq %rbp, %rsp\n"                      \
		"popq %rbp\n"                            \
		"ret\n"                                  \
		".size " name ", . - " name "\n")

HOOK("__cyg_profile_func_enter", "1");
HOOK("__cyg_profile_func_exit", "2");
