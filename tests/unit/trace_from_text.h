/* SPDX-License-Identifier: MIT
 *
 * A trace drawn as text: a line a call, two blanks a level, "name" or
 * "name:line" (of app.c) and behind it what the call is: "!" it was left by a
 * jump, "?" it is open.  A call takes 10 ticks and what is below it.
 */
#ifndef UNIT_TRACE_FROM_TEXT_H
#define UNIT_TRACE_FROM_TEXT_H

#include "trace_builder.h"

enum { SKETCH_DEPTH = 32 };

struct sketch {
	struct draft d;
	struct lane *lane;
	uint64_t number, now;
	uint32_t thread;
	struct {
		uint64_t seq;
		enum call_end end;
	} open[SKETCH_DEPTH];
	int n;
};

static inline void sketch_begin(struct sketch *s)
{
	*s = (struct sketch){.number = 1};
	draft_begin(&s->d);
	s->lane = s->d.lane;
}

static inline void sketch_close(struct sketch *s, int depth)
{
	while (s->n > depth) {
		s->n--;
		s->now += 10;
		if (s->open[s->n].end != CALL_OPEN)
			lane_exit(s->lane, s->open[s->n].seq,
				  DRAFT_START + s->now, s->open[s->n].end);
	}
}

/* What follows is of another thread. */
static inline void sketch_thread(struct sketch *s, const char *name)
{
	sketch_close(s, 0);
	s->thread++;
	writer_thread(s->d.w, 1, 100, s->thread + 1, 100 + s->thread, name);
	s->lane = writer_lane(s->d.w, 1, s->thread, 0);
	s->number = 1;
}

static inline uint32_t sketch_site(struct sketch *s, const char *name,
				   uint32_t line)
{
	const struct names *names = s->d.names;

	for (uint32_t i = 0; i < names->n_sites; i++)
		if (names->sites[i].line == line &&
		    !strcmp(names->functions[names->sites[i].function].name,
			    name))
			return i;
	return draft_site(&s->d, name, line);
}

static inline void sketch_call(struct sketch *s, const char *text)
{
	int depth = (int)strspn(text, " ") / 2;
	char name[64] = "";
	unsigned line = 0;
	const char *p = strpbrk(text, "!?");

	sscanf(text, " %63[^:!?]:%u", name, &line);
	sketch_close(s, depth);
	assert_int_equal(s->n, depth);
	s->now += 10;
	s->open[s->n].end = !p		? CALL_RETURN
			    : *p == '!' ? CALL_UNWOUND
					: CALL_OPEN;
	s->open[s->n++].seq = draft_put(
		s->lane,
		(struct draft_call){.start = DRAFT_START + s->now,
				    .number = s->number++,
				    .thread = s->thread,
				    .site = sketch_site(s, name, line)});
}

static inline void sketch_calls(struct sketch *s, const char *text)
{
	char line[128];
	int n;

	for (; *text; text += n + 1) {
		n = (int)strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", n, text);
		sketch_call(s, line);
	}
}

static inline struct cst_trace *sketch_end(struct sketch *s)
{
	sketch_close(s, 0);
	return draft_trace(&s->d, s->now + 100);
}

/* All in one thread; each line ends with a newline. */
static inline struct cst_trace *sketch_trace(const char *text)
{
	struct sketch s;

	sketch_begin(&s);
	sketch_calls(&s, text);
	return sketch_end(&s);
}

#endif
