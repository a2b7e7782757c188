/* SPDX-License-Identifier: MIT
 *
 * seeds FOLDER: small trace files for the fuzzer to begin with, written by the
 * engine's own writer: one of each thing that a file can hold.
 */
#include "draft.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static void keep(struct draft *d, const char *name)
{
	char path[4096], piece[65536];
	ssize_t n;
	off_t at = 0;
	int from, to;

	writer_set_end(d->w, DRAFT_START + 1000000);
	from = draft_fd(d);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(from >= 0 && to >= 0);
	while ((n = pread(from, piece, sizeof(piece), at)) > 0) {
		assert_int_equal(write(to, piece, (size_t)n), n);
		at += n;
	}
	close(from);
	close(to);
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

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	folder = argv[1];
	mkdir(folder, 0700);
	empty();
	nested();
	crowd();
	return 0;
}
