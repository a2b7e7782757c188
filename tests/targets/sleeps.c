/* SPDX-License-Identifier: MIT
 *
 * Threads that wait, each in another call, and count the waits that a signal
 * ended.  Before each wait they run for a moment, so that a sampler has reason
 * to come.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

enum { MS = 30, RUN_NS = 3000000 };

static int n_cut;
static volatile unsigned long sink;

static void count(int result)
{
	if (result < 0 && errno == EINTR)
		__atomic_fetch_add(&n_cut, 1, __ATOMIC_RELAXED);
}

NOINLINE void run_a_moment(void)
{
	struct timespec t;
	long long begin, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	begin = now = t.tv_sec * 1000000000ll + t.tv_nsec;
	while (now - begin < RUN_NS) {
		for (int i = 0; i < 1000; i++)
			sink += (unsigned long)i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
		now = t.tv_sec * 1000000000ll + t.tv_nsec;
	}
	sink++;
}

NOINLINE void in_nanosleep(void)
{
	const struct timespec t = {.tv_nsec = MS * 1000000};

	count(nanosleep(&t, NULL));
	sink++;
}

NOINLINE void in_poll(void)
{
	char room[256];

	memset(room, (int)sink, sizeof(room));
	count(poll(NULL, 0, MS));
	sink += (unsigned long)room[3];
}

NOINLINE void in_select(void)
{
	struct timeval t = {.tv_usec = MS * 1000};

	count(select(0, NULL, NULL, NULL, &t));
	sink++;
}

NOINLINE void in_epoll(void)
{
	static int fd;
	struct epoll_event event;

	if (!fd)
		fd = epoll_create1(EPOLL_CLOEXEC);
	count(epoll_wait(fd, &event, 1, MS));
	sink++;
}

NOINLINE void in_semop(void)
{
	static int id = -1;
	struct sembuf take = {.sem_op = -1};
	const struct timespec t = {.tv_nsec = MS * 1000000};

	if (id < 0)
		id = semget(IPC_PRIVATE, 1, 0600);
	count(semtimedop(id, &take, 1, &t));
	sink++;
}

NOINLINE void in_sigwait(void)
{
	const struct timespec t = {.tv_nsec = MS * 1000000};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	count(sigtimedwait(&set, NULL, &t));
	sink++;
}

NOINLINE void in_receive(void)
{
	static int pair[2];
	struct timeval t = {.tv_usec = MS * 1000};
	char byte;

	if (!pair[0] && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0)
		setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &t, sizeof(t));
	count((int)recv(pair[0], &byte, 1, 0));
	sink++;
}

NOINLINE void in_semaphore(void)
{
	static sem_t semaphore;
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += MS * 1000000;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	count(sem_timedwait(&semaphore, &t));
	sink++;
}

static void handler(int number)
{
	(void)number;
	in_nanosleep();
	sink++;
}

NOINLINE void in_handler(void)
{
	raise(SIGUSR1);
	sink++;
}

static void (*const ways[])(void) = {
	in_nanosleep, in_poll,	  in_select,	in_epoll,   in_semop,
	in_sigwait,   in_receive, in_semaphore, in_handler,
};

enum { N_WAYS = sizeof(ways) / sizeof(*ways) };

static int n_rounds;

static void *thread_main(void *arg)
{
	void (*const *way)(void) = arg;

	for (int i = 0; i < n_rounds; i++) {
		run_a_moment();
		(*way)();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[N_WAYS];

	n_rounds = argc > 1 ? atoi(argv[1]) : 10;
	signal(SIGUSR1, handler);
	for (int i = 0; i < N_WAYS; i++)
		pthread_create(&threads[i], NULL, thread_main,
			       (void *)&ways[i]);
	for (int i = 0; i < N_WAYS; i++)
		pthread_join(threads[i], NULL);
	printf("%d waits were cut short\n", n_cut);
	return 0;
}
