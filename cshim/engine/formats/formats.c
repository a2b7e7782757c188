/* SPDX-License-Identifier: MIT
 *
 * A format is a row here and a file of its own.
 */
#include "formats/formats.h"
#include "base/outfile.h"
#include "formats/callgrind.h"
#include "formats/chrome.h"
#include "formats/ctf.h"
#include "formats/dot.h"
#include "formats/folded.h"
#include "formats/html.h"
#include "formats/jsonl.h"
#include "formats/otlp.h"
#include "formats/pprof.h"
#include "formats/speedscope.h"
#include "formats/text.h"
#include "formats/uftrace.h"
#include "trace/recompress.h"
#include "trace/sample_calls.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Returns the number of calls written. */
typedef int64_t (*calls_fn)(const struct cst_trace *t,
			    const struct cst_choice *choice, cst_write_fn write,
			    void *arg, struct cst_error *err);
typedef int64_t (*rows_fn)(const struct cst_trace *t,
			   const struct cst_look *look,
			   const struct cst_choice *choice, cst_write_fn write,
			   void *arg, struct cst_error *err);
typedef int64_t (*folder_fn)(const struct cst_trace *t,
			     const struct cst_choice *choice,
			     struct folder *folder, struct cst_error *err);

struct format {
	const char *name;
	const char *ending; /* without the first dot, if it is another */
	calls_fn calls;
	rows_fn rows;	   /* in its place, where the look counts */
	folder_fn folder;  /* or where it is no single file */
	int takes_samples; /* not as calls */
	struct format_size size;
};

static int64_t save_text(const struct cst_trace *t, const struct cst_look *look,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	struct cst_look plain = *look;

	if (sample_calls_wanted(t, choice))
		return cst_fail(CST_BAD_INPUT, err,
				"samples are no calls and have no rows: save "
				"them as html, folded, pb.gz or json");

	plain.color = plain.links = 0;
	plain.width = 0;
	return text_write(t, &plain, choice, 0, write, arg, err);
}

/* Names and all calls, whatever the choice. */
static int64_t save_file(const struct cst_trace *t,
			 const struct cst_choice *choice, cst_write_fn write,
			 void *arg, struct cst_error *err)
{
	(void)choice;
	return recompress_write(t, write, arg, err);
}

static const struct format formats[] = {
	{.name = "txt",
	 .rows = save_text,
	 .takes_samples = 1,
	 .size = {.bytes = 43, .names = 1, .depth = 2}},
	{.name = "jsonl",
	 .calls = jsonl_write,
	 .size = {.bytes = 250, .names = 2, .symbols = 1}},
	{.name = "cst", .calls = save_file, .takes_samples = 1},
	{.name = "json",
	 .calls = chrome_write,
	 .size = {.bytes = 125, .names = 1}},
	{.name = "speedscope",
	 .ending = "speedscope.json",
	 .calls = speedscope_write,
	 .size = {.bytes = 100}},
	{.name = "folded", .calls = folded_write},
	{.name = "pprof",
	 .ending = "pb.gz",
	 .calls = pprof_write,
	 .takes_samples = 1},
	{.name = "callgrind", .calls = callgrind_write},
	{.name = "dot", .calls = dot_write},
	{.name = "otlp",
	 .ending = "otlp.json",
	 .calls = otlp_write,
	 .size = {.bytes = 500, .names = 2, .symbols = 1}},
	{.name = "html",
	 .calls = html_write,
	 .size = {.most_calls = HTML_MOST_CALLS}},
	{.name = "ctf", .folder = ctf_write, .size = {.bytes = 40}},
	{.name = "uftrace", .folder = uftrace_write, .size = {.bytes = 32}},
};

enum { N_FORMATS = sizeof(formats) / sizeof(formats[0]) };

const char *cst_formats(void)
{
	static _Thread_local char names[N_FORMATS * 16];
	char *end = names;

	for (int i = 0; i < N_FORMATS; i++)
		end += sprintf(end, i ? " %s" : "%s", formats[i].name);
	return names;
}

/* ---- find --------------------------------------------------------------- */

