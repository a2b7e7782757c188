/* SPDX-License-Identifier: MIT
 *
 * Spans of one name are one function, wherever they begin; so are messages of
 * one format.  A function that reports itself is one for each place.
 */
#include "sites/own_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	TEXT_SIZE = 4096,
	WORD_ROOM = 16,
	FIELDS = 6,
	/* A program may make up names. */
	NAMES_MAX = 100000,
};

enum field { NAME, FILE_NAME, LINE, FUNCTION, VALUES, CODE };

/* Copies the text of a place and finds its fields, which may be empty. */
static void fields_of(const struct sites *s, uint64_t hook,
		      char text[TEXT_SIZE], const char *fields[FIELDS])
{
	uint64_t at = hook - 1;
	char *p = text, *end = text + TEXT_SIZE - 1;

	for (int i = 0; i < FIELDS; i++) {
		fields[i] = p;
		while (hook && at < CST_TEXT_SIZE && p < end &&
		       s->area->text[at])
			*p++ = s->area->text[at++];
		*p = 0;
		p += p < end;
		at++;
	}
}

/* The end of what has begun at the same place. */
static int is_end(uint16_t kind)
{
	return kind == CST_SPAN_END || kind == CST_CALL_END || kind == CST_VETO;
}

static enum function_kind kind_of(uint16_t kind)
{
	switch (kind) {
	case CST_SPAN:
	case CST_SPAN_END:
		return KIND_SPAN;
	case CST_MESSAGE:
		return KIND_MESSAGE;
	case CST_COUNT:
		return KIND_COUNT;
	case CST_ASYNC:
		return KIND_ASYNC;
	case CST_ASYNC_END:
		return KIND_ASYNC_END;
	default:
		return KIND_FUNCTION;
	}
}

static uint32_t function_new(struct sites *s, struct space *space,
			     enum function_kind kind, const char *name,
			     const char *const fields[FIELDS])
{
	struct symbol symbol = {0};
	uint64_t code = strtoull(fields[CODE], NULL, 16);
	uint32_t id = names_add_function(s->names, code);

	if (id == UINT32_MAX || sites_room_function(s, id) < 0)
		return UINT32_MAX;
	if (code)
		modules_symbol(space->modules, code, &symbol);
	names_set_kind(s->names, id, kind,
		       *fields[VALUES] ? fields[VALUES] : NULL);
	names_set_function(s->names, id, name, NULL, symbol.module,
			   *fields[FILE_NAME] ? fields[FILE_NAME] : NULL);
	return id;
}

static uint32_t function_of(struct sites *s, struct space *space,
			    enum function_kind kind, const char *word,
			    const char *const fields[FIELDS])
{
	int is_call = kind == KIND_FUNCTION;
	char name[TEXT_SIZE + WORD_ROOM], key[2 * TEXT_SIZE + 64];
	const char *interned;
	uint32_t *known, id;

	snprintf(name, sizeof(name), "%s%s", word,
		 *fields[NAME] ? fields[NAME] : "?");
	snprintf(key, sizeof(key), "%d\n%s\n%s\n%s\n%s", (int)kind, name,
		 fields[VALUES], is_call ? fields[FILE_NAME] : "",
		 is_call ? fields[LINE] : "");
	interned = names_intern(s->names, key);
	known = interned ? hashmap_get(&s->own_functions, (uint64_t)interned)
			 : NULL;
	if (known)
		return *known;
	if (!interned || s->own_functions.n >= NAMES_MAX)
		return UINT32_MAX;
	id = function_new(s, space, kind, name, fields);
	if (id != UINT32_MAX)
		hashmap_put(&s->own_functions, (uint64_t)interned, id);
	return id;
}

void own_place_learn(struct sites *s, struct space *space,
		     const struct cst_site *raw, struct own_place *out)
{
	/* Its text is put into the area once. */
	uint64_t place =
		raw->hook ? raw->hook ^ (uint64_t)space->number << 48 : 0;
	enum function_kind kind = kind_of(raw->kind);
	const char *fields[FIELDS];
	char text[TEXT_SIZE];
	uint32_t *known;

	fields_of(s, raw->hook, text, fields);
	*out = (struct own_place){.function = UINT32_MAX};
	snprintf(out->file, sizeof(out->file), "%s", fields[FILE_NAME]);
	out->line = (uint32_t)strtoul(fields[LINE], NULL, 10);
	out->code = raw->kind == CST_CALL ? raw->callee
					  : strtoull(fields[CODE], NULL, 16);
	if (!out->code)
		out->code = raw->caller;
	known = place ? hashmap_get(&s->own_places, place) : NULL;
	if (is_end(raw->kind) && known) {
		out->function = *known;
		return;
	}
	out->function =
		function_of(s, space, kind, names_kind_word(kind), fields);
	if (place && !is_end(raw->kind) && out->function != UINT32_MAX)
		hashmap_put(&s->own_places, place, out->function);
}

uint32_t own_place_point(struct sites *s, const char *word,
			 const char *template_text, const char *file,
			 uint32_t line)
{
	const char *fields[FIELDS] = {template_text, "", "", "", "text", ""};
	char key[TEXT_SIZE], before[WORD_ROOM];
	const char *interned;
	uint32_t *known, id, function;

	snprintf(before, sizeof(before), "%s: ", word);
	function = function_of(s, spaces_asker(&s->spaces), KIND_POINT, before,
			       fields);
	if (function == UINT32_MAX)
		return UINT32_MAX;
	snprintf(key, sizeof(key), "at\n%u\n%u\n%s", function, line,
		 file ? file : "");
	interned = names_intern(s->names, key);
	known = interned ? hashmap_get(&s->own_functions, (uint64_t)interned)
			 : NULL;
	if (known || !interned)
		return known ? *known : UINT32_MAX;
	id = names_add_site(s->names, function);
	if (id == UINT32_MAX)
		return id;
	names_set_site(s->names, id, file, line);
	hashmap_put(&s->own_functions, (uint64_t)interned, id);
	return id;
}

uint32_t own_place_veto(struct sites *s)
{
	if (s->veto)
		return s->veto - 1;
	s->veto = names_add_function(s->names, 0) + 1;
	if (!s->veto)
		return UINT32_MAX;
	names_set_kind(s->names, s->veto - 1, KIND_VETO, NULL);
	names_set_function(s->names, s->veto - 1, "veto", NULL, NULL, NULL);
	return s->veto - 1;
}
