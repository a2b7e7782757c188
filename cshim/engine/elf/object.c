/* SPDX-License-Identifier: MIT
 *
 * Opens an object file when it is first needed, makes sure that it is the one
 * that was mapped, and answers questions about its addresses from tables that
 * are built on first use.
 */
#include "elf/object.h"
#include "elf/cfi.h"
#include "elf/dynsym.h"
#include "elf/forms.h"
#include "elf/maps.h"
#include "elf/stubs.h"
#include "elf/x86_64.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CODE_PAGE = 4096, CODE_PAGES = 64 };

/* Code that was read, in the place that its address says. */
struct code_page {
	uint64_t end; /* 0: nothing is there */
	uint8_t bytes[CODE_PAGE];
};

enum open_state { UNTRIED, IS_OPEN, IS_MISSING };

struct object {
	uint32_t refs;

	/* Where it was found. */
	char *path;
	uint32_t pid;
	uint64_t start, end; /* one of its mappings */
	uint64_t inode;	     /* as the mapping tells it */
	struct file_id id;   /* of the file at path */
	int is_deleted;	     /* when it was found: replaced, as a rule */
	int has_path;	     /* path, opened here, is that file */
	int fd;		     /* or it was opened at once: -1 if not */
	char *debug_path;    /* from gdb, or NULL */
	char build_id[BUILD_ID_SIZE]; /* of what was mapped; "": not known */
	char *copy;	/* the path of a file with that build-id, or NULL */
	int is_changed; /* it was written to since; 2: that was reported */

	/* What was opened of it. */
	enum open_state file_state, debug_state, inlines_state;
	struct elf_file file, debug;
	uint64_t debug_shift; /* from debug's addresses to the file's */
	struct symtab symbols, debug_symbols;
	struct symtab variables;
	int has_variables;   /* that was read */
	int is_full;	     /* symbols is .symtab: debug's has nothing more */
	struct symtab forms; /* where it is not */
	int has_forms;
	uint64_t stubs_start, stubs_end;
	struct symtab stub_names; /* functions that these lead to */
	int has_stubs;		  /* that was read */
	struct cfi cfi;
	struct inlines *inlines;
	uint64_t inlines_shift; /* from their addresses to the file's */

	struct code_page *pages; /* of its code, CODE_PAGES; or NULL */
};

/* ---- finding the file -------------------------------------------------- */

/* The inode may be the same and what is in it another. */
static int is_rewritten(const struct object *o, const struct stat *st)
{
	struct file_id id = file_id_of(st);

	return o->has_path &&
	       (id.size != o->id.size || id.time_ns != o->id.time_ns);
}

/* The file behind a mapping whose path leads nowhere now. */
static int open_mapped(const struct object *o)
{
	char name[96];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%lx-%lx", o->pid,
		 (unsigned long)o->start, (unsigned long)o->end);
	/* For root only; by now the pid may be another process's. */
	if (!stat(name, &st) && !is_rewritten(o, &st) &&
	    (!o->has_path || st.st_ino == o->inode || st.st_ino == o->id.inode))
		return elf_file_descriptor(name);
	snprintf(name, sizeof(name), "/proc/%u/exe", o->pid);
	if (stat(name, &st) || st.st_ino != o->inode || is_rewritten(o, &st))
		return -1;
	return elf_file_descriptor(name);
}

/* The path means another file to a process with another root.  Inodes alone
 * do not tell: some file systems (overlayfs) show others in the maps. */
static void locate(struct object *o)
{
	char inside[PATH_MAX];
	struct stat here, there;
	int is_here = !stat(o->path, &here);
	int length = snprintf(inside, sizeof(inside), "/proc/%u/root%s", o->pid,
			      o->path);
	int is_there = length > 0 && (size_t)length < sizeof(inside) &&
		       !stat(inside, &there);

	if (is_here && is_there &&
	    (here.st_ino != there.st_ino || here.st_dev != there.st_dev))
		is_here = here.st_ino == o->inode;
	if (is_here) {
		o->id = file_id_of(&here);
		o->has_path = 1;
	} else if (is_there) {
		o->fd = elf_file_descriptor(inside);
	}
}

void object_tell_id(struct object *o, const struct mapping *mapping)
{
	if (mapping->build_id)
		snprintf(o->build_id, sizeof(o->build_id), "%s",
			 mapping->build_id);
}

