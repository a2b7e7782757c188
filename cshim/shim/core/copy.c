/* SPDX-License-Identifier: MIT
 *
 * The steps were written by the reader, but lie in memory that the program can
 * overwrite: each of them is read once, and every size is checked.
 */
#include "core/copy.h"
#include "core/area.h"
#include "core/bare.h"
#include "core/chunk.h"
#include "core/readable.h"
#include "core/reader.h"
#include "core/site.h"
#include "core/thread.h"
#include "kernel/arch.h"
#include "kernel/state.h"
#include "kernel/syscall.h"

enum {
	TEXT_BYTES_MAX = 200,		/* of one text, whatever a step says */
	HEAD_BYTES = 16,		/* of a vector's elements */
	NOWHERE = 1,			/* an address */
	COPY_WAIT_MS = 2000,		/* at a new site */
	RAW_SPARE = 2 * CST_TEXT_BYTES, /* zeroes behind the raw bytes */
};

/* A program that runs. */
struct copier {
	const struct copy_registers *registers;
	uint64_t a;
	uint8_t *raw;
	uint32_t n;
};

/* ---- steps -----------------------------------------------------------------
 */

static uint64_t reg_of(const struct copier *c, const struct cst_copy *step)
{
	if (likely(step->reg < CST_N_REGS))
		return c->registers->r[step->reg];
	return step->reg == CST_REG_SAVED ? (uint64_t)c->registers : 0;
}

static uint32_t copy_from(const struct copier *c, void *to, uint64_t from,
			  uint32_t n)
{
	return readable_copy(c->registers->r[CST_REG_SP], to, from, n);
}

/* The word there, or an address that leads nowhere. */
static uint64_t word_at(const struct copier *c, uint64_t addr)
{
	uint64_t word;

	return copy_from(c, &word, addr, sizeof(word)) == sizeof(word)
		       ? word
		       : NOWHERE;
}

static int has_room(const struct copier *c, uint32_t n)
{
	return c->n + n <= CST_RAW_MAX;
}

static int emit_byte(struct copier *c, uint8_t byte)
{
	if (!has_room(c, 1))
		return 0;
	c->raw[c->n++] = byte;
	return 1;
}

/* All of the word is written: there is room for that behind raw's end. */
static void emit_word(struct copier *c, uint64_t word, uint32_t size)
{
	__builtin_memcpy(c->raw + c->n, &word, sizeof(word));
	c->n += size;
}

static int step_register(struct copier *c, const struct cst_copy *step)
{
	if (step->size > 8 || !has_room(c, step->size))
		return 0;
	emit_word(c, reg_of(c, step), step->size);
	return 1;
}

static int step_frame(struct copier *c, const struct cst_copy *step)
{
	uint64_t from = reg_of(c, step) + (uint64_t)(int64_t)step->offset;

	if (!has_room(c, step->size) ||
	    copy_from(c, c->raw + c->n, from, step->size) != step->size)
		return 0;
	c->n += step->size;
	return 1;
}

static int step_bytes(struct copier *c, const struct cst_copy *step)
{
	uint64_t from = c->a + (uint64_t)(int64_t)step->offset;

	if (!has_room(c, 1u + step->size))
		return 0;
	if (copy_from(c, c->raw + c->n + 1, from, step->size) != step->size)
		return emit_byte(c, CST_COPIED_BAD);
	c->raw[c->n] = CST_COPIED_OK;
	c->n += 1u + step->size;
	return 1;
}

/* Copies n bytes that are there, up to the first NUL.  Returns how many come
 * before that, or n.  Up to 7 bytes more are written. */
static uint32_t copy_to_nul(uint8_t *to, uint64_t from, uint32_t n)
{
	const uint64_t ones = 0x0101010101010101, tops = ones << 7;
	uint32_t i = 0;

	for (; i + 8 <= n; i += 8) {
		uint64_t word, nul;

		__builtin_memcpy(&word, (const void *)(from + i), 8);
		__builtin_memcpy(to + i, &word, 8);
		nul = (word - ones) & ~word & tops;
		if (nul)
			return i + (uint32_t)__builtin_ctzll(nul) / 8;
	}
	for (; i < n && *(const uint8_t *)(from + i); i++)
		to[i] = *(const uint8_t *)(from + i);
	return i;
}

