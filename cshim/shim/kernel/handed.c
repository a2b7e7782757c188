/* SPDX-License-Identifier: MIT
 *
 * Another user's files cannot be opened by their names; what is open there can
 * be sent by a socket.
 */
#include "kernel/handed.h"
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "kernel/syscall.h"

static int connect_to(int fd, const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t n = 0;

	/* A NUL first: the name is not one of a file. */
	while (name[n] && n + 1 < sizeof(address.sun_path)) {
		address.sun_path[n + 1] = name[n];
		n++;
	}
	return (int)gate_call(
		SYS_connect, fd, (long)&address,
		(long)(offsetof(struct sockaddr_un, sun_path) + 1 + n), 0, 0,
		0);
}

/* One byte of data comes with it. */
static int take(int fd)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {.room = {0}};
	char data;
	struct iovec part = {.iov_base = &data, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	long n = gate_call(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC, 0,
			   0, 0);

	if (n < 0)
		return (int)n;
	if (!n || message.msg_controllen < CMSG_LEN(sizeof(int)) ||
	    control.head.cmsg_level != SOL_SOCKET ||
	    control.head.cmsg_type != SCM_RIGHTS)
		return -ECONNREFUSED;
	return *(const int *)CMSG_DATA(&control.head);
}

int handed_open(const char *name)
{
	int fd = (int)gate_call(SYS_socket, AF_UNIX,
				SOCK_SEQPACKET | SOCK_CLOEXEC, 0, 0, 0, 0);
	int handed;

	if (fd < 0)
		return fd;
	handed = connect_to(fd, name);
	if (!handed)
		handed = take(fd);
	sys_close(fd);
	return handed;
}
