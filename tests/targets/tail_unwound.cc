/* SPDX-License-Identifier: MIT
 *
 * Optimized, to_throws() goes on by a jump to throws(), which an exception
 * leaves for odd numbers, and to_jumps() to jumps(), which a longjmp() does for
 * zero.
 */
#include <csetjmp>
#include <stdexcept>

#define APART __attribute__((noinline))

static volatile int sink;
static jmp_buf out;

APART int throws(int n)
{
	sink = n;
	if (n % 2)
		throw std::runtime_error("odd");
	return n + 1;
}

APART int to_throws(int n)
{
	sink = 2;
	return throws(n);
}

APART int jumps(int n)
{
	sink = n;
	if (n == 0)
		longjmp(out, 1);
	return n;
}

APART int to_jumps(int n)
{
	sink = 3;
	return jumps(n);
}

APART void after()
{
	sink = 4;
}

APART void finished()
{
	sink = 5;
}

int main()
{
	for (volatile int i = 0; i < 8; i++) {
		try {
			sink = to_throws(i);
		} catch (std::exception &) {
			sink = 6;
		}
		after();
		if (!setjmp(out))
			sink = to_jumps(i % 3);
		after();
	}
	finished();
}
