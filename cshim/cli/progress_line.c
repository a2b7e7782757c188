/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A thread of its own writes the line, as the command is inside the engine for
 * all the time.
 */
#include "progress_line.h"
#include "cstrace/engine.h"

#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_NS = 1000000000, NEXT_NS = 200000000, LINE_MAX_BYTES = 96 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static pthread_t thread;
static int is_running, is_over, is_written;

static void later(struct timespec *at, long ns)
{
	at->tv_nsec += ns;
	at->tv_sec += at->tv_nsec / 1000000000;
	at->tv_nsec %= 1000000000;
}

static void put(const char *text, int n)
{
	is_written = write(STDERR_FILENO, text, (size_t)n) == n;
}

static void line_write(void)
{
	char line[LINE_MAX_BYTES];
	uint64_t n_calls;
	int percent = cst_progress(&n_calls);

	if (percent >= 0)
		put(line,
		    snprintf(line, sizeof(line),
			     "\r\033[Kcstrace: %d %% of %" PRIu64 " calls read",
			     percent, n_calls));
}

static void *run(void *arg)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	later(&at, FIRST_NS);
	pthread_mutex_lock(&lock);
	while (!is_over) {
		if (!pthread_cond_timedwait(&over, &lock, &at))
			continue;
		line_write();
		clock_gettime(CLOCK_REALTIME, &at);
		later(&at, NEXT_NS);
	}
	pthread_mutex_unlock(&lock);
	return arg;
}

void progress_line_begin(void)
{
	const char *term = getenv("TERM");
	sigset_t all, old;

	if (!isatty(STDERR_FILENO) || !term || !strcmp(term, "dumb"))
		return;
	is_over = is_written = 0;
	sigfillset(&all); /* Ctrl-C is the main thread's */
	pthread_sigmask(SIG_SETMASK, &all, &old);
	is_running = !pthread_create(&thread, NULL, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

void progress_line_end(void)
{
	if (!is_running)
		return;
	is_running = 0;
	pthread_mutex_lock(&lock);
	is_over = 1;
	pthread_cond_signal(&over);
	pthread_mutex_unlock(&lock);
	pthread_join(thread, NULL);
	if (is_written)
		put("\r\033[K", 4);
}