/* Ends a text of which n bytes were copied. */
static int emit_copied(struct copier *c, uint32_t n, int is_cut)
{
	c->raw[c->n] = is_cut ? CST_COPIED_CUT : CST_COPIED_OK;
	c->raw[c->n + 1] = (uint8_t)n;
	c->n += 2 + n;
	return 1;
}

/* Emits at most max bytes of the text there, which ends with a NUL. */
static int emit_text(struct copier *c, uint64_t from, uint32_t max)
{
	uint8_t *to = c->raw + c->n + 2;
	uint32_t got, n;

	if (!has_room(c, max + 2))
		return 0;
	got = readable_at_once(c->registers->r[CST_REG_SP], from, max + 1);
	n = copy_to_nul(to, from, got);
	if (n < got)
		return emit_copied(c, n, 0);
	/* One byte more than is shown: there is room behind raw's end. */
	if (got <= max)
		got = copy_from(c, to, from, max + 1);
	for (n = 0; n < got && n < max && to[n]; n++)
		;
	if (!got)
		return emit_byte(c, CST_COPIED_BAD);
	return emit_copied(c, n, n == got || to[n]);
}

/* Emits at most max bytes of the text there, which has `length` bytes. */
static int emit_sized(struct copier *c, uint64_t from, uint64_t length,
		      uint32_t max)
{
	uint32_t want = length < max ? (uint32_t)length : max;

	if (!has_room(c, max + 2))
		return 0;
	if (want && copy_from(c, c->raw + c->n + 2, from, want) < want)
		return emit_byte(c, CST_COPIED_BAD);
	return emit_copied(c, want, length > want);
}

static uint32_t text_max(const struct copier *c, const struct cst_copy *step)
{
	uint32_t max = step->size ? step->size : CST_COPY_TEXT_MAX;

	if (max > TEXT_BYTES_MAX)
		max = TEXT_BYTES_MAX;
	if (!has_room(c, max + 2) && has_room(c, 2 + 8))
		max = CST_RAW_MAX - 2 - c->n;
	return max;
}

static int step_text(struct copier *c, const struct cst_copy *step)
{
	if (!c->a)
		return emit_byte(c, CST_COPIED_NULL);
	return emit_text(c, c->a, text_max(c, step));
}

static int step_sized_text(struct copier *c, const struct cst_copy *step)
{
	uint64_t at = c->a + (uint64_t)(int64_t)step->offset;
	uint64_t from, length;

	if (copy_from(c, &from, at, 8) < 8 ||
	    copy_from(c, &length, at + (uint64_t)((int8_t)step->reg * 8), 8) <
		    8)
		return emit_byte(c, CST_COPIED_BAD);
	return emit_sized(c, from, length, text_max(c, step));
}

static int step_head(struct copier *c, const struct cst_copy *step)
{
	uint64_t at = c->a + (uint64_t)(int64_t)step->offset;
	uint64_t size, place[2];
	uint32_t n = 0;

	if (!has_room(c, 1 + 8 + HEAD_BYTES))
		return 0;
	if (copy_from(c, place, at, sizeof(place)) < sizeof(place) ||
	    place[1] < place[0])
		return emit_byte(c, CST_COPIED_BAD);
	size = place[1] - place[0];
	if (step->size && step->size <= HEAD_BYTES)
		n = HEAD_BYTES / step->size * step->size;
	if (n > size)
		n = step->size ? (uint32_t)(size / step->size * step->size) : 0;
	if (n && copy_from(c, c->raw + c->n + 9, place[0], n) < n)
		return emit_byte(c, CST_COPIED_BAD);
	c->raw[c->n++] = n < size ? CST_COPIED_CUT : CST_COPIED_OK;
	emit_word(c, size, 8);
	c->n += n;
	return 1;
}

