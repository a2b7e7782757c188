/* SPDX-License-Identifier: MIT
 *
 * Reads the line tables of a file's debug information, finds the source line of
 * an address, and drops the tables when they have grown large.
 */
#include "elf/lines.h"
#include "base/search.h"

#include <dwarf.h>
#include <string.h>

/* Some 64 MiB of libdw's tables. */
enum { MANY_ROWS = 1 << 20 };

void lines_init(struct lines *l, Dwarf *trees)
{
	*l = (struct lines){.trees = trees};
}

void lines_release(struct lines *l)
{
	dwarf_end(l->tables);
	hashmap_release(&l->read);
	*l = (struct lines){0};
}

static int lines_open(struct lines *l)
{
	if (l->tables && l->n_rows < MANY_ROWS)
		return 1;
	dwarf_end(l->tables);
	hashmap_release(&l->read);
	l->tables = dwarf_begin_elf(dwarf_getelf(l->trees), DWARF_C_READ, NULL);
	l->n_rows = 0;
	return l->tables != NULL;
}

/* The unit's table; its length is counted once. */
static int table_of(struct lines *l, Dwarf_Die *unit, Dwarf_Lines **table,
		    size_t *n)
{
	uint64_t key = dwarf_dieoffset(unit) + 1;

	if (dwarf_getsrclines(unit, table, n))
		return 0;
	if (!hashmap_get(&l->read, key) && !hashmap_put(&l->read, key, 1))
		l->n_rows += *n;
	return 1;
}

/* ---- the names of files ------------------------------------------------- */

static int has_folder(Dwarf_Files *files, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	const char *const *folders;
	size_t n;

	if (dwarf_getsrcdirs(files, &folders, &n))
		return 0;
	for (size_t i = 1; i < n; i++) /* 0 is the compiler's */
		if (folders[i] && strlen(folders[i]) == length &&
		    !strncmp(folders[i], path, length))
			return 1;
	return 0;
}

/* Is it the same file, where relative names begin in that folder? */
static int is_same_path(const char *a, const char *b, const char *folder,
			size_t length)
{
	const char *relative = *a == '/' ? b : a, *full = *a == '/' ? a : b;

	if (!strcmp(a, b))
		return 1;
	if (!length) /* a split unit does not say: by its end */
		return strlen(a) < strlen(b) && *a != '/' &&
		       b[strlen(b) - strlen(a) - 1] == '/' &&
		       !strcmp(b + strlen(b) - strlen(a), a);
	return *relative != '/' && *full == '/' &&
	       !strncmp(full, folder, length) && full[length] == '/' &&
	       !strcmp(full + length + 1, relative);
}

/* Returns the path as it was given to the compiler, or NULL. A split unit keeps
 * it to itself. */
static const char *main_file(Dwarf_Die *unit)
{
	const char *name = dwarf_diename(unit);
	Dwarf_Die split = {0};

	if (name ||
	    dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL))
		return name;
	return split.addr ? dwarf_diename(&split) : NULL;
}

/* libdw puts the compiler's folder before a name that stands alone.  gdb does
 * so from DWARF 5 on, but knows the unit's main file by the name that was
 * given to the compiler. */
static const char *as_compiled(Dwarf_Die *unit, Dwarf_Files *files,
			       const char *path)
{
	Dwarf_Attribute attr;
	const char *folder =
		dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attr));
	const char *name = main_file(unit);
	size_t length = folder ? strlen(folder) : 0;
	Dwarf_Half version = 0;

	if (name && is_same_path(name, path, folder ? folder : "", length))
		return name;
	dwarf_cu_info(unit->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL);
	if (version >= 5 || !length || strncmp(path, folder, length) ||
	    path[length] != '/' || has_folder(files, path))
		return path;
	return path + length + 1;
}

/* ---- lines -------------------------------------------------------------- */

struct row {
	uint64_t addr;
	size_t file;
	int line;
	unsigned variant; /* DWARF's discriminator */
	bool is_end, is_statement;
};

static struct row row_at(Dwarf_Lines *table, size_t i)
{
	Dwarf_Line *line = dwarf_onesrcline(table, i);
	struct row row = {0};
	Dwarf_Files *files;

	dwarf_lineaddr(line, &row.addr);
	dwarf_line_file(line, &files, &row.file);
	dwarf_lineno(line, &row.line);
	dwarf_linediscriminator(line, &row.variant);
	dwarf_lineendsequence(line, &row.is_end);
	dwarf_linebeginstatement(line, &row.is_statement);
	return row;
}

