/* SPDX-License-Identifier: MIT
 *
 * The thread's own line: that of /proc/TID/stat has the process's times.
 */
#include "kernel/task.h"
#include "kernel/output.h"

/* How many blanks are between a thread's name and the field. */
enum { AT_STATE = 1, AT_FLAGS = 7, AT_USER_TICKS = 12, AT_KERNEL_TICKS = 13 };

static const char *field(const char *text, int blanks)
{
	while (*text && blanks)
		blanks -= *text++ == ' ';
	return text;
}

static uint64_t number(const char *text)
{
	uint64_t v = 0;

	while (*text >= '0' && *text <= '9')
		v = v * 10 + (uint64_t)(*text++ - '0');
	return v;
}

int task_look(uint32_t tid, struct task *t)
{
	struct output o = {.n = 0}; /* the path, then what is there */
	const char *behind;
	long n;

	output_text(&o, "/proc/");
	output_number(&o, tid, 10);
	output_text(&o, "/task/");
	output_number(&o, tid, 10);
	output_text(&o, "/stat");
	output_char(&o, 0);
	o.fd = sys_open(o.bytes, O_RDONLY | O_CLOEXEC);
	if (o.fd < 0)
		return -1;
	n = sys_read(o.fd, o.bytes, sizeof(o.bytes) - 1);
	sys_close(o.fd);
	if (n <= 0)
		return -1;
	o.bytes[n] = 0;
	/* The name before the state may hold anything. */
	while (n > 0 && o.bytes[n - 1] != ')')
		n--;
	behind = o.bytes + n;
	t->state = *field(behind, AT_STATE);
	t->flags = number(field(behind, AT_FLAGS));
	t->ticks = number(field(behind, AT_USER_TICKS)) +
		   number(field(behind, AT_KERNEL_TICKS));
	return 0;
}
