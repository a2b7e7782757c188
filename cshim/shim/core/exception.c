/* SPDX-License-Identifier: MIT
 *
 * Exceptions as the C++ ABI for Itanium has them, which both compilers and both
 * libraries follow: type_info objects tell a class's bases, and a head before
 * each exception tells its type.  A what() of the program's own is called as
 * its handler would call it, unless CSTRACE_WHAT=off says that it must not be:
 * it may wait for a lock that the thrower holds.  What it calls is not
 * recorded.
 */
#include "core/exception.h"
#include "core/area.h"
#include "core/chunk.h"
#include "core/depth.h"
#include "core/raw_clone.h"
#include "core/site.h"
#include "core/stops.h"
#include "core/thread.h"
#include "kernel/arch.h"
#include "kernel/config.h"

enum {
	BASES_DEPTH = 16, /* that bases are looked for */
	BASES_MAX = 64,	  /* of one class */
};

struct type {
	const void *const *vtable;
	const char *name;
};

/* With one base, public and at the object's beginning. */
struct type_single {
	struct type type;
	const struct type *base;
};

struct type_base {
	const struct type *type;
	int64_t offset_and_flags;
};

struct type_several {
	struct type type;
	uint32_t flags, n_bases;
	struct type_base bases[];
};

enum { BASE_VIRTUAL = 1, BASE_SHIFT = 8 };

/* The unwinder's part of an exception, and how far before it the library's
 * head begins with the type, or, in a dependent exception (an exception_ptr's),
 * with the primary one's object. */
struct unwound {
	uint64_t class;
	uint64_t private[3];
};

enum { HEAD_BYTES = 80, LLVM_HEAD_BYTES = 96 };

static const uint64_t GNU_CLASS = 0x474e5543432b2b00, /* "GNUCC++" */
	LLVM_CLASS = 0x434c4e47432b2b00;	      /* "CLNGC++" */

/* ---- types -----------------------------------------------------------------
 */

