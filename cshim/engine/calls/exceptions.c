/* SPDX-License-Identifier: MIT
 *
 * Follows each exception from where it is thrown to where it is caught: adds
 * the rows for both, and keeps what the calls in between are unwound by.
 */
#include "calls/exceptions.h"

#include "calls/find_lane.h"
#include "calls/record_text.h"
#include "sites/thrown.h"

#include <stdio.h>
#include <string.h>

enum {
	TEXT_SIZE = 1024, /* what is longer is not ours */
	/* A program may say something else with each exception. */
	MESSAGES_MAX = 10000,
	SITES_MAX = 100000,
};

/* ---- names -----------------------------------------------------------------
 */

/* "St13runtime_error" is "std::runtime_error". */
static void type_put(const char *symbol, char *out, size_t size)
{
	static const char before[] = "typeinfo for ";
	char mangled[CST_TYPE_MAX + 8];
	char readable[4096];

	snprintf(mangled, sizeof(mangled), "_ZTI%s", symbol);
	cst_demangle(mangled, readable, sizeof(readable));
	snprintf(out, size, "%s",
		 strncmp(readable, before, sizeof(before) - 1)
			 ? symbol
			 : readable + sizeof(before) - 1);
}

/* Cut where a character begins. */
static void message_put(const char *text, char out[CST_MESSAGE_MAX + 8])
{
	size_t n = strlen(text);
	int is_cut = n >= CST_MESSAGE_MAX;

	memcpy(out, text, n + 1);
	while (is_cut && n && ((uint8_t)out[n - 1] & 0xc0) == 0x80)
		n--;
	if (is_cut && n && (uint8_t)out[n - 1] >= 0xc0)
		n--;
	if (is_cut)
		strcpy(out + n, "...");
}

/* The name under which it is in the trace. */
static uint32_t function_of(struct exceptions *x, struct names *n, uint8_t kind,
			    const char *symbol, const char *message)
{
	const char *word = exception_word(kind);
	char type[4096], text[CST_MESSAGE_MAX + 8],
		name[sizeof(type) + sizeof(text) + 16];
	struct exception_name e = {
		.name = name, .kind = kind, .symbol = symbol};

	if (!symbol) {
		snprintf(name, sizeof(name), "%s a foreign exception", word);
		return thrown_function(x, n, &e);
	}
	type_put(symbol, type, sizeof(type));
	if (message && x->n_messages < MESSAGES_MAX) {
		message_put(message, text);
		e.message = text;
		snprintf(name, sizeof(name), "%s %s(\"%s\")", word, type, text);
	} else {
		snprintf(name, sizeof(name), "%s %s", word, type);
	}
	return thrown_function(x, n, &e);
}

/* The function's site at the place of that site of the area. */
static uint32_t site_of(struct sites *s, uint32_t function, uint32_t number)
{
	struct exceptions *x = &s->exceptions;
	struct names *n = s->names;
	uint32_t place = s->all[number].call_site;
	uint64_t key = (uint64_t)(function + 1) << 32 | number;
	uint32_t *known = hashmap_get(&x->sites, key), id;
	struct call_site at;

	if (known)
		return *known;
	if (x->sites.n >= SITES_MAX)
		return place;
	id = names_add_site(n, function);
	if (id == UINT32_MAX)
		return place;
	at = n->sites[place];
	names_place_site(n, id, at.space, at.caller, at.hook);
	if (at.line)
		names_set_site(n, id, at.file, at.line);
	else
		sites_ask_line(s, number, id); /* the answer may be to come */
	hashmap_put(&x->sites, key, id);
	return id;
}

static uint32_t record_site(struct callstack *c, struct thread *t,
			    const struct exception_record *r)
{
	const struct site *site = &c->sites->all[r->number];
	struct exceptions *x = &c->sites->exceptions;
	struct names *names = c->sites->names;
	uint64_t size = r->n_text;
	const char *taken = record_text_take(t, size);
	char text[TEXT_SIZE + 1];
	const char *message;
	uint32_t function;

	if (!taken || size > TEXT_SIZE)
		size = 0;
	memcpy(text, taken ? taken : "", size);
	text[size] = 0;
	message = memchr(text, 0, size);
	function = function_of(x, names, site->kind, size ? text : NULL,
			       message ? message + 1 : NULL);
	return function == UINT32_MAX ? site->call_site
				      : site_of(c->sites, function, r->number);
}

/* ---- which calls are left --------------------------------------------------
 */

static void fly(struct stack *s, uint32_t function)
{
	if (s->n_flying == MAX_FLYING)
		memmove(s->flying, s->flying + 1,
			--s->n_flying * sizeof(*s->flying));
	s->flying[s->n_flying++] =
		(struct flying){.n = s->n, .function = function};
}

void exceptions_force(struct callstack *c, struct stack *s)
{
	uint32_t function = UINT32_MAX;

	if (s->n_flying)
		return;
	if (s->lane) /* what is not kept needs no name */
		function = function_of(&c->sites->exceptions, c->sites->names,
				       CST_THROW, CST_FORCED_TYPE, NULL);
	fly(s, function);
}

void exceptions_land(struct stack *s)
{
	struct flying *f = &s->flying[s->n_flying - 1];

	if (s->n < f->n)
		f->n = s->n;
	f->cfa = s->n ? s->calls[s->n - 1].cfa : 0;
}

enum call_end exceptions_end(struct stack *s, uint32_t i)
{
	struct flying *f = &s->flying[s->n_flying - 1];

	if (i >= f->n || s->calls[i].cfa != f->cfa)
		return CALL_RETURN;
	f->n = i;
	return CALL_UNWOUND;
}

/* The library's handler throws it once more; nothing but a name, which it may
 * lack, tells its place from others in the library. */
static int is_hidden(const struct callstack *c, const struct thread *t,
		     const struct site *site)
{
	const struct names *n = c->sites->names;

	return site->kind == KIND_HIDDEN ||
	       (t->has_uncaught && site->call_site != UINT32_MAX &&
		!n->sites[site->call_site].file);
}

void exceptions_take(struct callstack *c, struct thread *t, struct stack *s,
		     const struct exception_record *r)
{
	const struct site *site = &c->sites->all[r->number];
	uint32_t call_site;

	/* What is thrown meanwhile, by destructors, is caught by them. */
	if (site->kind >= CST_CATCH && s->n_flying)
		s->n_flying--;
	if (is_hidden(c, t, site))
		return;
	call_site = record_site(c, t, r);
	if (call_site != UINT32_MAX)
		stack_note(c, t, s, r->sp, call_site, r->time, NULL);
	if (site->kind < CST_CATCH)
		fly(s, call_site == UINT32_MAX
			       ? UINT32_MAX
			       : c->sites->names->sites[call_site].function);
	t->has_uncaught |= site->kind == KIND_UNCAUGHT;
}
