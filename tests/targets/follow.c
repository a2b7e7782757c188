/* SPDX-License-Identifier: MIT
 *
 * A child makes calls, and faults in the last one.
 */
#include <sys/wait.h>
#include <unistd.h>

struct item {
	int price;
	struct item *next;
};

__attribute__((noinline)) int scale(int n)
{
	int r = n * 3;
	r ^= n;
	return r + 1;
}

__attribute__((noinline)) int both(int n)
{
	return scale(n) + scale(n + 1);
}

__attribute__((noinline)) int price(struct item *item)
{
	return item->next->price * 3;
}

int main(int argc, char **argv)
{
	struct item item = {argc, argc > 1 ? &item : NULL};
	int status = 0;

	(void)argv;
	if (!fork())
		_exit((both(3) + price(&item)) & 1);
	wait(&status);
	return both(4) == 0;
}
