/* SPDX-License-Identifier: MIT
 *
 * A member function that is inlined three times into one that has another
 * variable of the same name as its own.
 */
#include <cstdio>

struct Shelf {
	int filled;

	__attribute__((always_inline)) inline int put(int more)
	{
		__asm__ volatile("" : : "r"(this), "r"(more) : "memory");
		filled += more;
		return filled;
	}
};

/* It has code of its own, too: gdb knows it from the begin. */
int (Shelf::*volatile a_put)(int) = &Shelf::put;

int main(int argc, char **)
{
	Shelf shelf{10};
	int sum = 0, filled = 500;

	for (int i = 0; i < 3; i++) {
		__asm__ volatile("" : : "r"(i), "r"(filled) : "memory");
		sum += shelf.put(argc + i);
	}
	__asm__ volatile("" : : "r"(&shelf) : "memory");
	printf("%d\n", sum + filled);
	return 0;
}
