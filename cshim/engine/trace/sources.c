/* SPDX-License-Identifier: MIT
 *
 * Opens each object file of a trace once, and asks all of them for a path.
 */
#include "trace/sources.h"
#include "elf/modules.h"

#include <stdlib.h>
#include <string.h>

static int is_first(const struct cst_trace *t, uint32_t module)
{
	const struct trace_module *m = &t->modules[module];

	for (uint32_t i = 0; i < module; i++)
		if (!strcmp(t->modules[i].path, m->path) &&
		    !strcmp(t->modules[i].build_id, m->build_id))
			return 0;
	return 1;
}

static struct modules *open_module(const struct trace_module *m,
				   const struct symbol_places *places)
{
	const struct module_note note = {
		.start = m->start, .end = m->end, .bias = m->bias};
	struct symbol_file found;
	struct modules *opened;

	symbol_file_find(m->path, m->build_id, places, &found);
	opened = *found.path ? modules_new() : NULL;
	if (opened && !modules_add_file(opened, &note, found.path)) {
		modules_free(opened);
		return NULL;
	}
	return opened;
}

void sources_open(struct sources *s, const struct cst_trace *t,
		  const struct symbol_places *places)
{
	*s = (struct sources){
		.all = calloc(t->n_modules + 1, sizeof(*s->all)),
		.at = calloc(t->n_modules + 1, sizeof(*s->at)),
	};
	if (!s->all || !s->at)
		return;
	for (uint32_t i = 0; i < t->n_modules; i++) {
		if (!is_first(t, i))
			continue;
		s->at[s->n] = t->modules[i].start;
		s->all[s->n] = open_module(&t->modules[i], places);
		s->n += s->all[s->n] != NULL;
	}
}

void sources_close(struct sources *s)
{
	while (s->n)
		modules_free(s->all[--s->n]);
	free(s->all);
	free(s->at);
	*s = (struct sources){0};
}

const char *sources_path(const struct sources *s, const char *file)
{
	const char *path = NULL;

	if (*file == '/')
		return file;
	for (uint32_t i = 0; i < s->n && !path; i++)
		path = modules_path(s->all[i], s->at[i], file);
	return path;
}

void sources_find(struct cst_trace *t)
{
	const struct symbol_places none = {0};
	struct names *n = t->names;
	struct sources s;

	if (t->has_sources)
		return;
	t->has_sources = 1;
	sources_open(&s, t, &none);
	for (uint32_t i = 0; s.n && i < n->n_sites; i++)
		if (n->sites[i].file && *n->sites[i].file != '/')
			names_set_path(n, i,
				       sources_path(&s, n->sites[i].file));
	sources_close(&s);
}
