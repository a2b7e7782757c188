/* SPDX-License-Identifier: MIT
 *
 * What a call costs from the writer to the text: writes a trace like that of
 * fib(N) and reads it back in each way.  Prints; asserts nothing about time.
 *
 *   bench_file [N [FOLDER]]
 */
#include "file/writer.h"
#include "trace/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The program whose calls are written: its clock goes on in noisy steps. */
struct program {
	struct lane *lane;
	uint64_t tick, number, seed;
};

static uint64_t step(struct program *p)
{
	p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
	/* 22 to 37 ticks, now and then an interrupt. */
	return 22 + (p->seed >> 60) +
	       ((p->seed >> 32 & 0xfff) ? 0 : p->seed >> 50);
}

static uint64_t enter(struct program *p, uint32_t site, uint64_t above)
{
	uint64_t number = p->number++;
	struct lane_entry e = {
		.start = p->tick, .number = number, .above = above};

	if (!lane_is_plain(p->lane, number, 0) && lane_prepare(p->lane, &e) < 0)
		return NO_SEQ;
	return lane_enter(p->lane, p->tick, site);
}

static void fib(struct program *p, int n, uint32_t site, uint64_t above)
{
	uint64_t seq;

	p->tick += step(p);
	seq = enter(p, site, above);
	if (n > 1) {
		fib(p, n - 1, 1, seq);
		fib(p, n - 2, 2, seq);
	}
	p->tick += step(p);
	lane_exit(p->lane, seq, p->tick, CALL_RETURN);
}

static uint64_t n_calls;

static void print(const char *what, uint64_t wall, uint64_t cpu)
{
	printf("%-22s %7.2f ns/call wall %7.2f cpu\n", what,
	       (double)wall / (double)n_calls, (double)cpu / (double)n_calls);
}

static void die(const struct cst_error *err)
{
	fprintf(stderr, "bench_file: %s\n", err->text);
	exit(1);
}

static int make_trace(int n, const char *folder, int is_behind)
{
	struct names *names = names_new();
	struct writer_options options = {.dir = folder,
					 .command = "fib",
					 .start_ticks = 1000,
					 .ns_mult = 1u << 30,
					 .ns_shift = 31};
	struct program p = {.tick = 1000, .number = 1};
	struct cst_error err;
	struct writer *w;
	uint64_t wall, cpu, bytes;
	int fd;

	names_set_function(names, names_add_function(names, 1), "fib", "fib",
			   "fib", "fib.c");
	for (uint32_t i = 0; i < 3; i++)
		names_set_site(names, names_add_site(names, 0), "src/fib.c",
			       10 + i);
	if (writer_open(&options, names, &w, &err) < 0)
		die(&err);
	writer_thread(w, 1, 4242, 1, 4242, "fib");
	writer_hurry(w, is_behind);
	p.lane = writer_lane(w, 1, 0, 0);
	wall = now_ns();
	cpu = cpu_ns();
	fib(&p, n, 0, NO_SEQ);
	writer_set_end(w, p.tick);
	writer_flush(w, &err);
	n_calls = p.number - 1;
	print(is_behind ? "write, in a hurry" : "write", now_ns() - wall,
	      cpu_ns() - cpu);
	bytes = writer_bytes(w);
	printf("%-22s %7.2f bytes/call\n", "file",
	       (double)bytes / (double)n_calls);
	if (writer_close(w, &fd, &err) < 0)
		die(&err);
	names_free(names);
	return fd;
}

static int count(void *arg, const char *text, uint64_t size)
{
	(void)text;
	*(uint64_t *)arg += size;
	return 0;
}

static int to_fd(void *arg, const char *text, uint64_t size)
{
	while (size) {
		ssize_t n = write(*(int *)arg, text, size);

		if (n <= 0)
			return -1;
		text += n;
		size -= (uint64_t)n;
	}
	return 0;
}

/* A pipe whose other end a child reads as fast as it can. */
static pid_t open_pipe(int *out)
{
	static char waste[1 << 20];
	int ends[2];
	pid_t pid;

	if (pipe(ends) < 0 || (pid = fork()) < 0)
		exit(1);
	if (pid == 0) {
		close(ends[1]);
		while (read(ends[0], waste, sizeof(waste)) > 0)
			;
		_exit(0);
	}
	close(ends[0]);
	*out = ends[1];
	return pid;
}

static const struct cst_look look = {
	.timestamp = CST_TIME_ELAPSED, .duration = 1, .callsite = 1};

static void bench_show(struct cst_trace *t, int is_pipe)
{
	struct cst_choice choice = {0};
	struct cst_error err;
	uint64_t size = 0, wall = now_ns(), cpu = cpu_ns();
	pid_t pid = 0;
	int fd = -1;

	if (is_pipe)
		pid = open_pipe(&fd);
	if (cst_trace_show(t, &look, &choice, is_pipe ? to_fd : count,
			   is_pipe ? (void *)&fd : (void *)&size, &err) < 0)
		die(&err);
	if (is_pipe) {
		close(fd);
		waitpid(pid, NULL, 0);
	}
	print(is_pipe ? "text to a pipe" : "text", now_ns() - wall,
	      cpu_ns() - cpu);
	if (!is_pipe)
		printf("%-22s %7.2f bytes/call\n", "text",
		       (double)size / (double)n_calls);
}

static void bench_report(struct cst_trace *t)
{
	const struct cst_report report = {0};
	struct cst_choice choice = {0};
	struct cst_error err;
	uint64_t size = 0, wall = now_ns(), cpu = cpu_ns();

	if (cst_trace_report(t, &report, &choice, count, &size, &err) < 0)
		die(&err);
	print("report", now_ns() - wall, cpu_ns() - cpu);
}

static void bench_save(struct cst_trace *t, const char *folder,
		       const char *format)
{
	struct cst_choice choice = {0};
	struct cst_error err;
	uint64_t wall = now_ns(), cpu = cpu_ns();
	char path[4096];

	snprintf(path, sizeof(path), "%s/bench_file.%s", folder, format);
	if (cst_trace_save(t, path, NULL, &look, &choice, &err) < 0)
		die(&err);
	print(format, now_ns() - wall, cpu_ns() - cpu);
	unlink(path);
}

static void bench(int n, const char *folder, int is_behind)
{
	int fd = make_trace(n, folder, is_behind);
	uint64_t wall = now_ns(), cpu = cpu_ns();
	struct cst_trace *t;
	struct cst_error err;

	if (trace_open(fd, "the recorded trace", &t, &err) < 0)
		die(&err);
	print("load", now_ns() - wall, cpu_ns() - cpu);
	bench_report(t);
	bench_save(t, folder, "cst");
	if (!is_behind) {
		bench_show(t, 0);
		bench_show(t, 1);
		bench_save(t, folder, "txt");
		bench_save(t, folder, "jsonl");
	}
	cst_trace_free(t);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 2 ? argv[2] : "/var/tmp";
	int n = argc > 1 ? atoi(argv[1]) : 32;

	bench(n, folder, 1);
	bench(n, folder, 0);
	return 0;
}
