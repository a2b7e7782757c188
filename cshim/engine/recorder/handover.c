/* SPDX-License-Identifier: MIT
 *
 * A thread of its own waits for the process, whose caller waits for it.
 */
#include "recorder/handover.h"
#include "base/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int listen_at(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = strlen(name);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	memcpy(address.sun_path + 1, name, n);
	if (fd < 0)
		return -1;
	if (bind(fd, (const struct sockaddr *)&address,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) ||
	    listen(fd, 4)) {
		int code = errno;

		close(fd);
		errno = code;
		return -1;
	}
	return fd;
}

static int is_wanted(const struct handover *h, int client)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	return !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &n) &&
	       (uint32_t)peer.pid == h->pid;
}

static void send_to(const struct handover *h, int client)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	char data = 0;
	struct iovec part = {.iov_base = &data, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	control.head = (struct cmsghdr){
		.cmsg_len = CMSG_LEN(sizeof(int)),
		.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
	};
	memcpy(CMSG_DATA(&control.head), &h->fd, sizeof(int));
	sendmsg(client, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Until the listener is shut down. */
static void *serve(void *arg)
{
	const struct handover *h = arg;

	for (;;) {
		int client = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0 && errno != EINTR && errno != ECONNABORTED)
			return NULL;
		if (client < 0)
			continue;
		if (is_wanted(h, client))
			send_to(h, client);
		close(client);
	}
}

int handover_begin(struct handover *h, int fd, uint32_t pid,
		   struct cst_error *err)
{
	uint64_t number = 0;
	int code;

	*h = (struct handover){.fd = fd, .pid = pid};
	getrandom(&number, sizeof(number), 0);
	snprintf(h->path, sizeof(h->path), "@cstrace-%d-%016" PRIx64,
		 (int)getpid(), number);
	h->listener = listen_at(h->path + 1);
	if (h->listener < 0) {
		*h = (struct handover){0};
		return cst_fail_sys(err, "cannot make a socket");
	}
	code = worker_start(&h->thread, serve, h);
	if (!code)
		return 0;
	close(h->listener);
	*h = (struct handover){0};
	errno = code;
	return cst_fail_sys(err, "cannot start a thread");
}

void handover_end(struct handover *h)
{
	if (!*h->path)
		return;
	shutdown(h->listener, SHUT_RDWR);
	pthread_join(h->thread, NULL);
	close(h->listener);
	*h = (struct handover){0};
}
