/* SPDX-License-Identifier: MIT
 *
 * What the uses of cstrace.h cost, in ns, as key=value into OUT:
 *
 *   own TIMES OUT
 */
#include <cstrace/cstrace.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Processor time: others may want the processor, too. */
static double now_ns(void)
{
	struct timespec t = {0, 0};

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __attribute__((noinline)) void nothing(long i)
{
	__asm__ volatile("" : : "r"(i));
}

static __attribute__((noinline)) void span(long i)
{
	CSTRACE_SPAN("span");
	__asm__ volatile("" : : "r"(i));
}

static __attribute__((noinline)) void values(long i)
{
	CSTRACE_SPAN("values", "file", "a.txt", "i", i);
	__asm__ volatile("" : : "r"(i));
}

static __attribute__((noinline)) void message(long i)
{
	cstrace_log("message %ld", i);
}

static __attribute__((noinline)) void counter(long i)
{
	cstrace_count("counter", i);
}

CSTRACE_FUNC(long, function, (long i), (i), { return i; })

static void call_function(long i)
{
	function(i);
}

static int on_enter(const struct cstrace_call *call, void *data)
{
	(void)call;
	++*(long *)data;
	return CSTRACE_GO_ON;
}

static double each(void (*work)(long), long n)
{
	double begin = now_ns();

	for (long i = 0; i < n; i++)
		work(i);
	return (now_ns() - begin) / (double)n;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*work)(long);
	} uses[] = {{"span", span},
		    {"values", values},
		    {"message", message},
		    {"counter", counter},
		    {"function", call_function}};
	long n = argc == 3 ? atol(argv[1]) : 0, n_seen = 0;
	double empty, with;
	FILE *out = argc == 3 ? fopen(argv[2], "w") : NULL;
	int callback;

	if (!out || n < 1)
		return 2;
	each(nothing, n);
	empty = each(nothing, n);
	for (size_t i = 0; i < sizeof(uses) / sizeof(uses[0]); i++) {
		each(uses[i].work, n / 10 + 1);
		fprintf(out, "%s=%.2f ", uses[i].name,
			each(uses[i].work, n) - empty);
	}
	callback = cstrace_on_enter(on_enter, &n_seen);
	with = each(call_function, n);
	cstrace_off(callback);
	/* Without the library there is none. */
	fprintf(out, "callback=%.2f seen=%ld\n", with - empty, n_seen);
	return fclose(out) ? 1 : 0;
}
