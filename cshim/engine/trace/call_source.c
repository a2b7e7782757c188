/* SPDX-License-Identifier: MIT
 *
 * Where a call is made and where its function is written.  The latter is in no
 * trace: the object file's debug information says so.
 */
#include "base/error.h"
#include "base/text.h"
#include "elf/modules.h"
#include "elf/symbolfile.h"
#include "trace/loader.h"
#include "trace/locate.h"
#include "trace/sources.h"

#include <stdio.h>
#include <string.h>

/* Returns the module that the function's address lies in, or NULL. Where the
 * trace does not say in which address space that is, the name decides. */
static const struct trace_module *module_of(const struct cst_trace *t,
					    const struct function *f)
{
	for (uint32_t i = 0; i < t->n_modules; i++) {
		const struct trace_module *m = &t->modules[i];

		if (f->addr < m->start || f->addr >= m->end ||
		    (f->space && f->space != m->space))
			continue;
		if (!f->module || !strcmp(text_last_name(m->path), f->module))
			return m;
	}
	return NULL;
}

static void find_own(const struct function *f, const struct trace_module *m,
		     const char *symbols, struct cst_source *out)
{
	const struct module_note note = {
		.start = m->start, .end = m->end, .bias = m->bias};
	struct modules *modules = modules_new();
	const char *name, *file, *path;

	if (modules && modules_add_file(modules, &note, symbols)) {
		modules_definition(modules, f->addr, &name, &file,
				   &out->own_line);
		path = file && *file != '/'
			       ? modules_path(modules, f->addr, file)
			       : NULL;
		snprintf(out->own_file, sizeof(out->own_file), "%s",
			 path	? path
			 : file ? file
				: "");
	}
	modules_free(modules);
}

static void find_call(const struct cst_trace *t, const struct call_site *s,
		      const struct symbol_places *places,
		      struct cst_source *out)
{
	struct sources sources;
	const char *path;

	sources_open(&sources, t, places);
	path = sources_path(&sources, s->file);
	snprintf(out->call_file, sizeof(out->call_file), "%s",
		 path ? path : s->file);
	out->call_line = s->line;
	sources_close(&sources);
}

int cst_trace_source(const struct cst_trace *t, const char *id,
		     const char *const *places, int n_places,
		     struct cst_source *out, struct cst_error *err)
{
	const struct symbol_places where = {places, n_places};
	const struct trace_module *m;
	const struct call_site *s;
	const struct function *f;
	struct symbol_file found;
	uint32_t site;
	int status = locate_id(t, id, &site, err);

	*out = (struct cst_source){.own_line = 0};
	if (status < 0)
		return status;
	s = &t->names->sites[site];
	f = &t->names->functions[s->function];
	if (s->file)
		find_call(t, s, &where, out);
	m = f->kind ? NULL : module_of(t, f);
	if (!m)
		return 0;
	symbol_file_find(m->path, m->build_id, &where, &found);
	if (*found.path)
		find_own(f, m, found.path, out);
	return 0;
}
