/* SPDX-License-Identifier: MIT
 *
 * Writes one stream of a CTF folder: fills packets with events, and puts a
 * packet's head before them when it is complete.
 */
#include "formats/ctf_stream.h"
#include "rows/row.h"

enum {
	HEAD_BYTES = 80, /* packet's header and context */
	TEXT_ROOM = 4096,
	TIME_BITS = 27, /* of a compact event's header */
	ID_BITS = 5,
	EXTENDED = 31,
};

static const uint32_t ctf_magic = 0xc1fc1fc1;

void ctf_put_u64(struct bytes *out, uint64_t v)
{
	uint8_t text[8];

	put_u64(text, v);
	bytes_put(out, text, sizeof(text));
}

void ctf_put_u32(struct bytes *out, uint32_t v)
{
	uint8_t text[4];

	put_u32(text, v);
	bytes_put(out, text, sizeof(text));
}

void ctf_put_string(struct bytes *out, const char *text)
{
	char *begin = (char *)bytes_reserve(out, TEXT_ROOM + 1), *end;

	if (!begin)
		return;
	end = row_put_text(begin, text, TEXT_ROOM);
	*end++ = '\0';
	out->len += (size_t)(end - begin);
}

void ctf_stream_init(struct ctf_stream *s, const struct cst_trace *t)
{
	s->file.fd = -1;
	ctf_uuid(t, s->uuid);
}

void ctf_stream_release(struct ctf_stream *s)
{
	struct cst_error ignored;

	folder_end(&s->file, &ignored);
	bytes_release(&s->packet);
	bytes_release(&s->context);
}

int ctf_stream_begin(struct ctf_stream *s, struct folder *folder,
		     const char *name, struct cst_error *err)
{
	s->packet.len = 0;
	s->n_packets = 0;
	s->instance++;
	return folder_begin(folder, name, &s->file, err);
}

void ctf_stream_context(struct ctf_stream *s, uint32_t pid, uint32_t tid,
			const char *name)
{
	s->context.len = 0;
	ctf_put_u32(&s->context, pid);
	ctf_put_u32(&s->context, tid);
	ctf_put_string(&s->context, name);
}

int ctf_stream_flush(struct ctf_stream *s, struct cst_error *err)
{
	uint64_t bits = s->packet.len * 8ull;
	uint8_t *p = s->packet.data;

	if (s->packet.failed || s->context.failed)
		return cst_fail_memory(err);
	if (!s->packet.len)
		return 0;
	put_u32(p, ctf_magic);
	memcpy(p + 4, s->uuid, CTF_UUID);
	put_u32(p + 20, 0); /* the only kind of stream */
	put_u64(p + 24, s->instance);
	put_u64(p + 32, s->first_ns);
	put_u64(p + 40, s->last_ns);
	put_u64(p + 48, bits); /* of what is in it */
	put_u64(p + 56, bits); /* with what would fill it up */
	put_u64(p + 64, s->n_packets++);
	put_u64(p + 72, 0); /* nothing was discarded */
	return folder_write(&s->file, &s->packet, err);
}

int ctf_stream_end(struct ctf_stream *s, struct cst_error *err)
{
	int status = ctf_stream_flush(s, err);

	return status < 0 ? status : folder_end(&s->file, err);
}

static void begin_packet(struct ctf_stream *s, uint64_t at_ns)
{
	if (!bytes_reserve(&s->packet, HEAD_BYTES))
		return;
	s->packet.len = HEAD_BYTES;
	s->first_ns = at_ns;
	s->last_ns = at_ns;
}

/* A short header has the time's low bits: the others are the last event's. */
void ctf_stream_event(struct ctf_stream *s, enum ctf_event event,
		      uint64_t at_ns)
{
	if (!s->packet.len)
		begin_packet(s, at_ns);
	if ((at_ns - s->last_ns) >> TIME_BITS) {
		bytes_put_byte(&s->packet, EXTENDED);
		ctf_put_u32(&s->packet, event);
		ctf_put_u64(&s->packet, at_ns);
	} else {
		ctf_put_u32(&s->packet, event | (uint32_t)at_ns << ID_BITS);
	}
	s->last_ns = at_ns;
	bytes_put(&s->packet, s->context.data, s->context.len);
}
