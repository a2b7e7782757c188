/* SPDX-License-Identifier: MIT
 *
 * The values of most calls: one or two numbers of four bytes or one of eight,
 * all of them at the frame pointer (code that is not optimized) or all in
 * registers that the hook has saved (results, and optimized code).  The reader
 * marks such programs, so that one comparison of a program's first step tells
 * all about it, and nothing is looked at for each number.
 */
#ifndef SHIM_QUICK_NUMBERS_H
#define SHIM_QUICK_NUMBERS_H

#include "core/area.h"
#include "core/copy.h"
#include "core/readable.h"
#include "core/thread.h"

#define QUICK_INLINE static inline __attribute__((always_inline))

/* Returns the program of the site, which begins with CST_COPY_PLAIN; NULL: its
 * program begins with something else, or it has none. */
QUICK_INLINE const struct cst_copy *numbers_begin(uint32_t site)
{
	uint32_t first = __atomic_load_n(area_copies(site), __ATOMIC_ACQUIRE) -
			 CST_COPY_FIRST;
	const struct cst_copy *steps = area_step(first);

	return likely(first < CST_MAX_COPIES - CST_COPY_STEPS_MAX) &&
			       likely(steps->op == CST_COPY_PLAIN)
		       ? steps
		       : NULL;
}

/* Returns what leads to the canonical frame address. */
QUICK_INLINE uint64_t numbers_frame(const struct cst_copy *steps, uint64_t sp,
				    uint64_t fp)
{
	return (uint8_t)steps->offset == CST_REG_RBP ? fp : sp;
}

/* The first step of such a program, without which register leads to the
 * canonical frame address. */
#define QUICK_STEP(n, where)         \
	(CST_COPY_PLAIN | (n) << 8 | \
	 (uint64_t)(CST_NUMBERS_BITS / (n)) << 16 | (uint64_t)(where) << 32)
#define QUICK_REGISTER (0xffull << 32)

QUICK_INLINE uint64_t quick_step(const struct cst_copy *steps)
{
	return __atomic_load_n((const uint64_t *)steps, __ATOMIC_RELAXED);
}

/* Puts two numbers as one.  Returns whether they have room there. */
QUICK_INLINE int quick_pack(int32_t first, int32_t second, uint64_t *packed)
{
	enum { BITS = CST_NUMBERS_BITS / 2, HALF = 1 << (BITS - 1) };
	uint64_t low = (uint64_t)(int64_t)first + HALF;
	uint64_t high = (uint64_t)(int64_t)second + HALF;

	*packed = low | high << BITS;
	return !((low | high) >> BITS);
}

/* Puts a number alone, which one of four bytes always can be. */
QUICK_INLINE int quick_pack_alone(int64_t number, uint64_t *packed)
{
	*packed = (uint64_t)number + (1ull << (CST_NUMBERS_BITS - 1));
	return !(*packed >> CST_NUMBERS_BITS);
}

/* Returns the address of a step's number at the frame pointer, or 0 if that is
 * not on the part of the stack that is known. */
QUICK_INLINE uint64_t quick_place(const struct cst_copy *step, uint64_t fp)
{
	uint64_t from = fp + (uint64_t)(int64_t)step->offset;

	return likely(from - readable_stack.start <= readable_stack.room) ? from
									  : 0;
}

/* Returns the number of a step that is a saved register, whatever the step
 * says: what lies behind the registers is the stub's return address. */
QUICK_INLINE int64_t quick_saved(const struct cst_copy *step,
				 const struct copy_registers *registers)
{
	return (int64_t)registers->r[(uint32_t)step->offset / 8 % 8];
}

/* Puts the record of an event with its numbers, if the chunk has room.  frame
 * leads to the canonical frame address.  time 0: it is now. */
QUICK_INLINE int quick_put(uint32_t site, uint64_t time, uint64_t frame,
			   uint64_t packed)
{
	uint64_t slot = cursor_take(&self.cursor, CST_RECORD_SIZE);

	if (unlikely(cursor_is_full(slot)))
		return 0;
	cst_record_set((struct cst_record *)slot, time ? time : clock_ticks(),
		       site, frame | CST_HAS_NUMBERS, packed);
	return 1;
}

#define QUICK_AT_FP(n, way) QUICK_STEP(n, (way) | CST_REG_RBP)

/* Puts the numbers of a program that are at the frame pointer as one.  Returns
 * whether it has such ones, and they have room there. */
QUICK_INLINE int quick_take_at_fp(const struct cst_copy *steps, uint64_t fp,
				  uint64_t *packed)
{
	uint64_t step = quick_step(steps), from = quick_place(steps + 1, fp);
	uint64_t second;

	if (unlikely(!from))
		return 0;
	if (likely(step == QUICK_AT_FP(2, CST_INTS_AT_FP))) {
		second = quick_place(steps + 2, fp);
		return likely(second) &&
		       quick_pack(*(const int32_t *)from,
				  *(const int32_t *)second, packed);
	}
	if (step == QUICK_AT_FP(1, CST_INTS_AT_FP))
		return quick_pack_alone(*(const int32_t *)from, packed);
	return step == QUICK_AT_FP(1, CST_LONG_AT_FP) &&
	       quick_pack_alone(*(const int64_t *)from, packed);
}

/* Likewise those in saved registers. */
QUICK_INLINE int quick_take_saved(const struct cst_copy *steps,
				  const struct copy_registers *registers,
				  uint64_t *packed)
{
	uint64_t step = quick_step(steps) & ~QUICK_REGISTER;
	int64_t first = quick_saved(steps + 1, registers);

	if (step == QUICK_STEP(1, CST_INTS_SAVED))
		return quick_pack_alone((int32_t)first, packed);
	if (step == QUICK_STEP(1, CST_LONG_SAVED))
		return quick_pack_alone(first, packed);
	return step == QUICK_STEP(2, CST_INTS_SAVED) &&
	       quick_pack((int32_t)first,
			  (int32_t)quick_saved(steps + 2, registers), packed);
}

#endif
