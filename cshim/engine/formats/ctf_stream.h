/* SPDX-License-Identifier: MIT
 *
 * One stream of a CTF folder: events in order of time, in packets.
 */
#ifndef ENGINE_CTF_STREAM_H
#define ENGINE_CTF_STREAM_H

#include "formats/ctf_metadata.h"

struct ctf_stream {
	struct folder_file file;
	struct bytes packet;  /* the one that is being made */
	struct bytes context; /* of all its events */
	uint8_t uuid[CTF_UUID];
	uint64_t instance, n_packets;
	uint64_t first_ns, last_ns; /* of the packet's events */
};

/* Prepares s, which is zeroed, with what all streams of a trace share. */
void ctf_stream_init(struct ctf_stream *s, const struct cst_trace *t);
/* Ends the stream if it was not ended, and frees the memory of s. */
void ctf_stream_release(struct ctf_stream *s);

/* Begins a stream in a new file of the folder, after the one before has ended;
 * name is no other file's.  Returns 0 or a negative status. */
int ctf_stream_begin(struct ctf_stream *s, struct folder *folder,
		     const char *name, struct cst_error *err);
/* Sets the process and thread of the next events, with the thread's name. */
void ctf_stream_context(struct ctf_stream *s, uint32_t pid, uint32_t tid,
			const char *name);
/* Writes what remains and ends the stream.  Returns 0 or a negative status. */
int ctf_stream_end(struct ctf_stream *s, struct cst_error *err);

/* Appends an event without its fields to s->packet: the caller appends those
 * next, then calls ctf_stream_settle().  at_ns, since the trace began, is not
 * less than the event's before. */
void ctf_stream_event(struct ctf_stream *s, enum ctf_event event,
		      uint64_t at_ns);
/* Writes the packet, if there is one, and empties it.  Returns 0 or a negative
 * status. */
int ctf_stream_flush(struct ctf_stream *s, struct cst_error *err);

enum { CTF_PACKET = 256 << 10 };

/* Writes the packet if it is large enough.  Returns 0 or a negative status. */
static inline int ctf_stream_settle(struct ctf_stream *s, struct cst_error *err)
{
	return s->packet.len < CTF_PACKET ? 0 : ctf_stream_flush(s, err);
}

/* Append text as a CTF string, with what is not printable escaped, or a number
 * in little endian.  They set out->failed when out of memory. */
void ctf_put_string(struct bytes *out, const char *text);
void ctf_put_u64(struct bytes *out, uint64_t v);
void ctf_put_u32(struct bytes *out, uint32_t v);

#endif
