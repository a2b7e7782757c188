/* SPDX-License-Identifier: MIT
 *
 * Functions of names that libc has, too, but the program's own
 * (own_names_there.c): what they are given ends where memory does.
 */
#include <sys/mman.h>

int longjmp(const char *from, int n);
int swapcontext(const char *from, const char *to);
int clone(const char *from, int n, int flags);

static int leaf(int n)
{
	return n + 1;
}

int main(void)
{
	char *memory = mmap(0, 8192, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *last = memory + 4095;
	int n = 0;

	munmap(memory + 4096, 4096);
	for (int i = 0; i < 2; i++) {
		n += longjmp(last, leaf(1));
		n += swapcontext(last, last);
		n += clone(last, leaf(1), 0x100);
	}
	return n == 8 ? 0 : 1;
}
