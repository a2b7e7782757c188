/* SPDX-License-Identifier: MIT
 *
 * For tests: a trace written call by call through the writer, and what comes
 * out of it as text.  A tick is a nanosecond, the trace begins at tick 1000.
 */
#ifndef UNIT_TRACE_BUILDER_H
#define UNIT_TRACE_BUILDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "file/writer.h"
#include "trace/trace.h"

enum { DRAFT_START = 1000, DRAFT_OUT = 1 << 20 };

struct draft {
	struct names *names;
	struct writer *w;
	struct lane *lane; /* of thread 0 */
	uint64_t number;
	struct cst_error err;
};

static const struct cst_look draft_look = {.timestamp = CST_TIME_ELAPSED,
					   .duration = 1,
					   .callsite = 1,
					   .thread = 1};

static inline void draft_begin_limited(struct draft *d, uint64_t limit)
{
	struct writer_options options = {.dir = "/var/tmp",
					 .command = "./app 1 2",
					 .module = "/usr/bin/app",
					 .start_ticks = DRAFT_START,
					 .start_wall_ns = 1000000000,
					 .limit_bytes = limit,
					 .ns_mult = 1};

	*d = (struct draft){.number = 1};
	d->names = names_new();
	assert_non_null(d->names);
	assert_int_equal(writer_open(&options, d->names, &d->w, &d->err), 0);
	assert_int_equal(writer_thread(d->w, 1, 100, 1, 100, "app"), 0);
	d->lane = writer_lane(d->w, 1, 0, 0);
}

static inline void draft_begin(struct draft *d)
{
	draft_begin_limited(d, 0);
}

/* The site of a function of this name, called from app.c:line. */
static inline uint32_t draft_site(struct draft *d, const char *name,
				  uint32_t line)
{
	uint32_t function = 0, site;

	while (function < d->names->n_functions &&
	       strcmp(d->names->functions[function].name, name))
		function++;
	if (function == d->names->n_functions) {
		function = names_add_function(d->names, 0x1000);
		names_set_function(d->names, function, name, name, "app", NULL);
	}
	site = names_add_site(d->names, function);
	names_set_site(d->names, site, "src/app.c", line);
	return site;
}

/* What a call is; the depth is the lane's affair. */
struct draft_call {
	uint64_t start, number;
	uint32_t site, thread;
	uint8_t is_seed;
};

/* On any lane; returns its seq. */
static inline uint64_t draft_put(struct lane *l, struct draft_call call)
{
	struct lane_entry e = {.start = call.start,
			       .number = call.number,
			       .above = NO_SEQ,
			       .thread = call.thread,
			       .is_seed = call.is_seed};

	if ((call.is_seed || !lane_is_plain(l, call.number, call.thread)) &&
	    lane_prepare(l, &e) < 0)
		return NO_SEQ;
	return lane_enter(l, call.start, call.site);
}

static inline uint64_t draft_enter(struct draft *d, uint32_t site, uint64_t at)
{
	return draft_put(d->lane, (struct draft_call){.start = DRAFT_START + at,
						      .site = site,
						      .number = d->number++});
}

static inline void draft_exit(struct draft *d, uint64_t seq, uint64_t at)
{
	lane_exit(d->lane, seq, DRAFT_START + at, CALL_RETURN);
}

static inline int draft_fd(struct draft *d)
{
	int fd = -1;

	assert_int_equal(writer_close(d->w, &fd, &d->err), 0);
	names_free(d->names);
	return fd;
}

/* The bytes of the file, up to this end; the caller frees them. */
static inline uint8_t *draft_bytes(struct draft *d, uint64_t end, size_t *size)
{
	struct stat st;
	uint8_t *bytes;
	int fd;

	writer_set_end(d->w, DRAFT_START + end);
	fd = draft_fd(d);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	bytes = malloc(*size);
	assert_int_equal(pread(fd, bytes, *size, 0), st.st_size);
	close(fd);
	return bytes;
}

/* trace_open() of a file with these bytes. */
static inline int draft_load(const void *bytes, size_t size,
			     struct cst_trace **out, struct cst_error *err)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);

	assert_int_equal(write(fd, bytes, size), (ssize_t)size);
	return trace_open(fd, "the recorded trace", out, err);
}

/* Seal and read back. */
static inline struct cst_trace *draft_trace(struct draft *d, uint64_t end)
{
	struct cst_trace *t = NULL;
	struct cst_error err = {""};

	writer_set_end(d->w, DRAFT_START + end);
	if (trace_open(draft_fd(d), "the recorded trace", &t, &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

/* What was written, in one piece. */
struct output {
	size_t len;
	char text[DRAFT_OUT];
};

static inline int output_write(void *arg, const char *text, uint64_t size)
{
	struct output *o = arg;

	assert_true(o->len + size < sizeof(o->text));
	memcpy(o->text + o->len, text, size);
	o->len += size;
	o->text[o->len] = '\0';
	return 0;
}

/* The rows below the heading; valid until the next call. */
static inline const char *draft_rows(struct cst_trace *t,
				     const struct cst_look *look,
				     const struct cst_choice *choice)
{
	static struct output out;
	struct cst_error err = {""};
	const char *p = out.text;

	out.len = 0;
	if (cst_trace_show(t, look, choice, output_write, &out, &err) < 0)
		fail_msg("%s", err.text);
	while (*p == '#')
		p = strchr(p, '\n') + 1;
	return p;
}

#endif
