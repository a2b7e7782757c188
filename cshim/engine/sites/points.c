/* SPDX-License-Identifier: MIT
 *
 * A logpoint knows its functions by their names, as those may be called before
 * anybody knows their addresses: in a library that comes later, or in a child.
 */
#include "sites/points.h"
#include "base/array.h"
#include "sites/own_place.h"
#include "sites/sites.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 4096 };

/* ---- one of them -----------------------------------------------------------
 */

static void point_release(struct point *p)
{
	for (uint32_t i = 0; p->parts && i < p->n_parts; i++)
		free(p->parts[i].text);
	for (uint32_t i = 0; p->places && i < p->n_places; i++) {
		free(p->places[i].function);
		free(p->places[i].file);
	}
	free(p->parts);
	free(p->places);
	free(p->call_sites);
	free(p->template_text);
	where_free(p->condition);
}

/* Cuts "at.x" into its names.  Returns 0, or a negative status. */
static int cut_names(struct point_part *part, struct cst_error *err)
{
	char *at = part->text;

	do {
		if (part->n_names == WHERE_PARTS)
			return cst_fail(CST_BAD_INPUT, err,
					"'%s' has too many parts", part->text);
		part->names[part->n_names++] = at;
		at = strchr(at, '.');
	} while (at && (*at++ = '\0', 1));
	return 0;
}

static int copy_parts(struct point *to, const struct cst_point *from,
		      struct cst_error *err)
{
	to->parts = calloc(from->n_parts + 1ull, sizeof(*to->parts));
	if (!to->parts)
		return cst_fail_memory(err);
	to->n_parts = from->n_parts;
	for (uint32_t i = 0; i < from->n_parts; i++) {
		const struct cst_point_part *part = &from->parts[i];
		int status = 0;

		to->parts[i] = (struct point_part){
			.field = (uint8_t)part->field,
			.format = part->format,
			.size = part->size,
			.text = strdup(part->text ? part->text : ""),
		};
		if (!to->parts[i].text)
			return cst_fail_memory(err);
		if (part->field == CST_POINT_VALUE)
			status = cut_names(&to->parts[i], err);
		if (status < 0)
			return status;
	}
	return 0;
}

static int copy_places(struct point *to, const struct cst_point *from,
		       struct cst_error *err)
{
	char name[NAME_ROOM];

	to->places = calloc(from->n_places + 1ull, sizeof(*to->places));
	if (!to->places)
		return cst_fail_memory(err);
	to->n_places = from->n_places;
	for (uint32_t i = 0; i < from->n_places; i++) {
		const struct cst_point_place *place = &from->places[i];

		cst_demangle(place->function, name, sizeof(name));
		to->places[i] = (struct point_place){
			.function = strdup(name),
			.file = place->file ? strdup(place->file) : NULL,
			.line = place->line,
		};
		if (!to->places[i].function)
			return cst_fail_memory(err);
	}
	return 0;
}

static int point_make(struct point *to, uint32_t number,
		      const struct cst_point *from, struct cst_error *err)
{
	int status;

	*to = (struct point){.number = number};
	to->template_text = strdup(from->template_text);
	if (!to->template_text)
		return cst_fail_memory(err);
	status = copy_parts(to, from, err);
	if (status == 0)
		status = copy_places(to, from, err);
	if (status == 0 && from->condition)
		status = where_new(from->condition, &to->condition, err);
	return status;
}

/* ---- where they are --------------------------------------------------------
 */

/* "parse", or a copy of it that the compiler made: "parse.cold", "parse(int)
 * [clone .part.0]". */
static int is_at(const struct point_place *place, const char *name)
{
	size_t n = strlen(place->function);

	return !strncmp(name, place->function, n) &&
	       (!name[n] || name[n] == '.' || !strncmp(name + n, " [clone", 7));
}

/* Finds out where its texts at the function are from, once for each function.
 */
static void point_look(struct sites *s, struct point *p, uint32_t function)
{
	const char *name = s->names->functions[function].name;
	uint32_t call_site;

	if (array_room(&p->call_sites, &p->n_call_sites, function + 1ull) < 0 ||
	    p->call_sites[function])
		return;
	for (uint32_t i = 0; i < p->n_places; i++) {
		if (!is_at(&p->places[i], name))
			continue;
		call_site =
			own_place_point(s, "log", p->template_text,
					p->places[i].file, p->places[i].line);
		p->call_sites[function] =
			call_site == UINT32_MAX ? 0 : call_site + 1;
		return;
	}
}

void points_judge(struct sites *s, uint32_t number)
{
	uint32_t function = s->all[number].function;
	int has_point = 0;

	if (s->all[number].kind != CST_ENTER)
		return;
	for (uint32_t i = 0; i < s->points.n; i++) {
		struct point *p = &s->points.all[i];

		point_look(s, p, function);
		has_point |= point_call_site(p, function) != UINT32_MAX;
	}
	s->all[number].has_point = has_point != 0;
}

/* ---- all of them -----------------------------------------------------------
 */

struct point *points_find(const struct points *p, uint32_t number)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->all[i].number == number)
			return &p->all[i];
	return NULL;
}

void points_release(struct points *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		point_release(&p->all[i]);
	free(p->all);
	*p = (struct points){0};
}

int points_set(struct sites *s, uint32_t number, const struct cst_point *p,
	       struct cst_error *err)
{
	struct points *all = &s->points;
	struct point made, *old = points_find(all, number);
	int status = p ? point_make(&made, number, p, err) : 0;

	if (status == 0 && p && !old &&
	    array_room(&all->all, &all->cap, all->n + 1ull) < 0)
		status = cst_fail_memory(err);
	if (status < 0) {
		point_release(&made);
		return status;
	}
	if (old) {
		point_release(old);
		*old = all->all[--all->n];
	}
	if (p)
		all->all[all->n++] = made;
	for (uint32_t i = CST_FIRST_SITE; i < s->n; i++)
		points_judge(s, i);
	return 0;
}
