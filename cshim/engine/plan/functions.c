/* SPDX-License-Identifier: MIT
 *
 * A function begins where an FDE does.  Symbols give the names, and functions
 * that have no FDE.
 */
#include "plan/functions.h"
#include "base/array.h"
#include "base/search.h"
#include "elf/debugfile.h"
#include "plan/frame_cursor.h"

#include <stdlib.h>
#include <string.h>

static int is_in_code(const struct image *im, const struct plan_function *f)
{
	const struct image_section *s = image_section_at(im, f->start);

	return s && s->is_code && f->end > f->start && f->end <= s->end;
}

int functions_add(struct functions *f, const struct plan_function *new)
{
	if (array_room(&f->all, &f->cap, f->n + 1ull))
		return CST_MEMORY;
	f->all[f->n++] = *new;
	return 0;
}

/* The symbol that begins at addr, the best of several; NULL: there is none. */
static const struct symtab_entry *symbol_at(const struct symtab *t,
					    uint64_t addr)
{
	uint32_t n = search_while(i, t->n, t->entries[i].range.start <= addr);

	return n && t->entries[n - 1].range.start == addr ? &t->entries[n - 1]
							  : NULL;
}

static const struct symtab_entry *name_at(const struct functions *f,
					  uint64_t addr)
{
	const struct symtab_entry *e = symbol_at(&f->symbols, addr);

	return e ? e : symbol_at(&f->exports, addr);
}

/* Is it a part that was moved away from a function?  Code that begins with
 * something on the stack is called by nobody. */
static int is_cold(const struct frames *frames, const struct frame *frame,
		   const char *name)
{
	struct frame_cursor c;
	const struct frame_rules *rules;

	if (strstr(name, ".cold"))
		return 1;
	frame_cursor_init(&c, frames, frame);
	rules = frame_cursor_to(&c, frame->start);
	return !rules || !frame_is_bare(rules);
}

static int add_frames(struct functions *f, const struct image *im,
		      const struct frames *frames)
{
	for (uint32_t i = 0; i < frames->n; i++) {
		const struct frame *frame = &frames->all[i];
		const struct symtab_entry *e = name_at(f, frame->start);
		struct plan_function new = {
			.start = frame->start,
			.end = frame->end,
			.name = e ? e->name : "",
			.frame = frame,
		};

		if (!is_in_code(im, &new))
			continue;
		if (e && !symtab_is_unsized(e) && e->range.end < new.end)
			new.end = e->range.end;
		new.is_cold = (uint8_t)is_cold(frames, frame, new.name);
		if (functions_add(f, &new))
			return CST_MEMORY;
	}
	return 0;
}

static int add_symbols(struct functions *f, const struct image *im,
		       const struct frames *frames, const struct symtab *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct symtab_entry *e = &t->entries[i];
		struct plan_function new = {.start = e->range.start,
					    .end = e->range.end,
					    .name = e->name};

		if (i + 1 < t->n && e[1].range.start == e->range.start)
			continue; /* the next one is the better name */
		if (!is_in_code(im, &new) || frames_at(frames, new.start))
			continue;
		if (functions_add(f, &new))
			return CST_MEMORY;
	}
	return 0;
}

static int compare_functions(const void *a, const void *b)
{
	const struct plan_function *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Functions without a frame end where the next one begins. */
void functions_order(struct functions *f)
{
	uint32_t n = 0;

	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), compare_functions);
	for (uint32_t i = 0; i < f->n; i++) {
		if (n && f->all[i].start == f->all[n - 1].start)
			continue;
		if (n && f->all[i].start < f->all[n - 1].end)
			f->all[n - 1].end = f->all[i].start;
		f->all[n++] = f->all[i];
	}
	f->n = n;
	for (uint32_t i = 0; i < n; i++)
		f->all[i].whole = i;
}

/* Where padding that begins there ends, at `end` at the latest. */
static uint64_t behind_padding(const struct image *im, uint64_t addr,
			       uint64_t end)
{
	struct insn i;

	for (; addr < end; addr += i.length) {
		uint64_t n = 0;
		const uint8_t *code = image_bytes(im, addr, &n);

		if (!code || !insn_decode(&i, code, n, addr) ||
		    !insn_is_filler(&i))
			return addr;
	}
	return end;
}

int functions_add_gaps(struct functions *f, const struct image *im)
{
	uint32_t next = 0, n = f->n;
	int status = 0;

	for (uint32_t k = 0; k < im->n_sections; k++) {
		const struct image_section *section = &im->sections[k];
		uint64_t at = section->start;

		while (section->is_code && at < section->end && !status) {
			int is_last =
				next == n || f->all[next].start >= section->end;
			struct plan_function gap = {
				.end = is_last ? section->end
					       : f->all[next].start,
				.name = "",
			};

			gap.start = behind_padding(im, at, gap.end);
			if (gap.end > gap.start)
				status = functions_add(f, &gap);
			at = is_last ? section->end : f->all[next++].end;
		}
	}
	functions_order(f);
	return status;
}

static void read_symbols(struct functions *f, const struct image *im,
			 const char *path, const char *debug_file)
{
	f->debug.fd = -1;
	f->has_symbols = symtab_init(&f->symbols, im->file.elf, SHT_SYMTAB, 0);
	symtab_init(&f->exports, im->file.elf, SHT_DYNSYM, 0);
	if (!elf_file_open_debug(&im->file, path, debug_file, &f->debug)) {
		f->debug = (struct elf_file){.fd = -1};
		return;
	}
	if (!f->has_symbols)
		f->has_symbols =
			symtab_init(&f->symbols, f->debug.elf, SHT_SYMTAB, 0);
}

int functions_init(struct functions *f, const struct image *im,
		   const struct frames *frames, const char *path,
		   const char *debug_file)
{
	*f = (struct functions){0};
	read_symbols(f, im, path, debug_file);
	if (add_frames(f, im, frames) ||
	    add_symbols(f, im, frames, &f->symbols) ||
	    add_symbols(f, im, frames, &f->exports))
		return CST_MEMORY;
	functions_order(f);
	return 0;
}

void functions_release(struct functions *f)
{
	free(f->all);
	free(f->ends);
	symtab_release(&f->symbols);
	symtab_release(&f->exports);
	elf_file_close(&f->debug);
	*f = (struct functions){.debug.fd = -1};
}

uint32_t functions_at(const struct functions *f, uint64_t addr)
{
	uint32_t n = search_while(i, f->n, f->all[i].start <= addr);

	return n && addr < f->all[n - 1].end ? n - 1 : FUNCTION_NONE;
}
