/* SPDX-License-Identifier: MIT
 * Its stack is overwritten, and it stops there. */
static void lose(void)
{
	((long *)__builtin_frame_address(0))[1] = 1;
	__asm__ volatile("int3");
}

int main(void)
{
	lose();
	return 0;
}
