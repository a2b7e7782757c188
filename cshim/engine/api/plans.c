/* SPDX-License-Identifier: MIT
 *
 * Plans for who applies them: each in a file of a folder, by build-id, where
 * the shim looks for it.
 */
#include "cstrace/engine.h"
#include "base/outfile.h"
#include "base/regex.h"
#include "base/text.h"
#include "base/worker.h"
#include "plan/imports.h"
#include "plan/plan_cache.h"
#include "plan/plan_id.h"

#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGE_BYTES = 64 << 20 };

_Static_assert((int)CST_PLAN_REASONS <= (int)CST_PLANNED_REASONS,
	       "room for all reasons");
_Static_assert((int)CST_PLANNED_ID > 2 * CST_PLAN_BUILD_ID,
	       "room for an id's digits");

static void put_id(const struct cst_plan *header, char out[CST_PLANNED_ID])
{
	out[0] = 0;
	for (uint32_t i = 0; i < header->build_id_size; i++)
		sprintf(out + 2 * (size_t)i, "%02x", header->build_id[i]);
}

/* Is it one more form of a function that has one for each kind of processor?
 * One of them stands for all. */
static int is_again(const struct plan *plan, uint32_t i)
{
	const char *name = plan_name(plan, i);

	if (!plan->header->is_border || !*name)
		return 0;
	for (uint32_t j = 0; j < i; j++)
		if (plan->functions[j].reason == plan->functions[i].reason &&
		    !strcmp(plan_name(plan, j), name))
			return 1;
	return 0;
}

/* What a border plan leaves out is counted where it is called. */
static void count_function(const struct plan *plan,
			   const struct cst_plan_function *f,
			   struct cst_planned *out)
{
	int is_traced = f->reason == CST_PLAN_TRACED;

	if (!is_traced && f->reason != CST_PLAN_ENDS_OTHERS) {
		out->n_declined[f->reason] += !plan->header->is_border;
		return;
	}
	out->n_functions += is_traced && !f->is_stub;
	out->n_stubs += is_traced && f->is_stub;
	out->n_exits += f->n_exits;
	out->n_missed += f->n_missed;
}

static void count(const struct plan *plan, struct cst_planned *out)
{
	*out = (struct cst_planned){
		.n_patches = plan->header->patches.n,
		.is_border = plan->header->is_border,
		.n_inlined = plan->header->n_inlined,
		.n_lineless = plan->header->n_lineless,
	};
	put_id(plan->header, out->id);
	for (uint32_t i = 0; i < plan->header->functions.n; i++)
		if (!is_again(plan, i))
			count_function(plan, &plan->functions[i], out);
}

static int has_stub(const struct plan *plan, const char *name)
{
	for (uint32_t i = 0; i < plan->header->functions.n; i++)
		if (plan->functions[i].is_stub &&
		    !strcmp(plan_name(plan, i), name))
			return 1;
	return 0;
}

/* Counts the functions of the border whose calls by that file are not seen. */
static void count_unseen(const struct plan *plan, const struct imports *calls,
			 struct cst_planned *out)
{
	for (uint32_t i = 0; i < calls->n; i++)
		out->n_declined[CST_PLAN_NO_STUB] +=
			!has_stub(plan, calls->names[i]);
}

/* Another name of the same file may have brought it already.  The program may
 * look for it at any time: it is there as a whole, or not at all. */
static int keep(const struct plan *plan, const char *folder, int is_again,
		struct cst_error *err)
{
	char id[CST_PLANNED_ID], path[PATH_MAX];
	struct outfile f;
	int status;

	put_id(plan->header, id);
	if (snprintf(path, sizeof(path), "%s/%s.plan", folder, id) >=
	    (int)sizeof(path))
		return cst_fail(CST_FAILED, err, "too long a path: '%s'",
				folder);
	if (!is_again && access(path, F_OK) == 0)
		return 0;
	status = outfile_open(&f, path, err);
	if (status < 0)
		return status;
	status = plan_write(plan, f.fd, err);
	if (status < 0)
		outfile_abandon(&f);
	else
		status = outfile_commit(&f, err);
	return status;
}

static int mark(const char *folder, const char *name, const char *ending,
		struct cst_error *err)
{
	char path[PATH_MAX];
	int fd, n = snprintf(path, sizeof(path), "%s/%s%s", folder, name,
			     ending);

	fd = n < (int)sizeof(path)
		     ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644)
		     : -1;
	if (fd < 0)
		return cst_fail_sys(err, "cannot write '%s'", path);
	close(fd);
	return 0;
}

/* The shim looks at who calls if the first of these files is there.  It knows
 * callers by the others, and by their plans or hooks. */
