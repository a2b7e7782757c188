/* SPDX-License-Identifier: MIT
 *
 * Names and layout are LTTng-UST's, so that what was made for its traces finds
 * them; the fields from "name" on are ours.
 */
#include "formats/ctf_metadata.h"
#include "names/put.h"

#define UINT(bits, more) \
	"integer { size = " #bits "; align = 8; signed = false; " more "}"
#define CLOCK "map = clock.monotonic.value; "

static const char types[] = "typealias " UINT(
	8,
	"") " := uint8_t;\n"
	    "typealias " UINT(
		    16,
		    "") " := uint16_t;\n"
			"typealias " UINT(
				32,
				"") " := uint32_t;\n"
				    "typealias " UINT(
					    64,
					    "") " := uint64_t;\n"
						"typealias " UINT(
							64,
							"base = hex; ") " := "
									"addres"
									"s_t;\n"
									"typeal"
									"ias "
									"intege"
									"r { "
									"size "
									"= 27; "
									"align "
									"= 1; "
									"signed"
									" = "
									"false;"
									" " CLOCK
									"} := "
									"uint27"
									"_clock"
									"_t;\n"
									"typeal"
									"ias"
									" " UINT(
										64,
										CLOCK) " := uint64_clock_t;\n"
										       "\n";

static const char streams[] =
	"struct packet_context {\n"
	"	uint64_clock_t timestamp_begin;\n"
	"	uint64_clock_t timestamp_end;\n"
	"	uint64_t content_size;\n"
	"	uint64_t packet_size;\n"
	"	uint64_t packet_seq_num;\n"
	"	uint64_t events_discarded;\n"
	"};\n"
	"\n"
	"struct event_header_compact {\n"
	"	enum : integer { size = 5; align = 1; signed = false; } "
	"{ compact = 0 ... 30, extended = 31 } id;\n"
	"	variant <id> {\n"
	"		struct {\n"
	"			uint27_clock_t timestamp;\n"
	"		} compact;\n"
	"		struct {\n"
	"			uint32_t id;\n"
	"			uint64_clock_t timestamp;\n"
	"		} extended;\n"
	"	} v;\n"
	"} align(8);\n"
	"\n"
	"stream {\n"
	"	id = 0;\n"
	"	event.header := struct event_header_compact;\n"
	"	packet.context := struct packet_context;\n"
	"	event.context := struct {\n"
	"		uint32_t _vpid;\n"
	"		uint32_t _vtid;\n"
	"		string _procname;\n"
	"	};\n"
	"};\n"
	"\n";

static const struct {
	const char *name, *fields;
} events[] = {
	[CTF_ENTRY] = {"lttng_ust_cyg_profile:func_entry",
		       "		address_t _addr;\n"
		       "		address_t _call_site;\n"
		       "		string _name;\n"
		       "		string _file;\n"
		       "		uint32_t _line;\n"
		       "		uint8_t _tail;\n"
		       "		string _id;\n"},
	[CTF_EXIT] = {"lttng_ust_cyg_profile:func_exit",
		      "		address_t _addr;\n"
		      "		address_t _call_site;\n"
		      "		enum : uint8_t { return = 0, unwound = 1, "
		      "open = 2, estimated = 3 } _end;\n"
		      "		uint8_t _stopped;\n"},
	[CTF_DUMP_START] = {"lttng_ust_statedump:start", ""},
	[CTF_DUMP_OBJECT] = {"lttng_ust_statedump:bin_info",
			     "		address_t _baddr;\n"
			     "		uint64_t _memsz;\n"
			     "		string _path;\n"
			     "		uint8_t _is_pic;\n"
			     "		uint8_t _has_build_id;\n"
			     "		uint8_t _has_debug_link;\n"},
	[CTF_DUMP_BUILD_ID] = {"lttng_ust_statedump:build_id",
			       "		address_t _baddr;\n"
			       "		uint64_t __build_id_length;\n"
			       "		integer { size = 8; align = 8; "
			       "signed = false; base = hex; } "
			       "_build_id[ __build_id_length ];\n"},
	[CTF_LOG] = {"cstrace:log", "		string _text;\n"
				    "		string _file;\n"
				    "		uint32_t _line;\n"
				    "		string _id;\n"},
	[CTF_DUMP_END] = {"lttng_ust_statedump:end", ""},
};