static int is_equal(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const char *name_of(const struct type *t)
{
	return t->name + (*t->name == '*');
}

/* A type_info's own class says what follows in it: before each virtual table
 * stands the type that it is of. */
static int is_kind(const struct type *t, const char *class)
{
	const struct type *of = t->vtable ? t->vtable[-1] : 0;

	return of && of->name && is_equal(name_of(of), class);
}

static const void *find_base(const struct type *t, const void *object,
			     const char *name, int depth);

static const void *find_in_base(const struct type_base *b, const void *object,
				const char *name, int depth)
{
	int64_t offset = b->offset_and_flags >> BASE_SHIFT;

	if (b->offset_and_flags & BASE_VIRTUAL)
		offset = *(const int64_t *)(*(const char *const *)object +
					    offset);
	return find_base(b->type, (const char *)object + offset, name, depth);
}

/* The part of the object that is of the class of that name, or NULL. */
static const void *find_base(const struct type *t, const void *object,
			     const char *name, int depth)
{
	const void *found = 0;

	if (is_equal(name_of(t), name))
		return object;
	if (depth == BASES_DEPTH)
		return 0;
	if (is_kind(t, "N10__cxxabiv120__si_class_type_infoE"))
		return find_base(((const struct type_single *)t)->base, object,
				 name, depth + 1);
	if (is_kind(t, "N10__cxxabiv121__vmi_class_type_infoE")) {
		const struct type_several *s = (const struct type_several *)t;

		for (uint32_t i = 0; i < s->n_bases && i < BASES_MAX && !found;
		     i++)
			found = find_in_base(&s->bases[i], object, name,
					     depth + 1);
	}
	return found;
}

/* ---- what it says ----------------------------------------------------------
 */

static int is_librarys(const struct cxx *cxx, uint64_t what)
{
	if (what - cxx->code < cxx->code_size)
		return 1;
	for (const uint64_t *w = cxx->whats; w && *w; w++)
		if (*w == what)
			return 1;
	return 0;
}

static const char *call(uint64_t what, const void *object)
{
	return what && object ? ((what_fn)what)(object) : 0;
}

/* No what() but the library's may be called: so says the environment, or the
 * recorder. */
static int is_off;

static int may_ask(void)
{
	return !is_off && !__atomic_load_n(&area->no_what, __ATOMIC_RELAXED);
}

void exception_begin(char **environment)
{
	const char *value = config_value(environment, "CSTRACE_WHAT");

	is_off = value && is_equal(value, "off");
}

static void quiet_tell(uint64_t sp)
{
	struct cst_record *r = chunk_slot();

	if (r)
		cst_record_set(r, clock_ticks(), CST_QUIET, sp, 0);
}

/* The reader drops what the function's own calls record. */
static __attribute__((noinline)) const char *call_quietly(uint64_t what,
							  const void *object)
{
	const char *text;

	self.quiet_sp = own_sp();
	quiet_tell(self.quiet_sp);
	text = call(what, object);
	self.quiet_sp = 0;
	quiet_tell(0);
	return text;
}

/* Is this within such a call?  A jump out of it has left the mark. */
static int is_quiet(void)
{
	if (own_sp() >= self.quiet_sp)
		self.quiet_sp = 0;
	return self.quiet_sp != 0;
}

/* Without its what(), a class still has the text that its base was made
 * with. */
static const char *message_of(const struct cxx *cxx, const struct type *t,
			      const void *object)
{
	const void *e = find_base(t, object, "St9exception", 0), *base;
	uint64_t what;

	if (!e)
		return 0;
	/* Behind its two destructors. */
	what = (*(const uint64_t *const *)e)[2];
	if (is_librarys(cxx, what))
		return call(what, e);
	if (may_ask())
		return call_quietly(what, e);
	base = find_base(t, object, "St13runtime_error", 0);
	if (base)
		return call(cxx->runtime_what, base);
	return call(cxx->logic_what,
		    find_base(t, object, "St11logic_error", 0));
}

/* ---- records ----------------------------------------------------------------
 */

/* What is put together of a text before it is a record. */
struct text {
	uint8_t bytes[CST_TEXT_BYTES];
	uint32_t n, n_all;
};

static uint64_t six_bytes(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 5; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static void text_flush(struct text *t)
{
	struct cst_record *r;

	if (!t->n)
		return;
	r = chunk_slot();
	if (r)
		cst_record_set(r, clock_ticks(), CST_TEXT, six_bytes(t->bytes),
			       six_bytes(t->bytes + 6));
	t->n = 0;
}

static void text_put(struct text *t, uint8_t c)
{
	t->bytes[t->n++] = c;
	t->n_all++;
	if (t->n == CST_TEXT_BYTES)
		text_flush(t);
}

static void text_put_all(struct text *t, const char *s, uint32_t max)
{
	for (uint32_t i = 0; i < max && s[i]; i++)
		text_put(t, (uint8_t)s[i]);
}

/* The last record of a text is full, so that it ends with the text. */
static uint32_t text_tell(const char *name, const char *message)
{
	struct text t = {.n = 0};
	uint32_t size = 0;

	while (size < CST_TYPE_MAX && name[size])
		size++;
	if (message)
		size++;
	for (uint32_t i = 0; message && i < CST_MESSAGE_MAX && message[i]; i++)
		size++;
	while ((t.n + size) % CST_TEXT_BYTES)
		t.bytes[t.n++] = 0;
	text_put_all(&t, name, CST_TYPE_MAX);
	if (message) {
		text_put(&t, 0);
		text_put_all(&t, message, CST_MESSAGE_MAX);
	}
	text_flush(&t);
	return t.n_all;
}

/* type is NULL for those of other languages. */
static void tell(enum cst_kind kind, const struct cxx *cxx,
		 const uint64_t *frame, const void *object,
		 const struct type *type)
{
	struct site_key key = {*frame - kind, *frame, *frame};
	const char *message;
	uint64_t fp = 0;
	struct cst_record *r;
	uint32_t site;

	if (!state_is_on(state_now()) || !self.thread || self_now() != &self ||
	    self.busy_sp || is_quiet())
		return;
	site = site_intern(&key, kind);
	if (!site)
		return;
	depth_tell();
	if (type && type->name) {
		message = message_of(cxx, type, object);
		fp = text_tell(name_of(type), message);
	}
	r = chunk_slot();
	if (r)
		cst_record_set(r, clock_ticks(), site, (uint64_t)(frame + 1),
			       fp);
}

/* ---- exceptions -------------------------------------------------------------
 */

static const struct type *type_of(const void *object)
{
	return *(const struct type *const *)((const char *)object -
					     sizeof(struct unwound) -
					     HEAD_BYTES);
}

/* The exception's object, or NULL if C++ does not know it. */
static const void *object_of(const struct unwound *e)
{
	if (e->class == GNU_CLASS || e->class == LLVM_CLASS)
		return e + 1;
	if (e->class == GNU_CLASS + 1 || e->class == LLVM_CLASS + 1)
		return *(const void *const *)((const char *)e - HEAD_BYTES);
	return 0;
}

/* What a thread that is being ended is unwound with: its class is 0, and the
 * unwinder keeps in it the function that stops it. */
static int is_forced(const struct unwound *e)
{
	return !e->class && e->private[0];
}

static void tell_unwound(enum cst_kind kind, const struct cxx *cxx,
			 const uint64_t *frame, const struct unwound *e)
{
	static const struct type forced = {.name = CST_FORCED_TYPE};
	const void *object = e ? object_of(e) : 0;
	const struct type *type = object ? type_of(object) : 0;

	if (e && is_forced(e))
		type = &forced;
	tell(kind, cxx, frame, object, type);
}

void exception_tell_throw(const struct cxx *cxx, const uint64_t *frame,
			  const void *object, const void *type)
{
	tell(CST_THROW, cxx, frame, object, type);
}

void exception_tell_again(const struct cxx *cxx, const uint64_t *frame,
			  void *(*get_globals)(void))
{
	const char *const *globals = get_globals ? get_globals() : 0;
	const char *head = globals ? *globals : 0;
	const struct unwound *e = 0;

	if (head) {
		e = (const struct unwound *)(head + LLVM_HEAD_BYTES);
		if (e->class >> 8 != LLVM_CLASS >> 8)
			e = (const struct unwound *)(head + HEAD_BYTES);
	}
	tell_unwound(CST_RETHROW, cxx, frame, e);
}

void exception_tell_rethrow(const struct cxx *cxx, const uint64_t *frame,
			    const void *object)
{
	tell_unwound(CST_RETHROW, cxx, frame,
		     object ? (const struct unwound *)object - 1 : 0);
}

void exception_tell_catch(const struct cxx *cxx, const uint64_t *frame,
			  const void *unwind_exception)
{
	stops_unwind(0);
	tell_unwound(CST_CATCH, cxx, frame, unwind_exception);
}