/* The length of ".ending" if that is how the name of len bytes ends, or 0. */
static size_t ends_with(const char *file, size_t len, const char *ending)
{
	size_t n = ending ? strlen(ending) + 1 : 0;

	return n && len >= n && file[len - n] == '.' &&
			       !strncasecmp(file + len - n + 1, ending, n - 1)
		       ? n
		       : 0;
}

/* A folder's name may end with a slash, as shells complete it. */
static size_t path_length(const char *path)
{
	size_t len = strlen(path);

	while (len && path[len - 1] == '/')
		len--;
	return len;
}

/* "a.otlp.json" ends in ".json" as well: the longest ending counts. */
static const struct format *find_ending(const char *path)
{
	size_t len = path_length(path);
	const struct format *found = NULL;
	size_t longest = 0;

	for (int i = 0; i < N_FORMATS; i++) {
		const struct format *f = &formats[i];
		size_t a = ends_with(path, len, f->name);
		size_t b = ends_with(path, len, f->ending);
		size_t n = a > b ? a : b;

		if (n > longest) {
			longest = n;
			found = f;
		}
	}
	return found;
}

const struct format *formats_find(const char *path, const char *name,
				  struct cst_error *err)
{
	const struct format *found = name ? NULL : find_ending(path);

	for (int i = 0; name && i < N_FORMATS; i++)
		if (!strcasecmp(formats[i].name, name))
			found = &formats[i];
	if (found)
		return found;
	if (name)
		cst_fail(CST_BAD_INPUT, err, "no format '%.60s': use one of %s",
			 name, cst_formats());
	else
		cst_fail(CST_BAD_INPUT, err,
			 "cannot tell a format from '%.200s': use one of %s",
			 path, cst_formats());
	return NULL;
}

int format_takes_samples(const struct format *f)
{
	return f->takes_samples;
}

int format_has_rows(const struct format *f)
{
	return f->rows != NULL;
}

struct format_size format_size(const struct format *f)
{
	return f->size;
}

/* ---- save --------------------------------------------------------------- */

/* The file, and whether it was what ended the writing. */
struct target {
	struct outfile file;
	int is_ended;
};

static int target_write(void *arg, const char *text, uint64_t size)
{
	struct target *o = arg;

	o->is_ended = outfile_write(&o->file, text, size) < 0;
	return o->is_ended ? CST_INTERRUPTED : 0;
}

int64_t format_write(const struct format *f, const struct cst_trace *t,
		     const struct cst_look *look,
		     const struct cst_choice *choice, cst_write_fn write,
		     void *arg, struct cst_error *err)
{
	if (f->folder)
		return cst_fail(CST_BAD_INPUT, err,
				"format '%s' is a folder: say its name",
				f->name);
	return f->rows ? f->rows(t, look, choice, write, arg, err)
		       : f->calls(t, choice, write, arg, err);
}

static int64_t save_folder(const struct format *f, struct cst_trace *t,
			   const char *path, const struct cst_choice *choice,
			   struct cst_error *err)
{
	struct folder folder;
	int64_t n = folder_open(&folder, path, err);
	int status = 0;

	if (n < 0)
		return n;
	n = f->folder(t, choice, &folder, err);
	t->status.n_too_deep = folder.n_too_deep;
	if (n < 0)
		folder_abandon(&folder);
	else
		status = folder_commit(&folder, err);
	return status < 0 ? status : n;
}

int64_t format_save(const struct format *f, struct cst_trace *t,
		    const char *path, const struct cst_look *look,
		    const struct cst_choice *choice, struct cst_error *err)
{
	struct target o = {.is_ended = 0};
	int64_t n;
	int status;

	t->status.n_too_deep = 0;
	if (f->folder)
		return save_folder(f, t, path, choice, err);
	status = outfile_open(&o.file, path, err);
	if (status < 0)
		return status;
	n = format_write(f, t, look, choice, target_write, &o, err);
	if (o.is_ended) {
		errno = o.file.error;
		n = cst_fail_sys(err, "cannot write '%.300s'", path);
	}
	if (n < 0)
		outfile_abandon(&o.file);
	else
		status = outfile_commit(&o.file, err);
	return status < 0 ? status : n;
}