enum { N_EVENTS = sizeof(events) / sizeof(events[0]) };

/* Only what needs no escape: readers differ in those that they know. */
static void put_string(struct bytes *out, const char *key, const char *text)
{
	bytes_put_format(out, "	%s = \"", key);
	for (const char *p = text; *p; p++)
		bytes_put_byte(out, *p >= 0x20 && *p < 0x7f && *p != '"' &&
						    *p != '\\'
					    ? (uint8_t)*p
					    : '?');
	PUT(out, "\";\n");
}

void ctf_uuid(const struct cst_trace *t, uint8_t out[CTF_UUID])
{
	put_u64(out, t->start_ticks);
	put_u64(out + 8, t->start_wall_ns);
	out[6] = (out[6] & 0x0f) | 0x80; /* version 8: made our own way */
	out[8] = (out[8] & 0x3f) | 0x80;
}

static void put_trace(const struct cst_trace *t, struct bytes *out)
{
	uint8_t uuid[CTF_UUID];

	ctf_uuid(t, uuid);
	PUT(out, "trace {\n	major = 1;\n	minor = 8;\n	uuid = \"");
	for (int i = 0; i < CTF_UUID; i++)
		bytes_put_format(out,
				 i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x"
								       : "%02x",
				 uuid[i]);
	PUT(out, "\";\n"
		 "	byte_order = le;\n"
		 "	packet.header := struct {\n"
		 "		uint32_t magic;\n"
		 "		uint8_t uuid[16];\n"
		 "		uint32_t stream_id;\n"
		 "		uint64_t stream_instance_id;\n"
		 "	};\n"
		 "};\n"
		 "\n");
}

static void put_environment(const struct cst_trace *t, struct bytes *out)
{
	PUT(out, "env {\n"
		 "	domain = \"ust\";\n"
		 "	tracer_name = \"lttng-ust\";\n"
		 "	tracer_major = 2;\n"
		 "	tracer_minor = 13;\n"
		 "	exporter = \"cstrace " CST_VERSION "\";\n");
	put_string(out, "hostname", t->host);
	put_string(out, "command", t->command);
	PUT(out, "};\n\n");
}

/* Some readers take the offset as a signed number. */
static void put_clock(const struct cst_trace *t, struct bytes *out)
{
	uint64_t start = t->start_wall_ns <= INT64_MAX ? t->start_wall_ns : 0;

	PUT(out, "clock {\n"
		 "	name = \"monotonic\";\n"
		 "	description = \"Time since the trace began\";\n"
		 "	freq = 1000000000;\n");
	bytes_put_format(out, "	offset = %llu;\n};\n\n",
			 (unsigned long long)start);
}

int ctf_metadata_write(const struct cst_trace *t, struct folder *folder,
		       struct cst_error *err)
{
	struct bytes out = {0};
	int status;

	PUT(&out, "/* CTF 1.8 */\n\n");
	PUT(&out, types);
	put_trace(t, &out);
	put_environment(t, &out);
	put_clock(t, &out);
	PUT(&out, streams);
	for (int i = 0; i < N_EVENTS; i++) {
		bytes_put_format(
			&out,
			"event {\n	name = \"%s\";\n	id = %d;\n"
			"	stream_id = 0;\n	fields := struct {\n",
			events[i].name, i);
		bytes_put(&out, events[i].fields, strlen(events[i].fields));
		PUT(&out, "	};\n};\n\n");
	}
	status = folder_put(folder, "metadata", &out, err);
	bytes_release(&out);
	return status;
}
