/* SPDX-License-Identifier: MIT
 *
 * All that the shim knows of the processor: the clock, the cursor, the
 * caller's two pointers, the system call, and the two functions that do
 * nothing.  Another processor gets a header of its own with the same names.
 */
#ifndef SHIM_X86_64_H
#define SHIM_X86_64_H

#include <asm/prctl.h>
#include <cpuid.h>
#include <linux/audit.h>
#include <stdint.h>
#include <sys/syscall.h>
#include "cstrace/layout.h"
#include "kernel/syscall_gate.h"

#define AUDIT_ARCH_NOW AUDIT_ARCH_X86_64

/* Where the area is put: far from what the kernel places of its own accord,
 * and from what sanitizers keep for themselves. */
#define PLACE_FIRST 0x400000000000ull
#define PLACE_STEP 0x10000000000ull
enum { N_PLACES = 8 };

/* How the call begins that returns behind so many bytes. */
enum { DIRECT_CALL = 0xe8, DIRECT_CALL_BYTES = 5 };

static inline uint64_t clock_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Claims the next slot: returns *cursor and adds size to it.  It is one
 * instruction, so that a signal handler comes before or after it and never gets
 * the same slot; it is not locked, for no other thread writes the cursor. */
static inline uint64_t cursor_take(uint64_t *cursor, uint64_t size)
{
	__asm__ volatile("xaddq %0, %1" : "+r"(size), "+m"(*cursor) : : "cc");
	return size;
}

/* Asks for a cache line that is to be written soon.  It need not be mapped. */
static inline void ask_for_line(uint64_t address)
{
	__asm__ volatile("prefetchw (%0)" : : "r"(address));
}

/* Moves *cursor from one value to another, unless it has changed; returns
 * whether it did.  It is one instruction, as cursor_take(). */
static inline int cursor_step(uint64_t *cursor, uint64_t from, uint64_t to)
{
	uint8_t is_done;

	__asm__ volatile("cmpxchgq %3, %1\n\tsete %0"
			 : "=q"(is_done), "+m"(*cursor), "+a"(from)
			 : "r"(to)
			 : "cc", "memory");
	return is_done;
}

/* Give the stack pointer before the call of the hook, and the frame pointer
 * register there, whatever it holds; for the hooks themselves only.  gcc leaves
 * rbp alone here (-ffixed-rbp in rooms.mk); with clang, asking for
 * the frame's address makes it push rbp, always at the same place. */
#ifdef __clang__
#define callers_sp() ((uint64_t)__builtin_frame_address(0) + 16)
#define callers_fp() (*(const uint64_t *)__builtin_frame_address(0))
#else
#define callers_sp() ((uint64_t)__builtin_dwarf_cfa())
#define callers_fp()                                   \
	({                                             \
		uint64_t fp_;                          \
		__asm__("movq %%rbp, %0" : "=r"(fp_)); \
		fp_;                                   \
	})
#endif

/* Gives the register of that number (enum cst_copy_register, or anything) as
 * the hook's caller had it; sp and fp are those.  Only for code that is reached
 * by jumps, in a file that is compiled to leave these registers alone. */
