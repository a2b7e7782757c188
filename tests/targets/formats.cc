// SPDX-License-Identifier: MIT
//
// What a format must get right: recursion, direct and not; calls left by
// longjmp() and by an exception; names with quotes; threads, a fork; and, with
// an argument, calls that never end.
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

namespace
{

jmp_buf back;

int leaf(int n)
{
	return n + 1;
}

int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int odd(int n);

int even(int n)
{
	return n ? odd(n - 1) : leaf(0);
}

int odd(int n)
{
	return n ? even(n - 1) : leaf(1);
}

void leap(int n)
{
	if (!n)
		longjmp(back, 1);
	leap(n - 1);
}

void jump()
{
	if (!setjmp(back))
		leap(3);
}

void fail(int n)
{
	if (!n)
		throw n;
	fail(n - 1);
}

void rescue()
{
	try {
		fail(2);
	} catch (int) {
	}
}

template <char C> int letter()
{
	return C;
}

void *work(void *)
{
	for (int i = 0; i < 50; i++)
		even(i % 5);
	return NULL;
}

void stop(int n)
{
	if (!n)
		_exit(0);
	stop(n - 1);
}

} // namespace

int operator"" _twice(unsigned long long n)
{
	return leaf(static_cast<int>(n));
}

int main(int argc, char **)
{
	pthread_t threads[2];

	for (pthread_t &t : threads)
		pthread_create(&t, NULL, work, NULL);
	fib(10);
	jump();
	rescue();
	letter<'"'>();
	letter<'\\'>();
	letter<';'>();
	1_twice;
	for (pthread_t &t : threads)
		pthread_join(t, NULL);
	if (!fork()) {
		even(3);
		_exit(0);
	}
	wait(NULL);
	if (argc > 1)
		stop(3);
	return 0;
}
