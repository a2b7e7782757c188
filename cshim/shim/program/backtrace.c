/* SPDX-License-Identifier: MIT
 *
 * A handler of a crash may run on a small stack: what is large is not on it.
 */
#include "program/backtrace.h"
#include "core/watch.h"
#include "cstrace/layout.h"
#include "kernel/symbols.h"
#include "kernel/output.h"

enum { MOST_PRINTED = 200 };

static struct cstrace_open told(const struct open_call *c)
{
	const struct cstrace_place *p = c->place;

	return (struct cstrace_open){
		.callee = p ? NULL : (const void *)c->callee,
		.caller = c->kind == CST_SPAN ? NULL : (const void *)c->caller,
		.function = p ? p->name : NULL,
		.file = p ? p->file : NULL,
		.line = p ? p->line : 0,
		.is_span = c->kind == CST_SPAN,
	};
}

int backtrace_get(struct cstrace_open *calls, int n)
{
	const struct open_call *c;
	int i = 0;

	for (; watch_any() && i < n && (c = open_calls_at((uint32_t)i)); i++)
		calls[i] = told(c);
	return i;
}

static void put_name(struct output *o, const struct symbol *s)
{
	char readable[SYMBOL_NAME_MAX];

	output_text(o, symbols_demangle(s->name, readable, sizeof(readable))
			       ? readable
			       : s->name);
}

/* "sum+0x1f", or "0x401136 in app". */
static void put_address(struct output *o, uint64_t address, int is_site)
{
	struct symbol s;

	/* A call site's address is behind the call. */
	if (symbols_find(address - (uint64_t)is_site, &s)) {
		put_name(o, &s);
		if (!is_site && !s.offset)
			return;
		output_char(o, '+');
		output_hex(o, s.offset + (uint64_t)is_site);
		return;
	}
	output_hex(o, address);
	if (!s.module[0])
		return;
	output_text(o, " in ");
	output_text(o, s.module);
}

static void put_call(struct output *o, uint32_t i, const struct open_call *c)
{
	output_char(o, '#');
	output_number(o, i, 10);
	output_text(o, i < 10 ? "   " : "  ");
	if (c->kind == CST_SPAN)
		output_text(o, "span ");
	if (c->place)
		output_text(o, c->place->name);
	else
		put_address(o, c->callee, 0);
	if (c->place) {
		output_text(o, " at ");
		output_text(o, c->place->file);
		output_char(o, ':');
		output_number(o, c->place->line, 10);
	}
	if (c->kind != CST_SPAN) {
		output_text(o, ", called from ");
		put_address(o, c->caller, 1);
	}
	output_char(o, '\n');
}

void backtrace_print(int fd)
{
	struct output o = {.fd = fd, .n = 0};
	const struct open_call *c;

	for (uint32_t i = 0;
	     watch_any() && i < MOST_PRINTED && (c = open_calls_at(i)); i++) {
		put_call(&o, i, c);
		output_flush(&o); /* the next may crash */
	}
}

int backtrace_name(const void *address, char *name, size_t size)
{
	struct symbol s;
	uint32_t n = 0;

	if (!size)
		return 0;
	name[0] = 0;
	if (!symbols_find((uint64_t)address, &s))
		return 0;
	n = symbols_demangle(s.name, name,
			     size < UINT32_MAX ? (uint32_t)size : UINT32_MAX);
	if (n)
		return (int)n;
	for (; n + 1 < size && s.name[n]; n++)
		name[n] = s.name[n];
	name[n] = 0;
	return (int)n;
}
