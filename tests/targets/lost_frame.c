/* SPDX-License-Identifier: MIT
 *
 * Works where the frame pointer holds no address, and the unwind tables say
 * that the caller is found by it: the last word of all addresses would be read.
 */
#include <stdio.h>

void work(long n);

__asm__(".text\n"
	".type work, @function\n"
	"work:\n"
	"	.cfi_startproc\n"
	"	push %rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov $-24, %rbp\n"
	"	.cfi_def_cfa %rbp, 16\n"
	"	.cfi_offset %rip, 0\n"
	"1:	dec %rdi\n"
	"	jnz 1b\n"
	"	pop %rbp\n"
	"	.cfi_def_cfa %rsp, 8\n"
	"	.cfi_offset %rip, -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size work, . - work\n");

int main(void)
{
	work(300000000);
	puts("done");
	return 0;
}