static int mark_border(const struct cst_plan_wish *wish, const char *folder,
		       struct cst_error *err)
{
	int status = mark(folder, "border", "", err);

	for (uint32_t i = 0; i < wish->n_callers && !status; i++) {
		char id[BUILD_ID_SIZE];
		struct elf_file f;

		if (!elf_file_open(&f, elf_file_descriptor(wish->callers[i])))
			continue;
		plan_id(&f, id);
		elf_file_close(&f);
		if (*id)
			status = mark(folder, id, ".traced", err);
	}
	return status;
}

/* What the border plans of a folder tell each other and their callers' plans:
 * files of lines, each a function's name. */
static const char handed_on[] = "handed"; /* they jump to other files' */
static const char called[] = "called";	  /* enum cst_border_name, name */

static FILE *open_names(const char *folder, const char *file, const char *mode)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s", folder, file);

	return n < (int)sizeof(path) ? fopen(path, mode) : NULL;
}

static int read_names(struct imports *out, const char *folder, const char *file)
{
	FILE *f = open_names(folder, file, "re");
	auto_free char *line = NULL;
	size_t size = 0;
	int status = 0;

	while (f && !status && getline(&line, &size, f) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		status = imports_add(out, line);
	}
	if (f)
		fclose(f);
	imports_order(out);
	return status;
}

/* Adds those from one byte of the plan's names up to another. */
static int note_names(const struct plan *plan, uint32_t from, uint32_t to,
		      const char *folder, const char *file,
		      struct cst_error *err)
{
	const char *end = plan->names + to;
	FILE *f = open_names(folder, file, "ae");

	if (!f)
		return cst_fail_sys(err, "cannot write '%s/%s'", folder, file);
	for (const char *at = plan->names + from; at < end;
	     at += strlen(at) + 1)
		fprintf(f, "%s\n", at);
	return fclose(f)
		       ? cst_fail_sys(err, "cannot write '%s/%s'", folder, file)
		       : 0;
}

static int keep_border(const struct plan *plan,
		       const struct cst_plan_wish *wish, const char *folder,
		       struct cst_error *err)
{
	const struct cst_plan *h = plan->header;
	int status;

	if (h->called == h->names.n)
		return 0;
	status = mark_border(wish, folder, err);
	if (!status)
		status = note_names(plan, h->handed, h->called, folder,
				    handed_on, err);
	return status ? status
		      : note_names(plan, h->called, h->names.n, folder, called,
				   err);
}

static int keep_all(const struct plan *plan, const char *path,
		    const struct cst_plan_wish *wish,
		    const struct plan_choice *choice, const char *folder,
		    struct cst_error *err)
{
	int status = 0;

	if (!plan->header->build_id_size)
		return cst_fail(CST_BAD_INPUT, err,
				"'%s' cannot be patched: it has no build-id "
				"(link it with -Wl,--build-id)",
				path);
	if (plan->header->is_border)
		status = keep_border(plan, wish, folder, err);
	if (status || !plan->header->patches.n)
		return status;
	return keep(plan, folder, choice->calls != NULL, err);
}

/* Plans one file, keeps the plan in the folder, and counts what is in it. */
static int plan_one(const char *path, const struct cst_plan_wish *wish,
		    const struct plan_choice *choice, const char *folder,
		    struct cst_planned *out, struct cst_error *err)
{
	struct plan *plan = NULL;
	int status = plan_get(path, choice, &plan, err);

	if (status < 0)
		return status;
	status = keep_all(plan, path, wish, choice, folder, err);
	if (status == 0)
		count(plan, out);
	if (status == 0 && choice->calls)
		count_unseen(plan, choice->calls, out);
	plan_free(plan);
	return status;
}

static struct plan_choice choice_of(const struct cst_plan_wish *wish)
{
	return (struct plan_choice){
		.functions = wish->functions,
		.min_size = wish->min_size,
		.is_for_gdb = wish->is_for_gdb != 0,
		.only_calls = wish->calls == CST_CALLS_ALONE,
	};
}

/* Reads the lines that begin with one of these, without that. */
static int read_called(struct imports *out, const struct imports *lines,
		       const char *begins)
{
	int status = 0;

	for (uint32_t i = 0; i < lines->n && !status; i++)
		if (*lines->names[i] && strchr(begins, *lines->names[i]))
			status = imports_add(out, lines->names[i] + 1);
	imports_order(out);
	return status;
}

/* Reads what the file at path calls and no border plan sees, and those of it
 * whose ends none reports. */