struct object *object_new(uint32_t pid, const struct mapping *mapping)
{
	struct object *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	*o = (struct object){
		.refs = 1,
		.path = strdup(mapping->path),
		.pid = pid,
		.start = mapping->start,
		.end = mapping->end,
		.inode = mapping->inode,
		.is_deleted = mapping->is_deleted,
		.fd = -1,
	};
	if (!o->path) {
		free(o);
		return NULL;
	}
	object_tell_id(o, mapping);
	if (mapping->is_deleted)
		o->fd = open_mapped(o);
	else
		locate(o);
	return o;
}

struct object *object_ref(struct object *o)
{
	o->refs++;
	return o;
}

static void object_close(struct object *o)
{
	inlines_free(o->inlines);
	symtab_release(&o->debug_symbols);
	symtab_release(&o->variables);
	if (o->debug_state == IS_OPEN)
		elf_file_close(&o->debug);
	if (o->file_state == IS_OPEN) {
		symtab_release(&o->symbols);
		symtab_release(&o->forms);
		symtab_release(&o->stub_names);
		cfi_release(&o->cfi);
		elf_file_close(&o->file);
	}
	if (o->fd >= 0)
		close(o->fd);
	free(o->pages);
}

void object_unref(struct object *o)
{
	if (!o || --o->refs)
		return;
	object_close(o);
	free(o->path);
	free(o->debug_path);
	free(o->copy);
	free(o);
}

int object_is_of(const struct object *o, const struct mapping *mapping)
{
	struct file_id id;
	struct stat st;

	if (o->inode != mapping->inode || strcmp(o->path, mapping->path) ||
	    (mapping->build_id && *o->build_id &&
	     strcmp(o->build_id, mapping->build_id)))
		return 0;
	if (mapping->is_deleted || !o->has_path)
		return 1;
	if (stat(o->path, &st))
		return 0;
	id = file_id_of(&st);
	return file_id_is_same(&id, &o->id);
}

void object_set_copy(struct object *o, const char *build_id, const char *path)
{
	if (!path || o->copy || !*o->build_id || strcmp(o->build_id, build_id))
		return;
	o->copy = strdup(path);
	if (o->file_state == IS_MISSING)
		o->file_state = UNTRIED;
}

const char *object_path(const struct object *o)
{
	return o->path;
}

/* ---- opening it -------------------------------------------------------- */

/* The file at path, if it still is the one that was mapped. */
static int open_path(struct object *o)
{
	int fd = elf_file_descriptor(o->path);
	struct file_id id;
	struct stat st;

	if (fd < 0)
		return -1;
	if (!fstat(fd, &st)) {
		id = file_id_of(&st);
		if (file_id_is_same(&id, &o->id))
			return fd;
		o->is_changed = 1;
	}
	close(fd);
	return -1;
}

/* Whatever the inode and the times say of it: was this file mapped? */
static int is_wanted(const struct object *o)
{
	char found[BUILD_ID_SIZE];

	if (!*o->build_id)
		return 1;
	elf_file_build_id(&o->file, found);
	return !strcmp(found, o->build_id);
}

static int open_original(struct object *o)
{
	int fd = o->fd;

	o->fd = -1;
	if (fd < 0 && o->has_path)
		fd = open_path(o);
	if (fd < 0)
		fd = open_mapped(o);
	if (!elf_file_open(&o->file, fd)) {
		o->is_changed |= o->is_deleted && !maps_is_memory(o->path);
		return 0;
	}
	if (is_wanted(o))
		return 1;
	elf_file_close(&o->file);
	o->is_changed = 1;
	return 0;
}

static int open_copy(struct object *o)
{
	if (!o->copy || !elf_file_open(&o->file, elf_file_descriptor(o->copy)))
		return 0;
	if (is_wanted(o))
		return 1;
	elf_file_close(&o->file);
	return 0;
}

static int object_open(struct object *o)
{
	if (o->file_state != UNTRIED)
		return o->file_state == IS_OPEN;
	o->file_state = IS_MISSING;
	if (!open_original(o) && !open_copy(o))
		return 0;
	o->is_changed = 0; /* what was mapped is still to be had */
	stubs_extent(o->file.elf, &o->stubs_start, &o->stubs_end);
	cfi_init(&o->cfi, o->file.elf);
	o->is_full = symtab_init(&o->symbols, o->file.elf, SHT_SYMTAB, 0);
	if (!o->is_full)
		symtab_init(&o->symbols, o->file.elf, SHT_DYNSYM, 0);
	o->file_state = IS_OPEN;
	return 1;
}

