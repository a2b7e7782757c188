/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Answers a recorder's questions in the thread that calls
 * bfd_names_answer_all(): looks up each address in its file with libbfd
 * (binary.c), and keeps the files that could not be read for a report at
 * the end.
 */
#include "bfd_names.h"
#include "binary.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 256, MOST_IDLE = 1000 };

struct bfd_names {
	bfd_names_tell_fn tell;
	void *arg;
	struct binary **files;
	int n_files;
};

struct bfd_names *bfd_names_new(bfd_names_tell_fn tell, void *arg)
{
	struct bfd_names *n = calloc(1, sizeof(*n));

	if (n)
		*n = (struct bfd_names){.tell = tell, .arg = arg};
	return n;
}

void bfd_names_free(struct bfd_names *n)
{
	if (!n)
		return;
	for (int i = 0; i < n->n_files; i++)
		binary_free(n->files[i]);
	free(n->files);
	free(n);
}

void bfd_names_attach(struct bfd_names *n, struct cst_recorder *r)
{
	(void)n;
	cst_recorder_alone(r);
}

/* NULL: out of memory. */
static struct binary *file_at(struct bfd_names *n,
			      const struct cst_place *place)
{
	struct binary **files, *b;

	for (int i = 0; i < n->n_files; i++)
		if (binary_is_of(n->files[i], place->fd))
			return n->files[i];
	files = realloc(n->files, ((size_t)n->n_files + 1) * sizeof(*files));
	if (!files)
		return NULL;
	n->files = files;
	b = binary_new(place->path, place->fd);
	if (b)
		n->files[n->n_files++] = b;
	return b;
}

static void answer(struct bfd_names *n, struct cst_recorder *r,
		   const struct cst_question *q)
{
	struct binary_answer found = {0};
	struct cst_place place;
	struct binary *b;

	if (cst_recorder_place(r, q->id, &place)) {
		b = file_at(n, &place);
		if (b)
			binary_find(b, place.addr, &found);
		close(place.fd);
	}
	/* Without a line the file is that of some symbol nearby. */
	cst_recorder_answer(r, q->id, found.function,
			    found.line ? found.file : NULL, found.line);
}

int bfd_names_answer_all(struct bfd_names *n, struct cst_recorder *r)
{
	struct cst_question questions[BATCH];
	int total = 0, got;

	while ((got = cst_recorder_questions(r, questions, BATCH)) > 0) {
		for (int i = 0; i < got; i++)
			answer(n, r, &questions[i]);
		total += got;
	}
	return total;
}

/* libbfd refuses, for one, what unpacks to far more than its file's size. */
static void tell_failures(struct bfd_names *n)
{
	char text[4200];

	for (int i = 0; n->tell && i < n->n_files; i++) {
		const char *path = binary_take_failure(n->files[i]);

		if (!path)
			continue;
		snprintf(text, sizeof(text),
			 "no lines of '%.4000s': its debug information is in a "
			 "form that cannot be read here",
			 path);
		n->tell(n->arg, text);
	}
}

void bfd_names_drain(struct bfd_names *n, struct cst_recorder *r)
{
	int n_idle = 0;

	/* Questions are there whenever it says so; should they not be, better
	 * a row without its name than a command that hangs. */
	while (!cst_recorder_drain(r) && n_idle < MOST_IDLE)
		n_idle = bfd_names_answer_all(n, r) ? 0 : n_idle + 1;
	/* With no live rows to draw, drain() does not wait for names. */
	bfd_names_answer_all(n, r);
	tell_failures(n);
}