/* 0: the program ends. */
static int run_step(struct copier *c, const struct cst_copy *step)
{
	switch (step->op) {
	case CST_COPY_REGISTER:
		return step_register(c, step);
	case CST_COPY_FRAME:
		return step_frame(c, step);
	case CST_COPY_POINT:
		c->a = reg_of(c, step) + (uint64_t)(int64_t)step->offset;
		return 1;
	case CST_COPY_POINT_AT:
		c->a = word_at(c, reg_of(c, step) +
					  (uint64_t)(int64_t)step->offset);
		return 1;
	case CST_COPY_FOLLOW:
		c->a = word_at(c, c->a + (uint64_t)(int64_t)step->offset);
		return 1;
	case CST_COPY_BYTES:
		return step_bytes(c, step);
	case CST_COPY_TEXT:
		return step_text(c, step);
	case CST_COPY_SIZED_TEXT:
		return step_sized_text(c, step);
	case CST_COPY_HEAD:
		return step_head(c, step);
	case CST_COPY_PLAIN:
		return 1;
	}
	return 0;
}

uint32_t copy_run(const struct cst_copy *steps, uint32_t n,
		  const struct copy_registers *registers, uint8_t *raw)
{
	struct copier c = {.registers = registers, .raw = raw};

	for (uint32_t i = 0; i < n && i < CST_COPY_STEPS_MAX; i++) {
		struct cst_copy step;

		__builtin_memcpy(&step, &steps[i], sizeof(step));
		if (!run_step(&c, &step))
			break;
	}
	return c.n;
}

static uint32_t run_program(uint32_t first,
			    const struct copy_registers *registers,
			    uint8_t *raw)
{
	return first < CST_MAX_COPIES
		       ? copy_run(area_step(first), CST_MAX_COPIES - first,
				  registers, raw)
		       : 0;
}

/* ---- a new site ------------------------------------------------------------
 */

/* A library was unloaded: what was found out ahead may be of it. */
static uint32_t has_unloaded;

void copy_unloaded(void)
{
	__atomic_store_n(&has_unloaded, 1, __ATOMIC_RELAXED);
}

/* Was all found out before the first call, and will no reader find out more?
 * A debugger that reads a flight on another machine does. */
static int is_alone(void)
{
	return __atomic_load_n(&area->ahead, __ATOMIC_ACQUIRE) ==
	       CST_AHEAD_MADE;
}

/* What the reader has found out ahead of the new site's hook; 0: nothing. */
COLD static uint32_t known_ahead(uint32_t number)
{
	const struct cst_site *site = &site_index.sites[number];
	uint64_t place = cst_hook_place(site->hook, site->callee);
	uint32_t process = is_alone() ? 0 : site->process;
	struct cst_hook *slots = area_hook(cst_hook_first(place, process));

	if (!__atomic_load_n(&area->n_hooks, __ATOMIC_RELAXED) ||
	    /* Where nobody reads along, the reader of the core holds each
	     * hook's steps against the file that was there. */
	    (!is_alone() && __atomic_load_n(&has_unloaded, __ATOMIC_RELAXED)) ||
	    area_reserve_hook(slots))
		return 0;
	for (uint32_t i = 0; i < CST_HOOK_PROBES; i++) {
		uint32_t copies =
			__atomic_load_n(&slots[i].copies, __ATOMIC_ACQUIRE);

		if (copies && slots[i].hook == place &&
		    slots[i].process == process)
			return copies;
	}
	return 0;
}

/* 1 + the site at which waiting was in vain: as long as the reader has not
 * looked at that one, nobody waits again. */
static uint32_t gave_up_at;

static int is_looked_at(uint32_t site)
{
	return __atomic_load_n(area_copies(site), __ATOMIC_ACQUIRE) != 0;
}

static void wait_for_look(uint32_t site)
{
	uint64_t began = 0, since = sys_monotonic_ms();

	reader_wake();
	while (!is_looked_at(site)) {
		if (sys_monotonic_ms() - since < COPY_WAIT_MS &&
		    reader_wait(area_copies(site), 0, &began))
			continue;
		__atomic_store_n(&gave_up_at, site + 1, __ATOMIC_RELAXED);
		return;
	}
}