static int object_open_debug(struct object *o)
{
	if (o->debug_state != UNTRIED)
		return o->debug_state == IS_OPEN;
	o->debug_state = IS_MISSING;
	if (!elf_file_open_debug(&o->file, o->path, o->debug_path, &o->debug))
		return 0;
	/* Prelinking moves a file but not its debug file. */
	o->debug_shift = elf_file_base(&o->file) - elf_file_base(&o->debug);
	if (!o->is_full)
		symtab_init(&o->debug_symbols, o->debug.elf, SHT_SYMTAB,
			    o->debug_shift);
	o->debug_state = IS_OPEN;
	return 1;
}

void object_debug_file(struct object *o, const char *debug_file)
{
	char *copy;

	if (!debug_file || o->debug_state == IS_OPEN)
		return;
	copy = strdup(debug_file);
	if (!copy)
		return;
	free(o->debug_path);
	o->debug_path = copy;
	o->debug_state = UNTRIED;
	if (o->inlines_state == IS_MISSING)
		o->inlines_state = UNTRIED;
}

int object_is_there(struct object *o)
{
	return object_open(o);
}

int object_bias(struct object *o, uint64_t addr, uint64_t offset,
		uint64_t *bias)
{
	return object_open(o) && elf_file_bias(&o->file, addr, offset, bias);
}

/* ---- asking it --------------------------------------------------------- */

/* A stub has the name of the function that it leads to. */
static void read_stubs(struct object *o)
{
	struct stubs stubs;

	o->has_stubs = 1;
	stubs_init(&stubs, &o->file);
	for (uint32_t i = 0; i < stubs.n_code; i++) {
		const struct stub_code *code = &stubs.code[i];
		const char *name = stubs.all[code->stub].name;

		if (name)
			symtab_add(&o->stub_names, name, code->start, code->end,
				   1);
	}
	stubs_release(&stubs);
	symtab_order(&o->stub_names);
}

static const struct symtab_entry *find_stub(struct object *o, uint64_t addr)
{
	if (addr < o->stubs_start || addr >= o->stubs_end)
		return NULL;
	if (!o->has_stubs)
		read_stubs(o);
	return symtab_find(&o->stub_names, addr);
}

static const struct symtab *forms_of(struct object *o)
{
	if (!o->has_forms)
		forms_init(&o->forms, &o->file);
	o->has_forms = 1;
	return &o->forms;
}

const struct symtab_entry *object_symbol(struct object *o, uint64_t addr,
					 struct symtab **table)
{
	const struct symtab_entry *e;

	*table = &o->stub_names;
	e = find_stub(o, addr);
	if (e)
		return e;
	*table = &o->symbols;
	e = symtab_find(&o->symbols, addr);
	if (e || o->is_full)
		return e;
	e = symtab_find(forms_of(o), addr);
	if (e)
		*table = &o->forms;
	if (e || !object_open_debug(o))
		return e;
	*table = &o->debug_symbols;
	return symtab_find(&o->debug_symbols, addr);
}

int object_is_stubs(const struct object *o, const struct symtab *table)
{
	return table == &o->stub_names;
}

int object_is_form(struct object *o, uint64_t addr, const char *name)
{
	enum { PADDING = 64 };
	const struct symtab *t = forms_of(o);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct symtab_entry *e = &t->entries[i];

		if ((e->range.start == addr || addr - e->range.end < PADDING) &&
		    !strcmp(e->name, name))
			return 1;
	}
	return 0;
}

int object_exports(struct object *o, const char *name)
{
	return object_open(o) && dynsym_use(o->file.elf, name) == DYNSYM_OWN;
}

const struct symtab_entry *object_variable(struct object *o, uint64_t addr)
{
	struct symtab *t = &o->variables;

	if (!o->has_variables) {
		o->has_variables = 1;
		if (o->is_full)
			symtab_init_data(t, o->file.elf, SHT_SYMTAB, 0);
		else if (!object_open_debug(o) ||
			 !symtab_init_data(t, o->debug.elf, SHT_SYMTAB,
					   o->debug_shift))
			symtab_init_data(t, o->file.elf, SHT_DYNSYM, 0);
	}
	return symtab_find(t, addr);
}

void object_no_variable(const struct object *o, uint64_t addr, uint64_t *start,
			uint64_t *end)
{
	const struct symtab *t = &o->variables;

	ranges_gap(t->entries, t->n, sizeof(*t->entries), addr, start, end);
}

const struct symtab *object_functions(struct object *o)
{
	return o->is_full || !object_open_debug(o) || !o->debug_symbols.n
		       ? &o->symbols
		       : &o->debug_symbols;
}

