/* SPDX-License-Identifier: MIT
 *
 * A server that works on each request for a few microseconds, so that there are
 * two system calls in less time than it takes to stop a thread from outside.
 * argv: how long it runs, in ms of its CPU time.  Prints the shares of its time
 * that it measured itself: "heavy 0.412 light 0.206".
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The kernel reads /dev/zero by pages, and a stop may end it at each. */
enum { TURNS = 1500, LOOK = 256, BYTES = 4096, SEEN = 1 << 17 };

static volatile uint64_t sum;
static char buffer[BYTES];

static uint64_t ran_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

__attribute__((noinline)) static void turn(unsigned turns)
{
	for (unsigned i = 0; i < turns; i++)
		sum += i ^ turns;
}

__attribute__((noinline)) static void heavy(void)
{
	turn(2 * TURNS);
	sum++;
}

__attribute__((noinline)) static void light(void)
{
	turn(TURNS);
	sum++;
}

__attribute__((noinline)) static int ask(int fd)
{
	return read(fd, buffer, BYTES) == BYTES;
}

__attribute__((noinline)) static int answer(int fd)
{
	return write(fd, buffer, BYTES) == BYTES;
}

enum part { ASK, HEAVY, LIGHT, ANSWER, N_PARTS };

/* Ticks for which the parts ran, of as many turns as there is room for.  Where
 * one took twice as long as most, there was an interrupt, or another process
 * had the processor: long parts have more of these, and none counts. */
static uint64_t ticks[N_PARTS][SEEN];

static uint64_t count(enum part part, uint64_t n, uint64_t begin)
{
	uint64_t end = __builtin_ia32_rdtsc();

	ticks[part][n % SEEN] = end - begin;
	return end;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double mean(enum part part, uint64_t n)
{
	uint64_t *all = ticks[part], kept = 0;
	double sum = 0;

	n = n < SEEN ? n : SEEN;
	qsort(all, n, sizeof(*all), by_size);
	for (; kept < n && all[kept] <= 2 * all[n / 2]; kept++)
		sum += (double)all[kept];
	return sum / (double)kept;
}

int main(int argc, char **argv)
{
	uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	int from = open("/dev/zero", O_RDONLY);
	int to = open("/dev/null", O_WRONLY), is_well = 1;
	double heavy_is, light_is, all;
	uint64_t n = 0;

	for (; is_well && (n % LOOK || ran_ns() < limit); n++) {
		uint64_t then = __builtin_ia32_rdtsc();

		is_well &= ask(from);
		then = count(ASK, n, then);
		heavy();
		then = count(HEAVY, n, then);
		light();
		then = count(LIGHT, n, then);
		is_well &= answer(to);
		count(ANSWER, n, then);
	}
	heavy_is = mean(HEAVY, n);
	light_is = mean(LIGHT, n);
	all = mean(ASK, n) + heavy_is + light_is + mean(ANSWER, n);
	printf("heavy %.3f light %.3f\n", heavy_is / all, light_is / all);
	return !is_well;
}
