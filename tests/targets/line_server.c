/* SPDX-License-Identifier: MIT
 *
 * A server with a thread for each client: answers each number by the next one,
 * and ends with a status of its own if any system call is disturbed; with a
 * second argument it makes epoll_wait() anew, which every debugger's stop ends.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

__attribute__((noinline)) static int digit(char c)
{
	__asm__ volatile("");
	return c - '0';
}

__attribute__((noinline)) static int number(const char *s)
{
	int n = 0;

	while (*s >= '0' && *s <= '9')
		n = n * 10 + digit(*s++);
	return n;
}

__attribute__((noinline)) static int answer(const char *line, char *out)
{
	char *text = malloc(64);
	int n = snprintf(text, 64, "%d\n", number(line) + 1);

	memcpy(out, text, (size_t)n);
	free(text);
	return n;
}

static int makes_anew;

static void wait_for(int all, struct epoll_event *event)
{
	while (epoll_wait(all, event, 1, -1) != 1)
		if (errno != EINTR || !makes_anew)
			exit(9);
}

static void *serve(void *arg)
{
	int fd = (int)(long)arg, all = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN};
	char in[256], out[256];

	epoll_ctl(all, EPOLL_CTL_ADD, fd, &event);
	for (;;) {
		ssize_t n;

		wait_for(all, &event);
		n = read(fd, in, sizeof(in) - 1);
		if (n < 0)
			exit(8);
		if (!n)
			break;
		in[n] = 0;
		n = answer(in, out);
		if (write(fd, out, (size_t)n) != n)
			exit(7);
	}
	close(fd);
	close(all);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	if (argc < 2)
		return 2;
	makes_anew = argc > 2;
	strcpy(address.sun_path, argv[1]);
	if (bind(s, (struct sockaddr *)&address, sizeof(address)) ||
	    listen(s, 64))
		return 3;
	puts("ready");
	fflush(stdout);
	for (;;) {
		int fd = accept(s, NULL, NULL);
		pthread_t thread;

		if (fd < 0 ||
		    pthread_create(&thread, NULL, serve, (void *)(long)fd))
			return 4;
		pthread_detach(thread);
	}
}
