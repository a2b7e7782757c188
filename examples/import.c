/* SPDX-License-Identifier: MIT
 *
 * Imports batches of orders, one "item count" a line.  It says what it does by
 * cstrace.h: which batch, which lines are wrong, how many orders there are.
 * With an argument a batch has no text.
 */
#include <cstrace/cstrace.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct batch {
	const char *name, *text;
};

static const struct batch batches[] = {
	{"monday", "apples 3\npears\nplums 12\n"},
	{"tuesday", "apples 5\n"},
	{"wednesday", NULL},
};

static long n_orders;

/* A function that nothing but its macro makes visible. */
CSTRACE_FUNC(int, count_of, (const char *line), (line), {
	const char *blank = strchr(line, ' ');

	return blank ? atoi(blank + 1) : -1;
})

static void order(const char *line, int n)
{
	CSTRACE_SPAN("order", "line", n);
	int count = count_of(line);

	if (count < 0) {
		cstrace_log("line %d has no count: \"%s\"", n, line);
		return;
	}
	n_orders++;
	cstrace_count("orders", n_orders);
}

static void import(const struct batch *b)
{
	CSTRACE_SPAN("import", "batch", b->name, "size", strlen(b->text));
	char line[80];
	int n = 0;

	for (const char *at = b->text; sscanf(at, "%79[^\n]", line) == 1;
	     at += strlen(line) + 1)
		order(line, ++n);
}

static __attribute__((no_instrument_function)) void on_crash(int signo)
{
	static const char head[] = "open calls:\n";

	if (write(STDERR_FILENO, head, sizeof(head) - 1) > 0)
		cstrace_print_calls(STDERR_FILENO);
	_exit(128 + signo);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? 3 : 2;

	(void)argv;
	signal(SIGSEGV, on_crash);
	CSTRACE_SPAN("all batches");
	for (int i = 0; i < n; i++)
		import(&batches[i]);
	printf("%ld orders\n", n_orders);
	cstrace_span_dump();
	return 0;
}
