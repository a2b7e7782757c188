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
enum { TURNS = 1500, LOOK = 256, BYTES = 4096 };

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

/* Ticks for which the parts ran.  Where one took far longer than usual, another
 * process had the processor, and it counts as usual. */
static uint64_t ticks[N_PARTS], usual[N_PARTS];

static uint64_t count(enum part part, uint64_t begin)
{
	uint64_t end = __builtin_ia32_rdtsc(), ran = end - begin;

	if (usual[part] && ran > 8 * usual[part])
		ran = usual[part];
	usual[part] = (7 * usual[part] + ran) / 8;
	ticks[part] += ran;
	return end;
}

int main(int argc, char **argv)
{
	uint64_t limit = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 0;
	int from = open("/dev/zero", O_RDONLY);
	int to = open("/dev/null", O_WRONLY), is_well = 1;
	uint64_t all;

	for (uint64_t n = 0; is_well && (n % LOOK || ran_ns() < limit); n++) {
		uint64_t then = __builtin_ia32_rdtsc();

		is_well &= ask(from);
		then = count(ASK, then);
		heavy();
		then = count(HEAVY, then);
		light();
		then = count(LIGHT, then);
		is_well &= answer(to);
		count(ANSWER, then);
	}
	all = ticks[ASK] + ticks[HEAVY] + ticks[LIGHT] + ticks[ANSWER];
	printf("heavy %.3f light %.3f\n", (double)ticks[HEAVY] / (double)all,
	       (double)ticks[LIGHT] / (double)all);
	return !is_well;
}