#ifdef __clang__
#define HAS_CALLERS_REGISTERS 0
#define CALLERS(name) 0
#else
#define HAS_CALLERS_REGISTERS 1
#define CALLERS(name)                                              \
	({                                                         \
		uint64_t register_;                                \
		__asm__("movq %%" #name ", %0" : "=r"(register_)); \
		register_;                                         \
	})
#endif

static inline __attribute__((always_inline)) uint64_t
callers_register(int8_t number, uint64_t sp, uint64_t fp)
{
	if (number == CST_REG_RBX)
		return CALLERS(rbx);
	if (number == CST_REG_RBP)
		return fp;
	if (number == CST_REG_R12)
		return CALLERS(r12);
	if (number == CST_REG_R13)
		return CALLERS(r13);
	if (number == CST_REG_R14)
		return CALLERS(r14);
	return number == CST_REG_R15 ? CALLERS(r15) : sp;
}

/* The frame pointer, rbp, in DWARF's numbers of registers. */
enum { DWARF_FP = 6 };

static inline uint64_t own_sp(void)
{
	uint64_t sp;

	__asm__ volatile("movq %%rsp, %0" : "=r"(sp));
	return sp;
}

/* Returns the address of the thread's own data, which libc puts at the upper
 * end of the stack that it makes. */
static inline uint64_t thread_pointer(void)
{
	uint64_t pointer;

	__asm__("movq %%fs:0, %0" : "=r"(pointer));
	return pointer;
}

/* Returns word i of libc's jmp_buf, a pointer, without the guard that glibc
 * keeps in the thread's data. */
static inline uint64_t jump_word(const void *env, int i, int is_guarded)
{
	uint64_t word = ((const uint64_t *)env)[i];

	if (is_guarded)
		__asm__("rorq $17, %0\n\txorq %%fs:48, %0"
			: "+r"(word)
			:
			: "cc");
	return word;
}

/* Return where a jmp_buf leads: frame pointer, stack pointer, and the place in
 * the code. */
static inline uint64_t jump_target_fp(const void *env, int is_guarded)
{
	return jump_word(env, 1, is_guarded);
}

static inline uint64_t jump_target_sp(const void *env, int is_guarded)
{
	return jump_word(env, 6, is_guarded);
}

static inline uint64_t jump_target_pc(const void *env, int is_guarded)
{
	return jump_word(env, 7, is_guarded);
}

/* Returns the same where that place is in musl's sigsetjmp(), which returns
 * there once more. */
static inline uint64_t jump_returned_pc(const void *env)
{
	return jump_word(env, 8, 0);
}

/* Return the frame pointer, stack pointer and program counter in a
 * ucontext_t. */
static inline uint64_t context_fp(const void *context)
{
	return ((const uint64_t *)context)[15];
}

static inline uint64_t context_sp(const void *context)
{
	return ((const uint64_t *)context)[20];
}

static inline uint64_t context_pc(const void *context)
{
	return ((const uint64_t *)context)[21];
}

static inline void cpu_relax(void)
{
	__asm__ volatile("pause");
}

/* Makes a system call by the kernel's own convention: returns a negative errno
 * on failure, and does not touch errno. */
static inline long syscall6(long number, long a, long b, long c, long d, long e,
			    long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10),
			   "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* Returns whether the thread has thread data.  A static program runs before
 * libc has made it, and before it can have a sandbox. */
static inline int has_thread_data(void)
{
	uint64_t pointer = 0;

	return gate_call(SYS_arch_prctl, ARCH_GET_FS, (long)&pointer, 0, 0, 0,
			 0) < 0 ||
	       pointer;
}

/* Where gdb steps by lines, and a thread has come to this first instruction,
 * gdb steps on, as it does in what a signal runs first: it would take it for
 * the wrong function's call.  But it asks the unwinder of
 * gdbext/process/line_steps.py before. */
#define PASSED_BEGIN_OF(first)                       \
	".cfi_startproc\n"                           \
	".cfi_signal_frame\n" first ".cfi_endproc\n" \
	".cfi_startproc\n"
#define PASSED_BEGIN PASSED_BEGIN_OF("endbr64\n")

/* A function that returns at once, with an address of its own.  No compiler
 * sees its body: none inlines, clones or merges it.  The second name is for
 * the same file's use, past the dynamic linker. */
#define NOOP_FUNCTION(name, local) \
	NOOP_FUNCTION_OF(name, local, ".cfi_startproc\n nop\n")
#define PASSED_NOOP_FUNCTION(name, local) \
	NOOP_FUNCTION_OF(name, local, PASSED_BEGIN_OF("nop\n"))
#define NOOP_FUNCTION_OF(name, local, begin)                                  \
	__asm__(".text\n"                                                     \
		".p2align 4\n"                                                \
		".globl " #name "\n"                                          \
		".type " #name ", @function\n" #name ":\n" #local ":\n" begin \
		"ret\n"                                                       \
		".cfi_endproc\n"                                              \
		".size " #name ", . - " #name "\n")

#define PUSHED(reg) "push %" #reg "\n.cfi_adjust_cfa_offset 8\n"
#define POPPED(reg) "pop %" #reg "\n.cfi_adjust_cfa_offset -8\n"
#define ARGUMENTS_PUSHED \
	PUSHED(rdi)      \
	PUSHED(rsi) PUSHED(rdx) PUSHED(rcx) PUSHED(r8) PUSHED(r9) PUSHED(rax)
#define ARGUMENTS_POPPED \
	POPPED(rax)      \
	POPPED(r9) POPPED(r8) POPPED(rcx) POPPED(rdx) POPPED(rsi) POPPED(rdi)

/* The name by which gdb knows the function: libc's name is removed from the
 * symbols that only debuggers read (Makefile), or else a breakpoint on it would
 * be in here, too. */
#define DEBUGGERS_NAME(name)                   \
	".type cstrace_" #name ", @function\n" \
	".set cstrace_" #name ", " #name "\n"

/* A function that calls `first` with the arguments that it was given, and then
 * executes `last` with all as it was.  gdb finds it, and that instruction, in
 * the section. */
#define PASSED_FUNCTION(name, first, last)                                    \
	__asm__(".text\n"                                                     \
		".p2align 4\n"                                                \
		".globl " #name "\n"                                          \
		".type " #name ", @function\n" #name ":\n" DEBUGGERS_NAME(    \
			name) "8:\n" PASSED_BEGIN ARGUMENTS_PUSHED            \
			      "call " #first "\n" ARGUMENTS_POPPED "9: " last \
			      "\n"                                            \
			      ".cfi_endproc\n"                                \
			      ".size " #name ", . - " #name "\n"              \
			      ".pushsection cstrace_passing, \"a\", "         \
			      "@progbits\n"                                   \
			      ".balign 4\n"                                   \
			      ".long 8b - ., 9b - .\n"                        \
			      ".popsection\n")

/* One that jumps to where the pointer `next` leads: what comes there finds its
 * caller's frame, of which not a word was touched. */
#define PASSING_FUNCTION(name, first, next) \
	PASSED_FUNCTION(name, first, "jmp *" #next "(%rip)")

/* A function that takes at most six arguments of integers, and calls `next`
 * with these and, as one more by value, what the registers held (struct
 * copy_registers); the argument in `sp` is the stack pointer in it. */
#define SAVING_FUNCTION(name, next, sp)                                    \
	__asm__(".text\n"                                                  \
		".p2align 4\n"                                             \
		".globl " #name "\n"                                       \
		".hidden " #name "\n"                                      \
		".type " #name ", @function\n" #name ":\n"                 \
		".cfi_startproc\n" PUSHED(sp) PUSHED(r15) PUSHED(r14)      \
			PUSHED(r13) PUSHED(r12) PUSHED(rbp)                \
				PUSHED(rbx) "call " #next "\n"             \
					    "add $56, %rsp\n"              \
					    ".cfi_adjust_cfa_offset -56\n" \
					    "ret\n"                        \
					    ".cfi_endproc\n"               \
					    ".size " #name ", . - " #name  \
					    "\n")

/* A function that calls `first` with the first three arguments that it was
 * given and the address of its return address, then jumps to where that says,
 * with all as it was. */
#define SENDING_FUNCTION(name, first)                                          \
	__asm__(".text\n"                                                      \
		".p2align 4\n"                                                 \
		".globl " #name "\n"                                           \
		".type " #name ", @function\n" #name                           \
		":\n" DEBUGGERS_NAME(name) ".cfi_startproc\n"                  \
					   "endbr64\n" ARGUMENTS_PUSHED        \
					   "lea 56(%rsp), %rcx\n"              \
					   "call " #first "\n"                 \
					   "mov %rax, %r11\n" ARGUMENTS_POPPED \
					   "jmp *%r11\n"                       \
					   ".cfi_endproc\n"                    \
					   ".size " #name ", . - " #name "\n")

/* Returns which parts of the processor's state xsave is to save, and in *room
 * how many bytes they take; 0: there is no xsave, but fxsave.  Tiles are not
 * among them: no code between saving and restoring has any. */
static inline uint32_t vectors_saved(uint64_t *room)
{
	enum { HAS_OSXSAVE = 1 << 27, PARTS = 0xe7, HEADER_END = 576 };
	uint32_t a, b, c, d, mask, unused;

	*room = 512;
	__cpuid(1, a, b, c, d);
	if (!(c & HAS_OSXSAVE))
		return 0;
	__asm__("xgetbv" : "=a"(mask), "=d"(unused) : "c"(0));
	mask &= PARTS;
	*room = HEADER_END;
	for (uint32_t i = 2; i < 8; i++) {
		if (!(mask >> i & 1))
			continue;
		__cpuid_count(0xd, i, a, b, c, d);
		if ((uint64_t)a + b > *room)
			*room = (uint64_t)a + b;
	}
	return mask;
}

#endif