int object_bytes(struct object *o, uint64_t addr, void *out, size_t n)
{
	uint64_t page = addr & -(uint64_t)CODE_PAGE;

	struct code_page *p;

	if (!o->pages)
		o->pages = calloc(CODE_PAGES, sizeof(*o->pages));
	if (!o->pages || addr - page + n > CODE_PAGE)
		return elf_file_bytes(&o->file, addr, out, n);
	p = &o->pages[page / CODE_PAGE % CODE_PAGES];
	if (p->end != page + CODE_PAGE) {
		p->end = 0;
		/* Not whole where a segment begins or ends. */
		if (!elf_file_bytes(&o->file, page, p->bytes, CODE_PAGE))
			return elf_file_bytes(&o->file, addr, out, n);
		p->end = page + CODE_PAGE;
	}
	memcpy(out, p->bytes + (addr - page), n);
	return 1;
}

static int has_frames(const struct elf_file *f)
{
	return elf_file_has(f, ".debug_frame") ||
	       elf_file_has(f, ".zdebug_frame");
}

struct inlines *object_inlines(struct object *o, uint64_t *shift)
{
	struct elf_file *holder;
	int is_here;

	*shift = o->inlines_shift;
	if (o->inlines_state != UNTRIED)
		return o->inlines;
	o->inlines_state = IS_MISSING;
	is_here = elf_file_has_dwarf(&o->file);
	if (!is_here && !object_open_debug(o))
		return NULL;
	*shift = o->inlines_shift = is_here ? 0 : o->debug_shift;
	holder = is_here ? &o->file : &o->debug;
	zsections_unpack(&holder->unpacked, holder->elf);
	o->inlines = inlines_new(holder->elf);
	if (o->inlines)
		o->inlines_state = IS_OPEN;
	return o->inlines;
}

int object_has_inlines(const struct object *o)
{
	return o->inlines_state == IS_OPEN;
}

/* Not DWARF alone: also what is older. */
static int has_debug(const struct elf_file *f)
{
	return elf_file_has_dwarf(f) || elf_file_has(f, ".stab");
}

int object_is_foreign(struct object *o)
{
	uint64_t shift;

	return !object_inlines(o, &shift) &&
	       (has_debug(&o->file) ||
		(object_open_debug(o) && has_debug(&o->debug)));
}

int object_take_change(struct object *o)
{
	if (o->is_changed != 1)
		return 0;
	o->is_changed = 2;
	return 1;
}

void object_build_id(struct object *o, char out[BUILD_ID_SIZE])
{
	if (*o->build_id)
		snprintf(out, BUILD_ID_SIZE, "%s", o->build_id);
	else
		elf_file_build_id(&o->file, out);
}

int object_descriptor(const struct object *o)
{
	return o->file.fd;
}

/* Hand-written or odd code may be described in .debug_frame alone. */
static int read_debug_frame(struct object *o, uint64_t addr, struct code *out)
{
	struct inlines *in;
	uint64_t shift;

	if (!has_frames(&o->file) &&
	    (!object_open_debug(o) || !has_frames(&o->debug)))
		return 0;
	in = object_inlines(o, &shift);
	return in &&
	       cfi_rule_of(dwarf_getcfi(inlines_dwarf(in)), addr - shift, out);
}

/* No symbol tells where the function begins, but its CFI; and so it does for
 * what was split off a function (foo.cold), which begins with a frame made. */
static int stripped_function(struct object *o, uint64_t addr, struct code *out)
{
	const struct range *part = cfi_part(&o->cfi, addr);
	struct code start = {0};
	uint8_t byte = 0;

	if (!part)
		return 0;
	out->function = part->start;
	/* gcc has a nop before a landing pad that a part would begin with. */
	object_bytes(o, out->function, &byte, 1);
	out->is_part =
		cfi_rule(&o->cfi, out->function + (byte == PROCESSOR_NOP),
			 &start) &&
		(start.cfa_base != CFA_SP ||
		 start.cfa_offset != PROCESSOR_ENTRY_CFA);
	return 1;
}

/* musl has no CFI for it, nor has Go. */
static int is_sigreturn(struct object *o, uint64_t addr)
{
	uint8_t code[PROCESSOR_SIGRETURN_BYTES] = {0};

	return object_bytes(o, addr, code, sizeof(code)) &&
	       processor_is_sigreturn(code);
}

int object_code(struct object *o, uint64_t addr, struct code *out)
{
	struct symtab *table;
	const struct symtab_entry *e = object_symbol(o, addr, &table);

	if (!cfi_rule(&o->cfi, addr, out) && !read_debug_frame(o, addr, out)) {
		out->is_signal = (uint8_t)is_sigreturn(o, addr + 1);
		out->is_bare = o->cfi.frames && !out->is_signal;
	}
	if (!e)
		return stripped_function(o, addr, out);
	out->function = symtab_whole(table, e)->range.start;
	return 1;
}
