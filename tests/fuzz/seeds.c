/* SPDX-License-Identifier: MIT
 *
 * seeds TRACES STEPS: small trace files for the fuzzer to begin with, written
 * by the engine's own writer, one of each thing that a file can hold; and steps
 * for the fuzzer of live areas.
 */
#include "trace_builder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static void keep(struct draft *d, const char *name)
{
	char path[4096];
	size_t size;
	uint8_t *bytes = draft_bytes(d, 1000000, &size);
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "w");
	assert_non_null(to);
	assert_int_equal(fwrite(bytes, 1, size, to), size);
	assert_int_equal(fclose(to), 0);
	free(bytes);
}

static void empty(void)
{
	struct draft d;

	draft_begin(&d);
	keep(&d, "empty");
}

static void nested(void)
{
	struct draft d;
	uint64_t seq[8];

	draft_begin(&d);
	draft_site(&d, "main", 0);
	draft_site(&d, "f(int)", 7);
	draft_site(&d, "std::g", 8);
	for (uint64_t i = 0; i < 40; i++) {
		for (uint64_t k = 0; k < 8; k++)
			seq[k] = draft_enter(&d, k % 3, i * 100 + k);
		for (uint64_t k = 8; k-- > (i % 9 == 4 ? 1 : 0);)
			draft_exit(&d, seq[k], i * 100 + 50 - k);
		if (i % 10 == 9)
			writer_flush(d.w, NULL);
	}
	writer_pause(d.w, DRAFT_START + 500, 1234);
	keep(&d, "nested");
}

static void crowd(void)
{
	struct draft d;
	struct lane *lanes[4];

	draft_begin(&d);
	draft_site(&d, "main", 0);
	draft_site(&d, "red\033[31m\xff", 1);
	for (uint32_t i = 0; i < 4; i++) {
		writer_thread(d.w, 1 + i / 2, 100 + i / 2, 2 + i % 2, 101 + i,
			      "two");
		lanes[i] = writer_lane(d.w, 1 + i / 2, 1 + i, i % 3);
	}
	draft_enter(&d, 0, 0);
	for (uint64_t i = 0; i < 200; i++) {
		struct lane *l = lanes[i % 4];
		uint64_t seq = draft_put(
			l, (struct draft_call){.start = DRAFT_START + i * 33,
					       .number = i + 1,
					       .site = i % 2,
					       .thread = i % 7 ? 1 : 2,
					       .is_seed = i < 4});

		if (i % 3)
			lane_exit(l, seq, DRAFT_START + i * 33 + 9,
				  i % 5 ? CALL_RETURN : CALL_UNWOUND);
		if (i % 50 == 20)
			writer_flush(d.w, NULL);
	}
	keep(&d, "crowd");
}

/* Values at the entry, at the end, and at an end that comes late. */
static void words(void)
{
	static const struct {
		enum function_kind kind;
		const char *name, *values;
	} all[] = {
		{KIND_FUNCTION, "abc", "a,b"},
		{KIND_FUNCTION, "open", "p,x,mode,v,n"},
		{KIND_SPAN, "span load", "file,n"},
		{KIND_MESSAGE, "log: %s is %5.2d%%", "what,n"},
		{KIND_COUNT, "count bytes", ""},
		{KIND_ASYNC, "span request", "id"},
		{KIND_ASYNC_END, "end of span request", "id"},
		{KIND_POINT, "log: {x}", "text"},
	};
	struct draft d;

	draft_begin(&d);
	for (uint32_t i = 0; i < 8; i++) {
		uint32_t site = draft_site(&d, all[i].name, i);
		uint32_t function = d.names->sites[site].function;

		names_set_kind(d.names, function, all[i].kind, all[i].values);
	}
	for (uint64_t i = 0; i < 50; i++) {
		uint64_t seq = draft_enter(&d, i % 8, i * 100);

		if (i % 8 == 1)
			lane_keep_values(d.lane, seq,
					 "{i\002}n\004READ[\005i\002]o", 16, 0);
		else
			lane_keep_values(d.lane, seq, "s\003a\nbi\005d\200\001",
					 10, 0);
		if (i == 20)
			writer_flush(d.w, NULL);
		draft_exit(&d, seq, i * 100 + 50);
		if (i % 2)
			lane_keep_values(d.lane, seq, "u\007", 2, 1);
	}
	keep(&d, "words");
}

/* fuzz_live.c says what it makes of these bytes. */
enum { RECORDS = 5, DRAIN = 9, END = 11, LOOK, GDB, TURN, RACE = 3 };

static void steps(const char *name, uint8_t how)
{
	static const uint8_t all[] = {
		/* Two threads: a call in a call, a call left open. */
		RECORDS, 0, 0, 2, 6, 0, 0, 9, 2, 4, 9, 3, 4, 9, 2, 4, 9, 3, 4,
		9, 1, 0, 9, RECORDS, 1, 1, 1, 3, 0, 64, 9, 2, 70, 9, 4, 80, 9,
		DRAIN, LOOK, GDB, 0, GDB, 1, TURN, 15,
		/* A fork, by the number of its record; a jump; a hole. */
		RECORDS, 2, 0, 5, 4, 0, 0, 9, 217, 0, 9, 4, 8, 9, 2, 2, 9,
		/* Each table changes while it is read: a thread's process. */
		RACE, 2, 0, 0, 8, 1, 0, 0, 0, 0, 16, 0, 0, RACE, 6, 16, 0, 32,
		0, 18, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0, 0, 0, 0, 0, 0, 18, 0, 0,
		0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 2, 0, END, DRAIN};
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, &how, 1), 1);
	assert_int_equal(write(fd, all, sizeof(all)), sizeof(all));
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	folder = argv[1];
	mkdir(folder, 0700);
	empty();
	nested();
	crowd();
	words();
	folder = argv[2];
	mkdir(folder, 0700);
	steps("plain", 0);
	steps("live", 1);
	steps("flight", 2);
	steps("all", 29);
	return 0;
}
