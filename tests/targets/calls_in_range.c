/* SPDX-License-Identifier: MIT
 *
 * Functions that call themselves within the lines that gdb steps, and that have
 * two bytes only for a jump at their begin or end.  The room for ten more is in
 * lines further on, whose numbers are made up.
 */
long total;

#define PUSHED                       \
	"push %rbx\n"                \
	".cfi_adjust_cfa_offset 8\n" \
	"mov %rdi, %rbx\n"
#define POPPED       \
	"pop %rbx\n" \
	".cfi_adjust_cfa_offset -8\n"
#define ROOM                      \
	".loc 1 90\n"             \
	"mov $1, %ecx\n"          \
	"mov $2, %edx\n"          \
	"mov $3, %esi\n"          \
	"mov $4, %esi\n"          \
	".loc 1 91\n"             \
	"add %ecx, total(%rip)\n" \
	".loc 1 92\n"

/* The call is in the line that it begins with. */
__attribute__((naked, noinline)) void begins(long n)
{
	__asm__(PUSHED "1: test %rbx, %rbx\n"
		       "jle 2f\n"
		       "dec %rbx\n"
		       "mov %rbx, %rdi\n"
		       "call begins\n"
		       "dec %rbx\n"
		       "jmp 1b\n"
		       ".loc 1 80\n"
		       "2: " POPPED ROOM "ret\n");
}

/* The call is further on, where `until` steps on from the begin. */
__attribute__((naked, noinline)) void goes_on(long n)
{
	__asm__(PUSHED "1: test %rbx, %rbx\n"
		       "jle 2f\n"
		       ".loc 1 70\n"
		       "dec %rbx\n"
		       ".loc 1 71\n"
		       "mov %rbx, %rdi\n"
		       "call goes_on\n"
		       ".loc 1 72\n"
		       "dec %rbx\n"
		       "jmp 1b\n"
		       ".loc 1 80\n"
		       "2: " POPPED ROOM "ret\n");
}

/* An end is in the line that it begins with, too. */
__attribute__((naked, noinline)) void ends(long n)
{
	__asm__(PUSHED "test %rbx, %rbx\n"
		       "jle 2f\n"
		       "dec %rbx\n"
		       "mov %rbx, %rdi\n"
		       "call ends\n"
		       "jmp 3f\n"
		       ".cfi_remember_state\n"
		       "2: " POPPED "ret\n"
		       ".cfi_restore_state\n"
		       "3:\n" ROOM POPPED "ret\n");
}

int main(void)
{
	begins(5);
	goes_on(5);
	ends(5);
	return total == 0;
}
