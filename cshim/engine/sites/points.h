/* SPDX-License-Identifier: MIT
 *
 * Logpoints at the entry of functions that need no stop: what they ask for is
 * recorded with the call, so the reader writes their texts.
 */
#ifndef ENGINE_POINTS_H
#define ENGINE_POINTS_H

#include "base/error.h"
#include "names/where.h"

struct sites;

/* A part of a template: text, or what stands in its place. */
struct point_part {
	uint8_t field; /* enum cst_point_field */
	uint8_t format, size;
	uint8_t n_names;
	char *text;		  /* the text; or the names, cut into words */
	char *names[WHERE_PARTS]; /* of a value: within text */
};

/* A function that it is at. */
struct point_place {
	char *function; /* demangled */
	char *file;	/* or NULL */
	uint32_t line;
};

struct point {
	uint32_t number;
	char *template_text;
	struct where *condition; /* NULL: none */
	struct point_part *parts;
	struct point_place *places;
	uint32_t n_parts, n_places;
	/* For each function, 1 + the call site of its texts, or 0: it is not
	 * at that one. */
	uint32_t *call_sites;
	uint32_t n_call_sites;
	uint64_t n_passes, n_hits, cost_ticks;
};

struct points {
	struct point *all;
	uint32_t n, cap;
};

/* Sets or removes one, as cst_recorder_point() does. */
int points_set(struct sites *s, uint32_t number, const struct cst_point *p,
	       struct cst_error *err);
void points_release(struct points *p);

/* Returns the logpoint of that number, or NULL. */
struct point *points_find(const struct points *p, uint32_t number);

/* Finds out whether a logpoint is at the entry that site `number` is. */
void points_judge(struct sites *s, uint32_t number);

/* Returns the call site, in names, of the texts at that function; UINT32_MAX:
 * the logpoint is not at it. */
static inline uint32_t point_call_site(const struct point *p, uint32_t function)
{
	return function < p->n_call_sites ? p->call_sites[function] - 1
					  : UINT32_MAX;
}

#endif
