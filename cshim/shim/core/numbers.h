/* SPDX-License-Identifier: MIT
 *
 * The values of many calls: a few numbers in registers and in the calling
 * thread's stack, whose program begins with CST_COPY_PLAIN.  They are copied at
 * once, where the chunk has room, and never by way of memory: to read them back
 * from there in other pieces than they were written in costs as much as all
 * else here.
 */
#ifndef SHIM_NUMBERS_H
#define SHIM_NUMBERS_H

#include "core/area.h"
#include "core/copy.h"
#include "core/readable.h"
#include "core/thread.h"

#define NUMBERS_INLINE static inline __attribute__((always_inline))

/* Returns the program of the site, or NULL. */
NUMBERS_INLINE const struct cst_copy *numbers_program(uint32_t site)
{
	uint32_t first = __atomic_load_n(area_copies(site), __ATOMIC_ACQUIRE) -
			 CST_COPY_FIRST;

	return likely(first < CST_MAX_COPIES - CST_COPY_STEPS_MAX)
		       ? area_step(first)
		       : NULL;
}

/* Returns the program of the site, which begins with CST_COPY_PLAIN; NULL: its
 * program begins with something else, or it has none. */
NUMBERS_INLINE const struct cst_copy *numbers_begin(uint32_t site)
{
	const struct cst_copy *steps = numbers_program(site);

	return likely(steps) && likely(steps->op == CST_COPY_PLAIN) ? steps
								    : NULL;
}

/* Returns what leads to the canonical frame address. */
NUMBERS_INLINE uint64_t numbers_frame(const struct cst_copy *steps, uint64_t sp,
				      uint64_t fp)
{
	return (uint8_t)steps->offset == CST_REG_RBP ? fp : sp;
}

/* Puts the record of an event with its numbers, which have room in 48 bits, if
 * the chunk has room.  frame leads to the canonical frame address.  time 0: it
 * is now.  Returns whether that was done. */
NUMBERS_INLINE int numbers_record(uint32_t site, uint64_t time, uint64_t frame,
				  uint64_t packed)
{
	uint64_t slot = cursor_take(&self.cursor, CST_RECORD_SIZE);

	if (unlikely(cursor_is_full(slot)))
		return 0;
	ask_for_line(slot + CURSOR_AHEAD);
	if (packed >> CST_NUMBERS_BITS)
		__builtin_unreachable();
	cst_record_set((struct cst_record *)slot, time ? time : clock_ticks(),
		       site, frame | CST_HAS_NUMBERS, packed);
	return 1;
}

/* What is there of the stack, which the registers lie on: the last place for
 * eight bytes is `room` bytes above start. */
struct numbers_stack {
	uint64_t start, room;
};

NUMBERS_INLINE struct numbers_stack
numbers_stack(const struct copy_registers *registers)
{
	uint64_t low = (uint64_t)registers;
	struct numbers_stack s = {readable_stack.start, readable_stack.room};

	if (unlikely(low - s.start > s.room)) {
		s.start = low;
		s.room = readable_page_end(registers->r[CST_REG_SP]) - low - 8;
	}
	return s;
}

/* Takes a step's number, as a signed one.  Returns its size, or 0 if it is not
 * where all memory is known. */
NUMBERS_INLINE uint32_t number_at(struct numbers_stack s,
				  const struct copy_registers *registers,
				  const struct cst_copy *at, int64_t *number)
{
	struct cst_copy step;
	uint64_t from;
	int32_t four;
	int16_t two;

	__builtin_memcpy(&step, at, sizeof(step));
	if (unlikely(step.reg >= CST_N_REGS))
		return 0;
	from = registers->r[step.reg] + (uint64_t)(int64_t)step.offset;
	if (unlikely(from - s.start > s.room))
		return 0;
	if (likely(step.size == 4)) {
		__builtin_memcpy(&four, (const void *)from, 4);
		*number = four;
		return 4;
	}
	if (likely(step.size == 8)) {
		__builtin_memcpy(number, (const void *)from, 8);
		return 8;
	}
	if (step.size == 2) {
		__builtin_memcpy(&two, (const void *)from, 2);
		*number = two;
		return 2;
	}
	*number = *(const int8_t *)from;
	return step.size == 1;
}

/* Puts those of n steps into *packed, each in so many bits, with half of what
 * has room there added.  Returns 0 if one has no room. */
