/* SPDX-License-Identifier: MIT
 *
 * Lane after lane, since each is an array of its own.  All functions are
 * frames, under their own numbers; behind them are those of messages, which are
 * known when all is written.
 */
#include "formats/speedscope.h"
#include "formats/exporter.h"
#include "trace/clamp.h"
#include "formats/thread_ids.h"
#include "names/json.h"
#include "names/put.h"
#include "names/values_text.h"
#include "base/hashmap.h"

#include <stdio.h>
#include <stdlib.h>

enum {
	EVENT_MAX = 128,
	SHORTEST_NS = 1, /* or it is not shown */
	NO_LANE = UINT32_MAX,
};

struct speedscope {
	const struct cst_trace *t;
	struct bytes texts;	/* the frames of messages */
	struct hashmap by_text; /* their numbers, by what they say */
	uint32_t n_frames;
	struct clamp nest; /* of the lane under way */
	uint32_t lane;
	uint64_t end_ns; /* of its last event */
	uint8_t has_profile, has_event;
};

static void put_frames(const struct names *names, struct bytes *out)
{
	for (uint32_t i = 0; i < names->n_functions; i++) {
		const struct function *f = &names->functions[i];
		const char *file = f->file ? f->file : f->module;

		if (i)
			PUT(out, ",");
		PUT(out, "\n{\"name\":");
		json_put_string(out, f->name);
		if (file) {
			PUT(out, ",\"file\":");
			json_put_string(out, file);
		}
		PUT(out, "}");
	}
}

static void put_head(void *arg, struct bytes *out)
{
	struct speedscope *s = arg;

	PUT(out,
	    "{\"$schema\":\"https://www.speedscope.app/"
	    "file-format-schema.json\",\n\"exporter\":\"cstrace " CST_VERSION
	    "\",\n\"name\":");
	json_put_string(out, s->t->command);
	s->n_frames = s->t->names->n_functions;
	PUT(out, ",\n\"profiles\":[");
}

/* Returns the frame of a message: what it says is its name. */
static int text_frame(struct speedscope *s, const struct function *f,
		      const struct values *v, uint32_t *out)
{
	char text[VALUES_ROOM + 16];
	uint64_t hash = 0xcbf29ce484222325ull;
	size_t n = (size_t)sprintf(text, "%s: ", names_said(f));
	uint32_t *known;

	values_message(f, v, text + n, VALUES_ROOM);
	for (const char *p = text; *p; p++)
		hash = (hash ^ (uint8_t)*p) * 0x100000001b3ull;
	hash |= !hash;
	known = hashmap_get(&s->by_text, hash);
	if (known) {
		*out = *known;
		return 0;
	}
	*out = s->n_frames++;
	PUT(&s->texts, ",\n{\"name\":");
	json_put_string(&s->texts, text);
	PUT(&s->texts, "}");
	return s->texts.failed ? CST_MEMORY
			       : hashmap_put(&s->by_text, hash, *out);
}

static void put_event(struct speedscope *s, char kind, uint32_t function,
		      uint64_t at, struct bytes *out)
{
	char *begin = (char *)bytes_reserve(out, EVENT_MAX), *p = begin;

	if (!p)
		return;
	if (s->has_event)
		*p++ = ',';
	memcpy(p, "\n{\"type\":\"C\",\"frame\":", 21);
	p[10] = kind;
	p = number_put(p + 21, function);
	memcpy(p, ",\"at\":", 6);
	p = number_put(p + 6, at);
	*p++ = '}';
	out->len += (size_t)(p - begin);
	s->has_event = 1;
	s->end_ns = at;
}

/* Close what is over before the call, or all of the lane. */
static void close_calls(struct speedscope *s, const struct shown *call,
			struct bytes *out)
{
	const struct nested *over;

	while ((over = clamp_over(&s->nest, call)))
		put_event(s, 'C', over->function, over->end_ns, out);
}

static void end_profile(struct speedscope *s, struct bytes *out)
{
	if (s->lane == NO_LANE)
		return;
	close_calls(s, NULL, out);
	clamp_release(&s->nest);
	PUT(out, "\n],\"endValue\":");
	put_number(out, s->end_ns);
	PUT(out, "}");
	s->lane = NO_LANE;
}

static void begin_profile(struct speedscope *s, const struct shown *call,
			  struct bytes *out)
{
	if (s->has_profile)
		PUT(out, ",");
	PUT(out,
	    "\n{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":\"");
	track_put_numbered(s->t, call->lane, out);
	PUT(out, "\",\"startValue\":");
	put_number(out, call->start_ns);
	PUT(out, ",\"events\":[");
	s->nest.shortest = SHORTEST_NS;
	s->lane = call->lane;
	s->has_profile = 1;
	s->has_event = 0;
}

static int put_call(void *arg, struct shown *call, struct bytes *out)
{
	struct speedscope *s = arg;
	uint32_t function = s->t->names->sites[call->site].function;
	const struct function *f = &s->t->names->functions[function];

	if (function_has_text(f) &&
	    text_frame(s, f, call->values, &function) < 0)
		return CST_MEMORY;
	if (call->lane != s->lane) {
		end_profile(s, out);
		begin_profile(s, call, out);
	}
	close_calls(s, call, out);
	if (function_is_async(f)) /* it may end elsewhere */
		call->duration_ns = 0;
	if (clamp_enter(&s->nest, function, call) < 0)
		return CST_MEMORY;
	put_event(s, 'O', function, call->start_ns, out);
	return 0;
}

static int put_tail(void *arg, struct bytes *out)
{
	struct speedscope *s = arg;

	end_profile(s, out);
	PUT(out, "\n],\n\"shared\":{\"frames\":[");
	put_frames(s->t->names, out);
	bytes_put(out, s->texts.data, s->texts.len);
	PUT(out, "\n]}}\n");
	return 0;
}

static const struct exporter speedscope = {
	.is_by_lane = 1,
	.begin = put_head,
	.call = put_call,
	.end = put_tail,
};

int64_t speedscope_write(const struct cst_trace *t,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	auto_free struct speedscope *s = calloc(1, sizeof(*s));
	int64_t status;

	if (!s)
		return cst_fail_memory(err);
	s->t = t;
	s->lane = NO_LANE;
	status = exporter_run(&speedscope, s, t, choice, write, arg, err);
	clamp_release(&s->nest);
	bytes_release(&s->texts);
	hashmap_release(&s->by_text);
	return status;
}
