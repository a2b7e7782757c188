/* SPDX-License-Identifier: MIT
 *
 * Writes the calls of a trace as a CTF folder: the streams of its calls, the
 * state dump, and the metadata.
 */
#include "formats/ctf.h"
#include "base/text.h"
#include "formats/ctf_dump.h"
#include "formats/enter_exit.h"
#include "formats/site_text.h"
#include "names/values_text.h"
#include "trace/callid.h"

#include <stdio.h>
#include <stdlib.h>

enum { NO_LANE = UINT32_MAX };

struct ctf {
	const struct cst_trace *t;
	struct folder *folder;
	struct enter_exit *steps;
	struct track *tracks;
	struct site_text sites;
	struct ctf_stream stream;
	uint32_t lane; /* the one whose stream is open */
	int64_t n_calls;
};

/* A trace has the line of a call, not its address. */
static const uint64_t no_call_site = 0;

/* The fields of an entry up to its ID; of a message, those behind its text. */
static void put_site(const struct cst_trace *t, uint32_t id, struct bytes *out)
{
	const struct call_site *site = &t->names->sites[id];
	const struct function *f = &t->names->functions[site->function];

	if (!function_has_text(f)) {
		ctf_put_u64(out, f->addr);
		ctf_put_u64(out, no_call_site);
		ctf_put_string(out, f->name);
	}
	ctf_put_string(out, site->file ? text_last_name(site->file) : "");
	ctf_put_u32(out, site->file ? site->line : 0);
	if (!function_has_text(f))
		bytes_put_byte(out, site->is_tail);
}

static int put_entry(struct ctf *c, const struct step *step,
		     struct cst_error *err)
{
	const struct shown *call = step->call;
	struct bytes *out = &c->stream.packet;
	char id[CALLID_MAX + 1], *end;
	size_t size;
	const char *site = site_text_get(&c->sites, call->site, &size);

	if (!site)
		return cst_fail_memory(err);
	ctf_stream_event(&c->stream, CTF_ENTRY, step->at_ns);
	bytes_put(out, site, size);
	end = callid_put(id, &c->t->threads[call->thread], call->number,
			 call->is_seed);
	*end++ = '\0';
	bytes_put(out, id, (size_t)(end - id));
	c->n_calls++;
	return 0;
}

static int put_text(struct ctf *c, const struct step *step,
		    struct cst_error *err)
{
	const struct shown *call = step->call;
	struct bytes *out = &c->stream.packet;
	char id[CALLID_MAX + 1], text[VALUES_ROOM];
	size_t size;
	const char *site = site_text_get(&c->sites, call->site, &size);

	if (!site)
		return cst_fail_memory(err);
	values_message(&c->t->names->functions[step->function], call->values,
		       text, sizeof(text));
	*callid_put(id, &c->t->threads[call->thread], call->number, 0) = '\0';
	ctf_stream_event(&c->stream, CTF_LOG, step->at_ns);
	ctf_put_string(out, text);
	bytes_put(out, site, size);
	bytes_put(out, id, strlen(id) + 1);
	return 0;
}

static void put_exit(struct ctf *c, const struct step *step)
{
	struct bytes *out = &c->stream.packet;

	ctf_stream_event(&c->stream, CTF_EXIT, step->at_ns);
	ctf_put_u64(out, c->t->names->functions[step->function].addr);
	ctf_put_u64(out, no_call_site);
	bytes_put_byte(out, step->end == CALL_OPEN	  ? 2
			    : step->end == CALL_UNWOUND	  ? 1
			    : step->end == CALL_ESTIMATED ? 3
							  : 0);
	bytes_put_byte(out, step->is_stopped);
}

static int end_lane(struct ctf *c, struct cst_error *err)
{
	int is_open = c->lane != NO_LANE;

	c->lane = NO_LANE;
	return is_open ? ctf_stream_end(&c->stream, err) : 0;
}

static int begin_lane(struct ctf *c, uint32_t lane, struct cst_error *err)
{
	const struct track *track = &c->tracks[lane];
	char name[64];
	int status = end_lane(c, err);

	if (status < 0)
		return status;
	snprintf(name, sizeof(name), "thread-%u-%u", track->pid, track->tid);
	c->lane = lane;
	ctf_stream_context(&c->stream, track->pid, track->tid,
			   track_thread_name(c->t, lane));
	return ctf_stream_begin(&c->stream, c->folder, name, err);
}

static int write_calls(struct ctf *c, struct cst_error *err)
{
	struct step step;
	int status;

	while ((status = enter_exit_next(c->steps, &step, err)) > 0) {
		status = step.lane == c->lane ? 0
					      : begin_lane(c, step.lane, err);
		if (status == 0 && step.is_text)
			status = put_text(c, &step, err);
		else if (status == 0 && !step.is_exit)
			status = put_entry(c, &step, err);
		else if (status == 0)
			put_exit(c, &step);
		if (status == 0)
			status = ctf_stream_settle(&c->stream, err);
		if (status < 0)
			return status;
	}
	return status < 0 ? status : end_lane(c, err);
}

static int prepare(struct ctf *c, const struct cst_choice *choice,
		   struct cst_error *err)
{
	int status;

	c->lane = NO_LANE;
	ctf_stream_init(&c->stream, c->t);
	c->tracks = tracks_new(c->t);
	if (!c->tracks)
		return cst_fail_memory(err);
	status = site_text_init(&c->sites, c->t, put_site, err);
	return status < 0 ? status
			  : enter_exit_new(c->t, choice, 1, &c->steps, err);
}

int64_t ctf_write(const struct cst_trace *t, const struct cst_choice *choice,
		  struct folder *folder, struct cst_error *err)
{
	struct ctf c = {.t = t, .folder = folder};
	int status = prepare(&c, choice, err);

	if (status == 0)
		status = ctf_metadata_write(t, folder, err);
	if (status == 0)
		status = ctf_dump_write(t, c.tracks, folder, &c.stream, err);
	if (status == 0)
		status = write_calls(&c, err);
	ctf_stream_release(&c.stream);
	site_text_release(&c.sites);
	enter_exit_free(c.steps);
	free(c.tracks);
	return status < 0 ? status : c.n_calls;
}
