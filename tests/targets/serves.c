/* SPDX-License-Identifier: MIT
 *
 * A server that waits for each request, works on it for some microseconds and
 * answers; and its client, another process that waits meanwhile.  Until it is
 * killed.
 */
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <signal.h>
#include <unistd.h>

enum { CONNECTIONS = 20, ROUNDS = 2000 };

static volatile unsigned sum;

__attribute__((noinline)) static void work_on(unsigned request)
{
	for (unsigned i = 0; i < ROUNDS; i++)
		sum += request ^ i;
}

__attribute__((noinline)) static void wait_for(struct pollfd *fds)
{
	poll(fds, CONNECTIONS, -1);
}

/* All requests, then all answers. */
static void be_client(const int *ends)
{
	char byte = 0;
	int is_well = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (is_well) {
		for (int i = 0; i < CONNECTIONS; i++)
			is_well &= write(ends[i], &byte, 1) == 1;
		for (int i = 0; i < CONNECTIONS; i++)
			is_well &= read(ends[i], &byte, 1) == 1;
	}
	_exit(0);
}

int main(void)
{
	struct pollfd fds[CONNECTIONS];
	int clients[CONNECTIONS];
	char byte;

	for (int i = 0; i < CONNECTIONS; i++) {
		int ends[2];

		if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
			return 1;
		fds[i] = (struct pollfd){.fd = ends[0], .events = POLLIN};
		clients[i] = ends[1];
	}
	if (fork() == 0)
		be_client(clients);
	for (;;) {
		wait_for(fds);
		for (int i = 0; i < CONNECTIONS; i++) {
			if (!fds[i].revents || read(fds[i].fd, &byte, 1) != 1)
				continue;
			work_on((unsigned char)byte);
			if (write(fds[i].fd, &byte, 1) != 1)
				return 1;
		}
	}
}
