/* SPDX-License-Identifier: MIT
 *
 * main() of the workloads, not instrumented: TARGET THREADS SIZE OUT.
 * Writes to OUT, as key=value, what the workload took: wall and processor
 * time of this process, and the processor time that its tracer (if any) had
 * used when the workload began.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "workload.h"

enum { MAX_THREADS = 64 };

struct part {
	pthread_t id;
	unsigned size, thread, n_threads;
	uint64_t result;
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t) < 0)
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int tracer_pid(void)
{
	char line[256];
	int pid = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "TracerPid: %d", &pid) == 1)
			break;
	if (f)
		fclose(f);
	return pid;
}

static uint64_t tracer_ns(void)
{
	int pid = tracer_pid();
	clockid_t clock;

	if (!pid || clock_getcpuclockid(pid, &clock))
		return 0;
	return now_ns(clock);
}

static void *part_run(void *arg)
{
	struct part *p = arg;

	p->result = workload(p->size, p->thread, p->n_threads);
	return NULL;
}

/* One thread is the main one: as a plain program has it. */
static int parts_run(struct part *parts, unsigned n)
{
	if (n == 1) {
		part_run(parts);
		return 0;
	}
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&parts[i].id, NULL, part_run, &parts[i]))
			return -1;
	for (unsigned i = 0; i < n; i++)
		pthread_join(parts[i].id, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned n = argc == 4 ? (unsigned)atoi(argv[1]) : 0;
	unsigned size = argc == 4 ? (unsigned)atoi(argv[2]) : 0;
	struct part parts[MAX_THREADS];
	uint64_t calls = 0, result = 0, tracer, wall, cpu;
	FILE *out;

	if (n < 1 || n > MAX_THREADS) {
		fprintf(stderr, "usage: %s THREADS SIZE OUT\n", argv[0]);
		return 2;
	}
	for (unsigned i = 0; i < n; i++) {
		parts[i] = (struct part){
			.size = size, .thread = i, .n_threads = n};
		calls += workload_calls(size, i, n);
	}
	tracer = tracer_ns();
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	wall = now_ns(CLOCK_MONOTONIC);
	if (parts_run(parts, n))
		return 1;
	wall = now_ns(CLOCK_MONOTONIC) - wall;
	cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	for (unsigned i = 0; i < n; i++)
		result += parts[i].result;
	out = fopen(argv[3], "w");
	if (!out)
		return 1;
	fprintf(out, "wall=%lu cpu=%lu calls=%lu tracer=%lu result=%lu\n",
		(unsigned long)wall, (unsigned long)cpu, (unsigned long)calls,
		(unsigned long)tracer, (unsigned long)result);
	return fclose(out) ? 1 : 0;
}