/* How many rows begin at addr or below. */
static size_t rows_up_to(Dwarf_Lines *table, size_t n, uint64_t addr)
{
	return search_while(i, n, row_at(table, i).addr <= addr);
}

/* What gdb makes of a table while it reads it. */
struct replay {
	struct row best;    /* what stands for the last row */
	size_t at;	    /* its number; SIZE_MAX: there is none */
	struct row last;    /* as it stood in the table */
	size_t file;	    /* of the last one that was taken */
	int line;	    /* likewise */
	bool has_statement; /* at the last row's address */
	bool has_variant;   /* since the line changed */
};

static void replay_take(struct replay *r, const struct row *row, size_t i)
{
	/* Among the rows of one file at one address, the last statement's
	 * counts. */
	if (r->at != SIZE_MAX && r->best.addr == row->addr &&
	    r->best.file == row->file && r->best.is_statement &&
	    !row->is_statement)
		return;
	r->best = *row;
	r->at = i;
}

static void replay_row(struct replay *r, const struct row *row, size_t i)
{
	bool is_other_file = row->file != r->file;
	bool is_same_place = row->addr == r->last.addr;

	if (row->is_end) {
		*r = (struct replay){.at = SIZE_MAX, .file = SIZE_MAX};
		return;
	}
	r->has_variant =
		row->variant || (r->has_variant && row->line == r->last.line);
	/* Code of no line counts to the line before it. */
	if (row->line > 0 && !(is_other_file && is_same_place &&
			       !row->is_statement && r->has_statement)) {
		if (is_other_file || row->line != r->line || !r->has_variant) {
			replay_take(r, row, i);
			r->file = row->file;
		}
		r->line = row->line;
	}
	r->has_statement =
		row->is_statement || (r->has_statement && is_same_place);
	r->last = *row;
}

/* The row that gdb finds for addr; NULL: none.  What came long before it does
 * not matter. */
static Dwarf_Line *line_of(Dwarf_Lines *table, size_t n, uint64_t addr)
{
	enum { ENOUGH = 64 };
	struct replay r = {.at = SIZE_MAX, .file = SIZE_MAX};
	size_t end = rows_up_to(table, n, addr);
	size_t i = end > ENOUGH ? end - ENOUGH : 0;

	while (i && row_at(table, i).addr == row_at(table, i - 1).addr)
		i--;
	for (; i < end; i++) {
		struct row row = row_at(table, i);

		replay_row(&r, &row, i);
	}
	return r.at == SIZE_MAX ? NULL : dwarf_onesrcline(table, r.at);
}

int lines_at(struct lines *l, Dwarf_Off unit, uint64_t addr, const char **file,
	     uint32_t *line)
{
	Dwarf_Files *files;
	Dwarf_Lines *table;
	Dwarf_Line *found;
	const char *path;
	size_t n, index;
	Dwarf_Die die;
	int number;

	if (!lines_open(l) || !dwarf_offdie(l->tables, unit, &die) ||
	    !table_of(l, &die, &table, &n))
		return 0;
	found = line_of(table, n, addr);
	if (!found || dwarf_lineno(found, &number) ||
	    dwarf_line_file(found, &files, &index))
		return 0;
	path = dwarf_filesrc(files, index, NULL, NULL);
	if (!path)
		return 0;
	*file = as_compiled(&die, files, path);
	*line = (uint32_t)number;
	return 1;
}

int lines_file(struct lines *l, Dwarf_Die *die, unsigned attribute,
	       const char **file)
{
	Dwarf_Die same = *die, unit;
	Dwarf_Attribute attr;
	Dwarf_Files *files;
	Dwarf_Lines *table;
	Dwarf_Word index;
	const char *path;
	size_t n;

	/* A split unit's DIEs are in a file of their own. */
	if (dwarf_cu_getdwarf(die->cu) == l->trees &&
	    (!lines_open(l) ||
	     !dwarf_offdie(l->tables, dwarf_dieoffset(die), &same)))
		return 0;
	if (!dwarf_attr_integrate(&same, attribute, &attr) ||
	    dwarf_formudata(&attr, &index) ||
	    !dwarf_cu_die(attr.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
	    dwarf_getsrcfiles(&unit, &files, &n) || index >= n)
		return 0;
	table_of(l, &unit, &table, &n); /* was read with the files */
	path = dwarf_filesrc(files, index, NULL, NULL);
	if (!path)
		return 0;
	/* What units share (dwz) has no main file: the sharer's it is. */
	if (dwarf_tag(&unit) == DW_TAG_partial_unit)
		dwarf_diecu(&same, &unit, NULL, NULL);
	*file = as_compiled(&unit, files, path);
	return 1;
}
