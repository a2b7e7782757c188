/* SPDX-License-Identifier: MIT
 *
 * Server threads that keep accounts: work_on() and talk() add up the CPU time
 * that they take, by the thread's own clock.  Letters on standard input are
 * orders: a: one more server thread; b: one that blocks all signals; u: SIGURG
 * is the program's from now on; p: it has a SIGPROF of its own for each 10 ms;
 * =: the accounts, a line.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { SERVERS = 8, CONNECTIONS = 10, ROUNDS = 3000 };

static int ends[SERVERS][CONNECTIONS];
static volatile unsigned sum;
static volatile sig_atomic_t n_ticks, n_urgent;
/* What each server took, in ns. */
static volatile long work_ns[SERVERS], talk_ns[SERVERS], all_ns[SERVERS];

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Each begins with its caller's reading of the clock and ends with its own, so
 * that half of either call is within. */
__attribute__((noinline, noclone)) static long work_on(unsigned request,
						       int server, long begin)
{
	long end;

	for (unsigned i = 0; i < ROUNDS; i++)
		sum += request ^ i;
	end = now();
	work_ns[server] += end - begin;
	return end;
}

__attribute__((noinline, noclone)) static long talk(int fd, int server,
						    long begin)
{
	char byte = 0;
	long end;

	if (read(fd, &byte, 1) != 1 || write(fd, &byte, 1) != 1)
		_exit(4);
	end = now();
	talk_ns[server] += end - begin;
	return end;
}

__attribute__((noinline, noclone)) static void *serve(void *arg)
{
	int server = (int)(long)arg;
	struct pollfd fds[CONNECTIONS];

	for (int i = 0; i < CONNECTIONS; i++)
		fds[i] = (struct pollfd){.fd = ends[server][i],
					 .events = POLLIN};
	for (;;) {
		if (poll(fds, CONNECTIONS, -1) < 1) {
			/* A signal that it handles itself may end it. */
			if (errno != EINTR || !n_urgent)
				_exit(5);
			continue;
		}
		for (int i = 0; i < CONNECTIONS; i++) {
			if (!fds[i].revents)
				continue;
			work_on((unsigned)i, server, now());
			all_ns[server] = talk(fds[i].fd, server, now());
		}
	}
	return NULL;
}

/* Another process, which asks and waits. */
static void be_client(const int *clients)
{
	char byte = 0;
	int is_well = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (is_well) {
		for (int i = 0; i < CONNECTIONS; i++)
			is_well &= write(clients[i], &byte, 1) == 1;
		for (int i = 0; i < CONNECTIONS; i++)
			is_well &= read(clients[i], &byte, 1) == 1;
	}
	_exit(0);
}

static int begin_clients(int server)
{
	int clients[CONNECTIONS];

	for (int i = 0; i < CONNECTIONS; i++) {
		int pair[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
			return 0;
		ends[server][i] = pair[0];
		clients[i] = pair[1];
	}
	if (fork() == 0)
		be_client(clients);
	return 1;
}

static void begin_server(int server, int is_blocked)
{
	sigset_t blocked, before;
	pthread_t thread;

	sigemptyset(&blocked);
	sigaddset(&blocked, SIGPROF); /* the first thread's: no poll() ends */
	if (is_blocked)
		sigfillset(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	pthread_create(&thread, NULL, serve, (void *)(long)server);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void tick(int number)
{
	(void)number;
	n_ticks++;
}

static void urgent(int number)
{
	(void)number;
	n_urgent++;
}

static void put_accounts(int n)
{
	long work = 0, talk = 0, all = 0;

	for (int i = 0; i < n; i++) {
		work += work_ns[i];
		talk += talk_ns[i];
		all += all_ns[i];
	}
	printf("%ld %ld %ld %d %d\n", work, talk, all, (int)n_ticks,
	       (int)n_urgent);
	fflush(stdout);
}

int main(void)
{
	struct sigaction often = {.sa_handler = tick, .sa_flags = SA_RESTART};
	struct itimerval every = {{0, 10000}, {0, 10000}};
	int n = 0, order;

	for (int i = 0; i < SERVERS; i++)
		if (!begin_clients(i))
			return 1;
	sigaction(SIGPROF, &often, NULL);
	puts("ready");
	fflush(stdout);
	while ((order = getchar()) != EOF) {
		if ((order == 'a' || order == 'b') && n < SERVERS)
			begin_server(n++, order == 'b');
		else if (order == 'p')
			setitimer(ITIMER_PROF, &every, NULL);
		else if (order == 'u')
			signal(SIGURG, urgent);
		else if (order == '=')
			put_accounts(n);
	}
	return 0;
}