static int read_left_out(struct imports *all, struct imports *open,
			 const char *path, const char *folder)
{
	static const char unseen[] = {CST_BORDER_ENDS, CST_BORDER_OPEN, 0};
	static const char opens[] = {CST_BORDER_OPEN, 0};
	static const char seen[] = {CST_BORDER_SEEN, 0};
	struct imports lines = {0}, others = {0}, own = {0};
	int status = read_names(&lines, folder, called);

	if (!status)
		status = read_called(all, &lines, unseen);
	if (!status)
		status = read_called(open, &lines, opens);
	if (!status)
		status = read_called(&others, &lines, seen);
	if (!status)
		status = imports_init(&own, &path, 1);
	imports_drop(all, &others);
	imports_keep(all, &own);
	imports_keep(open, all);
	imports_release(&own);
	imports_release(&others);
	imports_release(&lines);
	return status;
}

/* What a thread is to plan: one file, or the border's. */
struct plan_job {
	const struct cst_plan_wish *wish;
	const char *const *paths;
	uint32_t n;
	const char *folder;
	struct cst_planned *out;
	struct cst_error *err;
	int status;
};

static void *plan_file(void *arg)
{
	struct plan_job *j = arg;
	struct plan_choice choice = choice_of(j->wish);
	struct imports calls = {0}, open = {0};

	if (j->wish->calls != CST_CALLS_NONE &&
	    read_left_out(&calls, &open, j->paths[0], j->folder)) {
		j->status = cst_fail_memory(j->err);
	} else if (!calls.n && choice.only_calls) {
		*j->out = (struct cst_planned){0};
	} else {
		choice.calls = calls.n ? &calls : NULL;
		choice.open = calls.n ? &open : NULL;
		j->status = plan_one(j->paths[0], j->wish, &choice, j->folder,
				     j->out, j->err);
	}
	imports_release(&calls);
	imports_release(&open);
	return NULL;
}

int cst_plan_file(const char *path, const struct cst_plan_wish *wish,
		  const char *folder, struct cst_planned *out,
		  struct cst_error *err)
{
	struct plan_job job = {wish, &path, 1, folder, out, err, 0};

	worker_run(plan_file, &job);
	return job.status;
}

/* ---- the border ------------------------------------------------------------
 */

static int is_libc(const char *path)
{
	return text_begins(text_last_name(path), "libc.so.");
}

static int plan_library(const struct plan_job *j, uint32_t i,
			const struct imports *called)
{
	struct plan_choice choice = choice_of(j->wish);
	struct imports handed = {0};
	int status;

	choice.border = called;
	choice.handed = &handed;
	status = read_names(&handed, j->folder, handed_on)
			 ? cst_fail_memory(j->err)
			 : plan_one(j->paths[i], j->wish, &choice, j->folder,
				    &j->out[i], j->err);
	imports_release(&handed);
	if (!status || status == CST_MEMORY)
		return status;
	j->out[i] = (struct cst_planned){.is_border = 1};
	return 0;
}

/* libc is planned last: functions of others jump to its own. */
static void *plan_border(void *arg)
{
	struct plan_job *j = arg;
	struct imports called;

	if (imports_init(&called, j->wish->callers, j->wish->n_callers))
		j->status = cst_fail_memory(j->err);
	for (int is_last = 0; is_last < 2; is_last++)
		for (uint32_t i = 0; i < j->n && !j->status; i++)
			if (is_libc(j->paths[i]) == is_last)
				j->status = plan_library(j, i, &called);
	imports_release(&called);
	return NULL;
}

int cst_plan_border(const struct cst_plan_wish *wish, const char *const *paths,
		    uint32_t n, const char *folder, struct cst_planned *out,
		    struct cst_error *err)
{
	struct plan_job job = {wish, paths, n, folder, out, err, 0};

	worker_run(plan_border, &job);
	return job.status;
}

int cst_plan_takes_long(const char *path, const struct cst_plan_wish *wish)
{
	const struct plan_choice choice = choice_of(wish);
	struct stat st;

	return !stat(path, &st) && st.st_size >= LARGE_BYTES &&
	       !plan_is_cached(path, &choice);
}

/* ---- which files ------------------------------------------------------------
 */

