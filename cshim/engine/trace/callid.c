/* SPDX-License-Identifier: MIT
 *
 * Writes and reads the IDs of calls.
 */
#include "trace/callid.h"
#include "base/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

char *callid_put_thread(char *p, uint32_t process, uint32_t thread)
{
	if (process > 1) {
		p = number_put(p, process);
		*p++ = ':';
	}
	p = number_put(p, thread);
	*p++ = '.';
	return p;
}

char *callid_put_numbers(char *p, uint32_t process, uint32_t thread,
			 uint64_t number, int is_seed)
{
	p = callid_put_thread(p, process, thread);
	if (is_seed)
		*p++ = 's';
	return number_put(p, number);
}

char *callid_put(char *p, const struct trace_thread *thread, uint64_t number,
		 int is_seed)
{
	return callid_put_numbers(p, thread->process, thread->ordinal, number,
				  is_seed);
}

/* A number from 1 up to max, with the character `behind` after it (which may
 * be the end). NULL: not so. */
static const char *take_number(const char *p, uint64_t max, char behind,
			       uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*p))
		return NULL;
	errno = 0;
	*out = strtoull(p, &end, 10);
	if (errno || !*out || *out > max || *end != behind)
		return NULL;
	return *end ? end + 1 : end;
}

int callid_parse(const char *text, struct callid *out, struct cst_error *err)
{
	uint64_t process = 1, thread, number;
	const char *p = text, *colon = strchr(text, ':');
	int is_seed;

	if (colon)
		p = take_number(p, UINT32_MAX, ':', &process);
	if (p)
		p = take_number(p, UINT32_MAX, '.', &thread);
	is_seed = p && *p == 's';
	if (p)
		p = take_number(p + is_seed, UINT64_MAX, '\0', &number);
	if (!p)
		return cst_fail(CST_BAD_INPUT, err,
				"'%.100s' is not a call's ID: write it like "
				"1.42 (thread 1, call 42)",
				text);
	*out = (struct callid){(uint32_t)process, (uint32_t)thread, number,
			       is_seed};
	return 0;
}

int callid_thread(const struct cst_trace *t, const struct callid *id,
		  uint32_t *out, struct cst_error *err)
{
	for (uint32_t i = 0; i < t->n_threads; i++) {
		if (t->threads[i].process == id->process &&
		    t->threads[i].ordinal == id->thread) {
			*out = i;
			return 0;
		}
	}
	return cst_fail(CST_BAD_INPUT, err, "no thread %u in this trace",
			id->thread);
}
