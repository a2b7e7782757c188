/* SPDX-License-Identifier: MIT
 *
 * Calls, while another thread sleeps and wakes.
 */
#include <pthread.h>
#include <unistd.h>

static volatile int is_over;

static void *doze(void *nothing)
{
	while (!is_over)
		usleep(1000);
	return nothing;
}

__attribute__((noinline)) int scale(int n)
{
	int r = n * 3;
	r ^= n;
	r += 2;
	return r + 1;
}

__attribute__((noinline)) int sum(int n)
{
	int total = 0;
	for (int i = 0; i < n; i++)
		total += scale(i);
	return total;
}

__attribute__((noinline)) int third(const int *all)
{
	return all[2] + 1;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int r = 0;

	(void)argv;
	if (pthread_create(&thread, NULL, doze, NULL))
		return 1;
	r = sum(argc + 2);
	r += sum(2);
	if (argc > 1)
		r += third(NULL);
	is_over = 1;
	pthread_join(thread, NULL);
	return r == 99;
}
