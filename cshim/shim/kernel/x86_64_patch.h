/* SPDX-License-Identifier: MIT
 *
 * What the trampolines of a patch call (cstrace/plan_layout.h), with the
 * address of the traced function in rax.  Of the way that nearly every event
 * takes each register costs a store and a load, so that it has no more than
 * five, and is written by hand; it is what event() in hook.c is.  All other
 * events go to patched_other(), behind which all registers are as they were,
 * those of vectors too.  Flags are not.
 *
 * core/patched.c compares the numbers in here with the structs that they are
 * of.
 */
#ifndef SHIM_X86_64_PATCH_H
#define SHIM_X86_64_PATCH_H

#include <stdint.h>

/* Returns where the jump leads to that a trampoline makes next, once an end has
 * been reported, if its code says that; else 0. */
static inline uint64_t jump_target(uint64_t reported_at)
{
	enum { POP_RAX = 0x58, JUMP = 0xe9, BYTES = 6 };
	const uint8_t *code = (const uint8_t *)reported_at;
	int32_t distance;

	if (code[0] != POP_RAX || code[1] != JUMP)
		return 0;
	__builtin_memcpy(&distance, code + 2, sizeof(distance));
	return reported_at + BYTES + (uint64_t)(int64_t)distance;
}

#define PATCH_TEXT_OF(x) #x
#define PATCH_TEXT(x) PATCH_TEXT_OF(x)

/* clang-format off */
/* The four registers that the fast way uses beside rax, which the trampoline
 * restores. */
#define PATCH_SAVED_FIRST PUSHED(rcx) PUSHED(rdx) PUSHED(rsi) PUSHED(rdi)
#define PATCH_RESTORED_LAST POPPED(rdi) POPPED(rsi) POPPED(rdx) POPPED(rcx)

/* Puts a function's return address, or the address of that, into rsi: at its
 * first instruction and before its ret, behind a prologue that sets the frame
 * pointer, or where the trampoline tells. */
#define RETURN_OF_STACK_POINTER "mov 48(%rsp), %rsi\n"
#define RETURN_OF_FRAME_POINTER "mov 8(%rbp), %rsi\n"
#define RETURN_OF_TOLD_PLACE "mov 48(%rsp), %rsi\nmov (%rsi), %rsi\n"
#define PLACE_OF_STACK_POINTER "lea 48(%rsp), %rsi\n"
#define PLACE_OF_FRAME_POINTER "lea 8(%rbp), %rsi\n"
#define PLACE_OF_TOLD_PLACE "mov 48(%rsp), %rsi\n"

/* Goes on if the return address, in rsi, is in traced code, else to 1. */
#define FROM_ANYWHERE ""
#define FROM_TRACED                                                    \
		"lea traced_ranges(%rip), %rcx\n"                      \
		"5:\n"                                                 \
		"mov %rsi, %rdx\n"                                     \
		"sub (%rcx), %rdx\n"                                   \
		"cmp 8(%rcx), %rdx\n"                                  \
		"jb 6f\n"                                              \
		"add $16, %rcx\n"                                      \
		"cmpq $0, 8(%rcx)\n"                                   \
		"jne 5b\n"                                             \
		"jmp 1f\n"                                             \
		"6:\n"

/* Goes on if the edge rcx is that from the caller rsi to the callee rdi, else to
 * `other`. */
#define PATCH_COMPARE(hook, kind, other)                               \
		"lea 0 + (" PATCH_TEXT(hook) " & 7)(, %rdi, 8), %rdx\n" \
		"cmp %rdx, " TAG_##kind "(%rcx)\n"                     \
		"jne " #other "\n"                                     \
		"cmp %rsi, 16(%rcx)\n"                                 \
		"jne " #other "\n"
/* Goes to 7 if this edge is it, whose place differs by these bits. */
#define PATCH_NEIGHBOUR(hook, kind, bits)                              \
		"xor $" #bits ", %rcx\n"                               \
		PATCH_COMPARE(hook, kind, 5f)                          \
		"jmp 7b\n"                                             \
		"5:\n"
#define PATCH_EDGE_OF_OFFSET                                           \
		"and edge_table(%rip), %rcx\n"                         \
		"add edge_table + 8(%rip), %rcx\n"
#define TAG_ENTRY "0"
#define TAG_END "8"
#define NUMBER_ENTRY "24"
#define NUMBER_END "28"

/* The slot's function of that name, for events whose sites have the word `hook`
 * (enum of CST_PATCHED_ENTRY) in place of a hook's address; `from` tells which
 * callers' events they are. */