/* Are there no values, whatever the reader finds? */
static int is_bare(uint32_t number)
{
	const struct cst_site *site = &site_index.sites[number];

	return site->hook <= CST_PATCHED_LAST &&
	       (bare_has(site->callee) || cst_patched_jumps(site->hook) ||
		cst_patched_ends_any(site->hook));
}

/* Waits until the reader has looked at the site, which is new, at most
 * COPY_WAIT_MS, if it wants values.  A debugger on another machine does not
 * look while the program runs. */
COLD static void copy_wait(uint32_t site)
{
	uint32_t given_up = __atomic_load_n(&gave_up_at, __ATOMIC_RELAXED);
	uint64_t since;

	if (!__atomic_load_n(&area->wants_values, __ATOMIC_RELAXED) ||
	    is_looked_at(site) || area_reserve(area_copies(site), 4))
		return;
	readable_look();
	if (area->flight_chunks || is_bare(site))
		return;
	if (given_up && !is_looked_at(given_up - 1))
		return;
	since = clock_ticks();
	__atomic_fetch_add(&area->n_copy_waiting, 1, __ATOMIC_SEQ_CST);
	wait_for_look(site);
	self.waited_ticks += clock_ticks() - since;
	__atomic_fetch_sub(&area->n_copy_waiting, 1, __ATOMIC_SEQ_CST);
}

/* The site's entry, if is_alone(): it is final. */
COLD static uint32_t settle_alone(uint32_t site)
{
	uint32_t entry = known_ahead(site);

	if (entry < CST_COPY_FIRST) {
		entry = CST_COPY_NOTHING;
		__atomic_store_n(&site_index.sites[site].verdict, CST_RECORDED,
				 __ATOMIC_RELAXED);
	}
	if (!area_reserve(area_copies(site), sizeof(entry)))
		__atomic_store_n(area_copies(site), entry, __ATOMIC_RELEASE);
	return entry;
}

/* ---- records ---------------------------------------------------------------
 */

/* Six bytes, the lowest first; two more are read. */
static uint64_t six_bytes(const uint8_t *p)
{
	uint64_t v;

	__builtin_memcpy(&v, p, sizeof(v));
	return v & 0xffffffffffffull;
}

/* Fills so many records; RAW_SPARE bytes behind the raw ones are zeroed. */
static inline __attribute__((always_inline)) void
put_records(const struct copy_event *e, struct cst_record *r, uint8_t *raw,
	    uint32_t n)
{
	const uint8_t *at = raw;
	/* Whatever this took is in no duration of the function itself. */
	uint64_t time = e->time ? e->time : clock_ticks();

	for (uint32_t i = 0; i < RAW_SPARE; i += 8)
		__builtin_memcpy(raw + n + i, &(uint64_t){0}, 8);
	for (uint32_t i = n / CST_TEXT_BYTES; i > 0; i--, at += CST_TEXT_BYTES)
		cst_record_set(r++, time, CST_TEXT, six_bytes(at),
			       six_bytes(at + 6));
	if (n)
		cst_record_set(r++, time, CST_VALUES,
			       (six_bytes(at) << 8 | n) & 0xffffffffffffull,
			       six_bytes(at + 5));
	cst_record_set(r, time, e->site, e->sp, e->fp);
}

int copy_put(const struct copy_event *e)
{
	uint32_t entry =
		__atomic_load_n(area_copies(e->site), __ATOMIC_ACQUIRE);
	uint8_t raw[CST_RAW_MAX + RAW_SPARE];
	struct cst_record *r;
	uint32_t n = 0;

	if (unlikely(!entry))
		entry = is_alone() ? settle_alone(e->site)
				   : known_ahead(e->site);
	if (unlikely(!entry)) {
		copy_wait(e->site);
		if (site_is_muted(e->site))
			return 1;
		entry = __atomic_load_n(area_copies(e->site), __ATOMIC_ACQUIRE);
	}
	if (entry >= CST_COPY_FIRST)
		n = run_program(entry - CST_COPY_FIRST, e->registers, raw);
	r = chunk_slots(copy_records(n));
	if (!r)
		return 0;
	put_records(e, r, raw, n);
	return 1;
}
