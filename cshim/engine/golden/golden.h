/* SPDX-License-Identifier: MIT
 *
 * A golden tree: which calls a program is expected to make, as a file that is
 * written by hand or made from a trace.  docs/howto/test.md describes the
 * language.
 */
#ifndef ENGINE_GOLDEN_H
#define ENGINE_GOLDEN_H

#include "base/error.h"
#include "base/regex.h"

/* The limits of a golden tree that is read, and so of one that is made. */
enum { GOLDEN_MOST_BYTES = 64 << 20, GOLDEN_MOST_LEVELS = 10000 };

enum {
	GOLDEN_NONE = UINT32_MAX,
	GOLDEN_MANY = UINT32_MAX, /* no upper bound */
	GOLDEN_GROUP = 16,	  /* calls in one unordered group */
};

enum golden_kind {
	ITEM_CALL,
	ITEM_ANY,   /* "..." */
	ITEM_GROUP, /* "unordered:": its children in any order */
	ITEM_ROOT,  /* of a section: its children are a thread's first calls */
};

struct golden_item {
	enum golden_kind kind;
	uint32_t line;	   /* in the file, from 1 */
	uint32_t pattern;  /* of a call */
	uint32_t min, max; /* how many in a row */
	int end;	   /* enum call_end, or -1: however it ends */
	uint32_t first;	   /* its first child, or GOLDEN_NONE */
	uint32_t next;	   /* sibling, or GOLDEN_NONE */
	uint32_t never;	   /* the first "!name" below it, or GOLDEN_NONE */
};

/* A "!name": calls of this pattern must not be made there. */
struct golden_never {
	uint32_t pattern, line;
	uint32_t next; /* of the item's others, or GOLDEN_NONE */
};

struct golden_pattern {
	char *text;	     /* as written; without the slashes of a regex */
	char *site;	     /* "file.c:12" or a glob; NULL: anywhere */
	struct regex *regex; /* NULL: text is a glob */
};

/* The expected calls of one or several threads. */
struct golden_section {
	char *threads; /* a glob on the thread's name; NULL: the one with */
	uint32_t process, thread; /* these ordinals */
	uint32_t root;		  /* item */
	uint32_t line; /* 0: no "thread" line, it is the first thread */
	int is_one;    /* "?": of one thread that no other line is about */
	int is_seen;   /* set by the code that compares */
};

/* The options whose value is a text: filter, exclude, from, until, in, module.
 */
enum { GOLDEN_TEXTS = 7 };

/* What a tree was made with, and is compared with again. */
struct golden_options {
	char *texts[GOLDEN_TEXTS]; /* or NULL */
	uint64_t min_ns, range_from_ns, range_until_ns;
	uint32_t depth, process, thread;
	int std;
};

struct golden {
	const char *path; /* borrowed, for messages */
	struct golden_item *items;
	struct golden_never *nevers;
	struct golden_pattern *patterns;
	struct golden_section *sections;
	uint32_t n_items, n_nevers, n_patterns, n_sections;
	uint32_t cap_items, cap_nevers, cap_patterns, cap_sections;
	struct golden_options options;
};

/* Reads the golden tree, or saved text tree, in the file at path; path is
 * borrowed until golden_release().  Returns 0; CST_BAD_INPUT, with the path and
 * for most mistakes the line in err; or another negative status.  Release g in
 * any case. */
int golden_read(struct golden *g, const char *path, struct cst_error *err);
/* Reads a golden tree from text, which is overwritten, as golden_read() does;
 * path is for messages. */
int golden_parse(struct golden *g, const char *path, char *text,
		 struct cst_error *err);

/* Frees the memory of g. */
void golden_release(struct golden *g);

/* Returns whether the pattern matches a function's name. */
int golden_matches(const struct golden_pattern *p, const char *name);
/* Returns whether the glob, in which "*" stands for any text, matches text. */
int golden_glob(const char *glob, const char *text);

#endif