#define PATCH_FUNCTION(name, hook, kind, at, from)                     \
	__asm__(".text\n"                                              \
		".p2align 6\n"                                         \
		".globl " #name "\n"                                   \
		".hidden " #name "\n"                                  \
		".type " #name ", @function\n" #name ":\n"             \
		PASSED_BEGIN PATCH_SAVED_FIRST                          \
		RETURN_OF_##at                                         \
		"mov %rax, %rdi\n"                                     \
		from                                                   \
		"cmpl $1, state_page(%rip)\n"                          \
		"jne 2f\n"                                             \
		/* look() of core/edge.c */                            \
		"lea 0(, %rsi, 8), %rcx\n"                             \
		PATCH_EDGE_OF_OFFSET                                   \
		"rdtsc\n"                                              \
		"shl $32, %rdx\n"                                      \
		"or %rdx, %rax\n"                                      \
		PATCH_COMPARE(hook, kind, 3f)                          \
		"7:\n"                                                 \
		"mov " NUMBER_##kind "(%rcx), %ecx\n"                  \
		"mov site_index + 16(%rip), %rdx\n"                    \
		"test %ecx, %ecx\n"                                    \
		"jz 8f\n"                                              \
		"cmpl $0, (%rdx)\n"                                    \
		"jne 9f\n"                                             \
		"6:\n"                                                 \
		/* event_put() */                                      \
		"mov self@gottpoff(%rip), %rdx\n"                      \
		"mov $24, %edi\n"                                      \
		"xadd %rdi, %fs:(%rdx)\n"                              \
		"movzwl %di, %edx\n"                                   \
		"cmp $63984, %edx\n"                                   \
		"jae 4f\n"                                             \
		"prefetchw 512(%rdi)\n"                                \
		/* cst_record_set() */                                 \
		PLACE_OF_##at                                          \
		"mov %esi, %edx\n"                                     \
		"shl $32, %rcx\n"                                      \
		"or %rdx, %rcx\n"                                      \
		"mov %rbp, %rdx\n"                                     \
		"shr $32, %rsi\n"                                      \
		"shl $16, %rdx\n"                                      \
		"mov %rcx, 8(%rdi)\n"                                  \
		"shrd $16, %rsi, %rdx\n"                               \
		"mov %rdx, 16(%rdi)\n"                                 \
		"mov %rax, (%rdi)\n"                                   \
		".cfi_remember_state\n"                                \
		"1:\n" PATCH_RESTORED_LAST                             \
		"ret\n"                                                \
		".cfi_restore_state\n"                                 \
		"3:\n" /* it is elsewhere, perhaps */                  \
		PATCH_NEIGHBOUR(hook, kind, 32)                        \
		"movabs $" PATCH_TEXT(SITE_HASH_CALLEE) ", %rcx\n"     \
		"movabs $" PATCH_TEXT(SITE_HASH_CALLER) ", %rdx\n"     \
		"imul %rdi, %rcx\n"                                    \
		"imul %rsi, %rdx\n"                                    \
		"add %rdx, %rcx\n"                                     \
		"shr $" PATCH_TEXT(EDGE_SHIFT) ", %rcx\n"              \
		PATCH_EDGE_OF_OFFSET                                   \
		PATCH_NEIGHBOUR(hook, kind, 0)                         \
		PATCH_NEIGHBOUR(hook, kind, 32)                        \
		PATCH_NEIGHBOUR(hook, kind, 96)                        \
		PATCH_NEIGHBOUR(hook, kind, 32)                        \
		"jmp 8f\n"                                             \
		"2:\n"                                                 \
		"cmpl $2, state_page(%rip)\n"                          \
		"je 1b\n"                                              \
		"8:\n"                                                 \
		"mov %rdi, %rax\n"                                     \
		PLACE_OF_##at                                          \
		"mov $" PATCH_TEXT(hook) ", %edx\n"                    \
		"jmp patched_other\n"                                  \
		"9:\n" /* site_verdict() */                            \
		"mov %ecx, %edx\n"                                     \
		"shl $5, %rdx\n"                                       \
		"add site_index + 8(%rip), %rdx\n"                     \
		"cmpb $0, 24(%rdx)\n"                                  \
		"je 6b\n"                                              \
		"jmp 8b\n"                                             \
		"4:\n"                                                 \
		"shl $5, %rcx\n"                                       \
		"add site_index + 8(%rip), %rcx\n"                     \
		"mov (%rcx), %rdi\n"                                   \
		"jmp 8b\n"                                             \
		".cfi_endproc\n"                                       \
		".size " #name ", . - " #name "\n")

/* The like, for events that are all taken by patched_other(). */
#define CHECKED_FUNCTION(name, hook, at, from)                         \
	__asm__(".text\n"                                              \
		".p2align 4\n"                                         \
		".globl " #name "\n"                                   \
		".hidden " #name "\n"                                  \
		".type " #name ", @function\n" #name ":\n"             \
		PASSED_BEGIN PATCH_SAVED_FIRST                          \
		RETURN_OF_##at                                         \
		from                                                   \
		PLACE_OF_##at                                          \
		"mov $" PATCH_TEXT(hook) ", %edx\n"                    \
		"jmp patched_other\n"                                  \
		"1:\n" PATCH_RESTORED_LAST                             \
		"ret\n"                                                \
		".cfi_endproc\n"                                       \
		".size " #name ", . - " #name "\n")

#define PATCH_KEPT(reg) PUSHED(reg) ".cfi_rel_offset " #reg ", 0\n"
#define PATCH_TAKEN(reg) POPPED(reg) ".cfi_restore " #reg "\n"
#define PATCH_ARGUMENTS                                                \
	"mov %r12, %rdi\n"                                             \
	"mov %r13, %rsi\n"                                             \
	"mov %r14d, %edx\n"                                            \
	"mov %rbx, %rcx\n"

/* Makes a struct copy_registers on the stack, below all else that a copy program
 * can want (CST_PATCHED_AT), and calls patched_event() with the function, the
 * address of its return address, the hook's word, and these registers.  If that
 * returns 1 there is more to do: with the vectors saved, patched_later(). */
#define PATCH_OTHER                                                    \
	__asm__(".text\n"                                              \
		".p2align 4\n"                                         \
		".type patched_other, @function\n"                     \
		"patched_other:\n"                                     \
		".cfi_startproc\n"                                     \
		".cfi_def_cfa_offset 40\n"                             \
		PUSHED(r8) PUSHED(r9) PUSHED(r10) PUSHED(r11)          \
		"sub $64, %rsp\n"                                      \
		".cfi_adjust_cfa_offset 64\n"                          \
		"movsd %xmm0, (%rsp)\n"                                \
		"movsd %xmm1, 8(%rsp)\n"                               \
		"movsd %xmm2, 16(%rsp)\n"                              \
		"movsd %xmm3, 24(%rsp)\n"                              \
		"movsd %xmm4, 32(%rsp)\n"                              \
		"movsd %xmm5, 40(%rsp)\n"                              \
		"movsd %xmm6, 48(%rsp)\n"                              \
		"movsd %xmm7, 56(%rsp)\n"                              \
		PUSHED(rsi) PATCH_KEPT(r15) PATCH_KEPT(r14)            \
		PATCH_KEPT(r13) PATCH_KEPT(r12) PATCH_KEPT(rbp)        \
		PATCH_KEPT(rbx)                                        \
		"mov %rsp, %rbx\n"                                     \
		".cfi_def_cfa_register rbx\n"                          \
		"and $-64, %rsp\n"                                     \
		"mov %rax, %r12\n"                                     \
		"mov %rsi, %r13\n"                                     \
		"mov %edx, %r14d\n"                                    \
		PATCH_ARGUMENTS                                        \
		"call patched_event\n"                                 \
		".globl patched_event_returns\n"                       \
		".hidden patched_event_returns\n"                      \
		"patched_event_returns:\n"                             \
		"test %eax, %eax\n"                                    \
		"jnz 2f\n"                                             \
		"1:\n"                                                 \
		"mov %rbx, %rsp\n"                                     \
		".cfi_def_cfa_register rsp\n"                          \
		".cfi_remember_state\n"                                \
		PATCH_TAKEN(rbx) PATCH_TAKEN(rbp) PATCH_TAKEN(r12)     \
		PATCH_TAKEN(r13) PATCH_TAKEN(r14) PATCH_TAKEN(r15)     \
		"add $72, %rsp\n"                                      \
		".cfi_adjust_cfa_offset -72\n"                         \
		POPPED(r11) POPPED(r10) POPPED(r9) POPPED(r8)          \
		PATCH_RESTORED_LAST                                    \
		"ret\n"                                                \
		".cfi_restore_state\n"                                 \
		".cfi_def_cfa_register rbx\n"                          \
		"2:\n"                                                 \
		"sub patched_room(%rip), %rsp\n"                       \
		"and $-64, %rsp\n"                                     \
		"mov patched_mask(%rip), %eax\n"                       \
		"xor %edx, %edx\n"                                     \
		"test %eax, %eax\n"                                    \
		"jz 3f\n"                                              \
		"mov %rdx, 512(%rsp)\n"                                \
		"mov %rdx, 520(%rsp)\n"                                \
		"mov %rdx, 528(%rsp)\n"                                \
		"mov %rdx, 536(%rsp)\n"                                \
		"mov %rdx, 544(%rsp)\n"                                \
		"mov %rdx, 552(%rsp)\n"                                \
		"mov %rdx, 560(%rsp)\n"                                \
		"mov %rdx, 568(%rsp)\n"                                \
		"xsave64 (%rsp)\n"                                     \
		PATCH_ARGUMENTS                                        \
		"call patched_later\n"                                 \
		".globl patched_later_returns\n"                       \
		".hidden patched_later_returns\n"                      \
		"patched_later_returns:\n"                             \
		"mov patched_mask(%rip), %eax\n"                       \
		"xor %edx, %edx\n"                                     \
		"xrstor64 (%rsp)\n"                                    \
		"jmp 1b\n"                                             \
		"3:\n"                                                 \
		"fxsave64 (%rsp)\n"                                    \
		PATCH_ARGUMENTS                                        \
		"call patched_later\n"                                 \
		".globl patched_late_returns\n"                        \
		".hidden patched_late_returns\n"                       \
		"patched_late_returns:\n"                              \
		"fxrstor64 (%rsp)\n"                                   \
		"jmp 1b\n"                                             \
		".cfi_endproc\n"                                       \
		".size patched_other, . - patched_other\n")
/* clang-format on */

#endif