NUMBERS_INLINE int numbers_pack(const struct copy_registers *registers,
				const struct cst_copy *steps, uint32_t n,
				uint32_t bits, uint64_t *packed)
{
	struct numbers_stack s = numbers_stack(registers);
	uint64_t half = 1ull << (bits - 1), all = 0, any = 0;
	int64_t number;

	for (uint32_t i = 0; i < n; i++) {
		if (unlikely(!number_at(s, registers, steps + i, &number)))
			return 0;
		any |= (uint64_t)number + half;
		all |= ((uint64_t)number + half) << i * bits;
	}
	*packed = all;
	return !(any >> bits);
}

/* Puts their bytes into low, then high, the first one lowest.  Returns how many
 * these are, or 0 if they cannot be had. */
NUMBERS_INLINE uint32_t numbers_gather(const struct copy_registers *registers,
				       const struct cst_copy *steps, uint32_t n,
				       uint64_t *low, uint64_t *high)
{
	struct numbers_stack s = numbers_stack(registers);
	uint32_t at = 0, size;
	int64_t number;

	*low = *high = 0;
	for (; n-- > 0; at += 8 * size) {
		uint64_t value;

		size = number_at(s, registers, steps++, &number);
		if (unlikely(!size || at + 8 * size > 8 * CST_PLAIN_BYTES))
			return 0;
		value = (uint64_t)number << (64 - 8 * size) >> (64 - 8 * size);
		if (at < 64) {
			*low |= value << at;
			*high |= value >> 1 >> (63 - at);
		} else {
			*high |= value << (at - 64);
		}
	}
	return at / 8;
}

/* Returns the address of so many bytes of the chunk, or 0 if it has no room. */
NUMBERS_INLINE uint64_t numbers_slots(uint64_t size)
{
	uint64_t slot = __atomic_load_n(&self.cursor, __ATOMIC_RELAXED);

	return likely(slot % CST_CHUNK_SIZE <= CURSOR_FULL - size) &&
			       likely(cursor_step(&self.cursor, slot,
						  slot + size))
		       ? slot
		       : 0;
}

/* An event whose numbers are in records before its own. */
static __attribute__((noinline)) int
numbers_put_before(const struct copy_registers *registers, uint32_t site,
		   uint64_t time, uint64_t fp, const struct cst_copy *begin)
{
	const uint64_t half = 0xffffffffffffull; /* of a record's text */
	uint64_t low, high;
	uint32_t size =
		numbers_gather(registers, begin + 1, begin->reg, &low, &high);
	uint64_t slots;
	struct cst_record *r;

	slots = size ? numbers_slots(copy_records(size) * CST_RECORD_SIZE) : 0;
	if (unlikely(!slots))
		return 0;
	r = (struct cst_record *)slots;
	time = time ? time : clock_ticks();
	if (size > CST_VALUES_BYTES) {
		cst_record_set(r++, time, CST_TEXT, low & half,
			       (low >> 48 | high << 16) & half);
		low = high >> 32;
		high = 0;
	}
	cst_record_set(r++, time, CST_VALUES, (low << 8 | size) & half,
		       (low >> 40 | high << 24) & half);
	cst_record_set(r, time, site, registers->r[CST_REG_SP], fp);
	return 1;
}

/* Puts an event into the thread's chunk with its values, as copy_put() does, if
 * they are such numbers and the chunk has room; steps are what numbers_begin()
 * returned.  Returns 0, and does nothing, if not. */
NUMBERS_INLINE int numbers_put(const struct copy_registers *registers,
			       const struct cst_copy *steps, uint32_t site,
			       uint64_t time, uint64_t sp, uint64_t fp)
{
	struct cst_copy begin;
	uint64_t packed, frame;

	if (unlikely(!steps))
		return 0;
	__builtin_memcpy(&begin, steps, sizeof(begin));
	frame = numbers_frame(steps, sp, fp);
	if (unlikely(begin.size - 1u >= CST_NUMBERS_BITS ||
		     frame >= CST_HAS_NUMBERS ||
		     !numbers_pack(registers, steps + 1, begin.reg, begin.size,
				   &packed)))
		return numbers_put_before(registers, site, time, fp, steps);
	return numbers_record(site, time, frame, packed);
}

#endif