/* Is it one of the distribution's own? */
static int is_systems(const char *path)
{
	static const char *const folders[] = {
		"/lib/",     "/lib32/",	    "/lib64/",	   "/libx32/",
		"/usr/lib/", "/usr/lib32/", "/usr/lib64/", "/usr/libx32/"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (text_begins(path, folders[i]))
			return 1;
	return 0;
}

int cst_plan_wants(const char *path, const char *modules, struct cst_error *err)
{
	struct regex *regex;
	int status, is_wanted;

	if (!modules)
		return !is_systems(path);
	status = regex_compile(&regex, modules, err);
	if (status < 0)
		return status;
	is_wanted = regex_matches(regex, text_last_name(path));
	regex_free(regex);
	return is_wanted || !is_systems(path);
}

int cst_is_launcher(const char *path)
{
	static const char *const names[] = {
		"sh",	   "dash",  "bash",   "zsh",	 "env",
		"nice",	   "nohup", "setsid", "setarch", "stdbuf",
		"taskset", "time",  "make",   "timeout", "prlimit",
		"ionice",  "chrt",  "xargs",  "unshare"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text_last_name(path), names[i]))
			return 1;
	return 0;
}

/* ---- in words ---------------------------------------------------------------
 */

struct text {
	char *out;
	uint64_t size, n;
};

static __attribute__((format(printf, 2, 3))) void put(struct text *t,
						      const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(t->out + t->n, t->size - t->n, format, arguments);
	va_end(arguments);
	if (n > 0)
		t->n += (uint64_t)n < t->size - t->n ? (uint64_t)n
						     : t->size - t->n - 1;
}

static void put_declined(struct text *t, const struct cst_planned *plans,
			 uint32_t n)
{
	const char *before = "; left out ";

	for (uint32_t r = 0; r < CST_PLAN_REASONS; r++) {
		uint32_t n_left_out = 0;

		for (uint32_t i = 0; i < n; i++)
			n_left_out += plans[i].n_declined[r];
		if (!n_left_out)
			continue;
		put(t, "%s%u as %s %s", before, n_left_out,
		    n_left_out == 1 ? "it" : "each", cst_plan_reason(r));
		before = ", ";
	}
}

/* "12 functions of calc, 3 functions of libfoo.so", or those of the border. */
static void put_functions(struct text *t, const struct cst_planned *plans,
			  const char *const *paths, uint32_t n, int is_border)
{
	const char *between = "";

	for (uint32_t i = 0; i < n; i++) {
		const struct cst_planned *p = &plans[i];

		if (!p->is_border != !is_border ||
		    (!p->n_functions && (is_border || i || p->n_stubs)))
			continue;
		put(t, "%s%u %s of %s", between, p->n_functions,
		    p->n_functions == 1 ? "function" : "functions",
		    text_last_name(paths[i]));
		between = ", ";
	}
}

/* "into 2 by the stubs of calc" */
static void put_stubs(struct text *t, const struct cst_planned *plans,
		      const char *const *paths, uint32_t n, const char *between)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!plans[i].n_stubs)
			continue;
		put(t, "%sinto %u by the stubs of %s", between,
		    plans[i].n_stubs, text_last_name(paths[i]));
		between = ", ";
	}
}

void cst_plan_text(const struct cst_planned *plans, const char *const *paths,
		   uint32_t n, char *out, uint64_t size)
{
	struct text t = {out, size, 0};
	uint32_t n_missed = 0, n_ends = 0, n_border = 0, n_inlined = 0;
	uint32_t n_stubs = 0, n_traced = 0, n_lineless = 0;

	put_functions(&t, plans, paths, n, 0);
	for (uint32_t i = 0; i < n; i++) {
		n_border += plans[i].is_border ? plans[i].n_functions : 0;
		n_traced += plans[i].is_border ? 0 : plans[i].n_functions;
		n_lineless += plans[i].n_lineless;
		n_stubs += plans[i].n_stubs;
		n_missed += plans[i].n_missed;
		n_ends += plans[i].n_exits + plans[i].n_missed;
		n_inlined += plans[i].n_inlined;
	}
	if (n_border || n_stubs)
		put(&t, "%scalls ", t.n ? "; " : "");
	if (n_border) {
		put(&t, "into ");
		put_functions(&t, plans, paths, n, 1);
	}
	put_stubs(&t, plans, paths, n, n_border ? ", " : "");
	if (n_missed)
		put(&t, "; %u of %u ends are estimated (~)", n_missed, n_ends);
	put_declined(&t, plans, n);
	if (n_inlined)
		put(&t, "; %u more %s inlined everywhere", n_inlined,
		    n_inlined == 1 ? "was" : "were");
	/* Some are in nearly every program: what the compiler makes. */
	if (n_lineless > n_traced)
		put(&t,
		    "; %u more have no line information: the REGEX . adds them",
		    n_lineless);
}

const char *cst_plan_reason(uint32_t reason)
{
	return reason < CST_PLAN_REASONS
		       ? plan_reason((enum cst_plan_reason)reason)
		       : "";
}
