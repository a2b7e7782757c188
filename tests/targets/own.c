/* SPDX-License-Identifier: MIT
 *
 * All that a C program says by cstrace.h, in a known order; without an argument
 * a callback vetoes.
 */
#include <cstrace/cstrace.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct pair {
	int a, b;
};

CSTRACE_FUNC(int, add, (int a, int b), (a, b), { return a + b; })
CSTRACE_FUNC_VOID(nothing, (struct pair p, double d, const char *s), (p, d, s),
		  {
			  (void)p;
			  (void)d;
			  cstrace_log("nothing for %s", s);
		  })
static CSTRACE_FUNC_VETO(-1, long, guarded, (void), (),
			 {
				 int numbers[] = {3, 4};

				 return numbers[1];
			 })

	static void light(void)
{
	CSTRACE_FUNCTION;
	cstrace_count("bytes", 512u);
}

static int veto(const struct cstrace_call *call, void *data)
{
	(void)data;
	return call->can_veto ? CSTRACE_VETO : CSTRACE_GO_ON;
}

static void *finish(void *id)
{
	cstrace_set_thread_name("finisher");
	CSTRACE_ASYNC_END("request", *(const int *)id);
	return NULL;
}

static void load(const char *path, int n)
{
	CSTRACE_SPAN("load", "file", path, "n", n);
	{
		CSTRACE_BEGIN(parse, "parse", "big", n > 2);
		add(n, 1);
		CSTRACE_END(parse, n * 2);
	}
	cstrace_log("%s: %d of %5.1f%%, %.*s", path, n, 12.5, 2, "abcdef");
}

int main(int argc, char **argv)
{
	const struct pair pair = {1, 2};
	int id = 7, callback = 0;
	bool is_more = argc > 1;
	pthread_t thread;
	long result;

	(void)argv;
	CSTRACE_ASYNC_BEGIN("request", id, "file", "x");
	load("a.txt", 1);
	load("b.txt", 3);
	nothing(pair, 0.5, "you");
	light();
	if (!is_more)
		callback = cstrace_on_enter(veto, NULL);
	result = guarded();
	if (!is_more)
		cstrace_off(callback);
	pthread_create(&thread, NULL, finish, &id);
	pthread_join(thread, NULL);
	printf("%ld\n", result);
	return 0;
}
