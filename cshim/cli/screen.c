/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A terminal that a picture is drawn on anew and anew.
 */
#include "screen.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t is_over;
static struct termios before;
static int has_keys; /* standard input is the terminal's, and ours */

static void end(int number)
{
	(void)number;
	is_over = 1;
}

/* Only to wake screen_wait(). */
static void resized(int number)
{
	(void)number;
}

void screen_catch(void)
{
	struct sigaction action = {.sa_handler = end};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int screen_is_over(void)
{
	return is_over;
}

static void measure(struct screen *s)
{
	struct winsize w;

	*s = (struct screen){24, 80};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_row && w.ws_col)
		*s = (struct screen){w.ws_row, w.ws_col};
}

int screen_begin(struct screen *s)
{
	struct sigaction action = {.sa_handler = resized};
	const char *term = getenv("TERM");
	struct termios now;

	if (!isatty(STDOUT_FILENO) || !term || !strcmp(term, "dumb"))
		return 0;
	has_keys = isatty(STDIN_FILENO) &&
		   tcgetpgrp(STDIN_FILENO) == getpgrp() &&
		   tcgetattr(STDIN_FILENO, &before) == 0;
	if (has_keys) {
		now = before;
		now.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
		tcsetattr(STDIN_FILENO, TCSANOW, &now);
	}
	sigaction(SIGWINCH, &action, NULL);
	measure(s);
	fputs("\033[2J", stdout);
	return 1;
}

/* How many bytes of the line have room in so many columns. */
static size_t fit(const char *line, size_t size, uint32_t columns)
{
	size_t i = 0;

	for (uint32_t n = 0; i < size; i++) {
		n += ((unsigned char)line[i] & 0xc0) != 0x80;
		if (n > columns)
			break;
	}
	return i;
}

void screen_draw(const struct screen *s, const char *text, size_t size)
{
	const char *end_of_text = text + size;

	fputs("\033[H", stdout);
	for (uint32_t i = 0; i < s->rows && text < end_of_text; i++) {
		const char *line = text, *stop = memchr(line, '\n', size);

		stop = stop ? stop : end_of_text;
		text = stop + (stop < end_of_text);
		size = (size_t)(end_of_text - text);
		fwrite(line, 1, fit(line, (size_t)(stop - line), s->columns),
		       stdout);
		fputs(i + 1 < s->rows ? "\033[K\n" : "\033[K", stdout);
	}
	fputs("\033[J", stdout);
	fflush(stdout);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

int screen_wait(struct screen *s, uint64_t ns)
{
	struct pollfd keys = {has_keys ? STDIN_FILENO : -1, POLLIN, 0};
	uint64_t until = now_ns() + ns, now;
	char key;

	while (!is_over && (now = now_ns()) < until) {
		int n = poll(&keys, 1, (int)((until - now + 999999) / 1000000));

		if (n < 0)
			break;
		if (n > 0 && read(STDIN_FILENO, &key, 1) <= 0)
			keys.fd = -1;
		else if (n > 0 && (key == 'q' || key == 'Q'))
			is_over = 1;
	}
	measure(s);
	return is_over;
}

void screen_end(void)
{
	if (has_keys)
		tcsetattr(STDIN_FILENO, TCSANOW, &before);
	has_keys = 0;
	fputc('\n', stdout);
	fflush(stdout);
}
