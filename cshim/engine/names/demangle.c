/* SPDX-License-Identifier: MIT
 *
 * Linkage names to readable ones, with libiberty (C++ and Rust).  Through its
 * callbacks, so that a name never costs memory beyond the caller's buffer.
 * Only what is plainly mangled is touched: "f" and "a" are C functions, not
 * the types that a demangler would make of them.
 */
#include "cstrace/engine.h"

#include <libiberty/demangle.h>
#include <string.h>

/* Text that is cut where its buffer ends. */
struct cut_text {
	char *out;
	uint64_t size, used;
};

static void cut_text_add(const char *text, size_t n, void *arg)
{
	struct cut_text *t = arg;
	uint64_t room = t->size - 1 - t->used;

	if (n > room)
		n = room;
	memcpy(t->out + t->used, text, n);
	t->used += n;
}

static int is_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

/* Rust first: its older names are well-formed C++ ones with a hash in them. */
static int demangle(const char *symbol, struct cut_text *t)
{
	enum { STYLE = DMGL_PARAMS | DMGL_ANSI };

	if (rust_demangle_callback(symbol, STYLE, cut_text_add, t) && t->used)
		return 1;
	t->used = 0;
	return cplus_demangle_v3_callback(symbol, STYLE, cut_text_add, t) &&
	       t->used;
}

void cst_demangle(const char *symbol, char *out, uint64_t size)
{
	struct cut_text t = {.out = out, .size = size};

	if (!size)
		return;
	if (!is_mangled(symbol) || !demangle(symbol, &t)) {
		t.used = 0;
		cut_text_add(symbol, strlen(symbol), &t);
	}
	out[t.used] = 0;
}
