/* SPDX-License-Identifier: MIT
 *
 * The values of most calls: one or two numbers of four bytes or one of eight,
 * all of them at the frame pointer (code that is not optimized) or all in
 * registers that the caller keeps (results, and optimized code).  The reader
 * marks such programs (enum cst_quick), so that one comparison tells all about
 * one, and nothing is looked at for each number.
 *
 * The hooks jump here.  gcc leaves the caller's registers alone in this file
 * (rooms.mk), so that they need not be saved to be read; with clang, those that
 * are in registers take the way of event_save_values().
 */
#include "core/event.h"
#include "core/numbers.h"

/* The first step of such a program, without the places of its numbers. */
#define STEP(n, way, frame)                                                  \
	((CST_COPY_PLAIN | (n) << 8 |                                        \
	  (uint64_t)(CST_NUMBERS_BITS / (n)) << 16 | (uint64_t)(way) << 32 | \
	  (uint64_t)(frame) << 32)                                           \
	 << 16)
#define ANY_FRAME (0xffull << 48)
#define AT_FP ((uint64_t)(CST_INTS_AT_FP | CST_LONG_AT_FP) << 32)

/* Returns the place of a number, as the first step has it.  The program can
 * overwrite it: whatever it is, what it leads to is there. */
NUMBERS_INLINE int8_t place(const struct cst_copy *step, int number)
{
	return __atomic_load_n((const int8_t *)step + 6 + number,
			       __ATOMIC_RELAXED);
}

/* Puts two numbers as one.  Returns whether they have room there. */
NUMBERS_INLINE int pack_two(int32_t first, int32_t second, uint64_t *packed)
{
	enum { BITS = CST_NUMBERS_BITS / 2, HALF = 1 << (BITS - 1) };
	uint64_t low = (uint64_t)(int64_t)first + HALF;
	uint64_t high = (uint64_t)(int64_t)second + HALF;

	*packed = low | high << BITS;
	return !((low | high) >> BITS);
}

/* Puts a number alone, which one of four bytes always can be. */
NUMBERS_INLINE int pack_one(int64_t number, uint64_t *packed)
{
	*packed = (uint64_t)number + (1ull << (CST_NUMBERS_BITS - 1));
	return !(*packed >> CST_NUMBERS_BITS);
}

/* Puts numbers that are near the frame pointer as one.  Returns whether that
 * can be done. */
NUMBERS_INLINE int take_at_fp(const struct cst_copy *first, uint64_t step,
			      uint64_t fp, uint64_t *packed)
{
	const int32_t *at = (const int32_t *)fp;
	int64_t eight;

	if (unlikely(!readable_near(fp)))
		return 0;
	if (likely(step == STEP(2, CST_INTS_AT_FP, CST_REG_RBP)))
		return pack_two(at[place(first, 0)], at[place(first, 1)],
				packed);
	if (step == STEP(1, CST_INTS_AT_FP, CST_REG_RBP))
		return pack_one(at[place(first, 0)], packed);
	if (step != STEP(1, CST_LONG_AT_FP, CST_REG_RBP))
		return 0;
	__builtin_memcpy(&eight, at + place(first, 0), sizeof(eight));
	return pack_one(eight, packed);
}

/* Likewise numbers that are in registers. */
NUMBERS_INLINE int take_saved(const struct cst_copy *first, uint64_t step,
			      uint64_t sp, uint64_t fp, uint64_t *packed)
{
	int64_t number;

	if (!HAS_CALLERS_REGISTERS)
		return 0;
	step |= ANY_FRAME;
	number = (int64_t)callers_register(place(first, 0), sp, fp);
	if (likely(step == STEP(1, CST_INTS_SAVED, 0xff)))
		return pack_one((int32_t)number, packed);
	if (step == STEP(2, CST_INTS_SAVED, 0xff))
		return pack_two(
			(int32_t)number,
			(int32_t)callers_register(place(first, 1), sp, fp),
			packed);
	return step == STEP(1, CST_LONG_SAVED, 0xff) &&
	       pack_one(number, packed);
}

/* Puts an event with its numbers, if it has such ones and the chunk has room.
 * time 0: it is when they have been taken.  Returns whether that was done. */
NUMBERS_INLINE int quick_put(uint32_t site, uint64_t time, uint64_t sp,
			     uint64_t fp)
{
	const struct cst_copy *first = numbers_program(site);
	uint64_t step, packed, frame;

	if (unlikely(!first))
		return 0;
	step = __atomic_load_n((const uint64_t *)first, __ATOMIC_RELAXED);
	if (step & AT_FP) {
		if (unlikely(!take_at_fp(first, step << 16, fp, &packed)))
			return 0;
		frame = fp;
	} else {
		if (unlikely(!take_saved(first, step << 16, sp, fp, &packed)))
			return 0;
		frame = numbers_frame(first, sp, fp);
		if (unlikely(frame >= CST_HAS_NUMBERS))
			return 0;
	}
	return numbers_record(site, time, frame, packed);
}

void event_save_entry(uint64_t site, uint64_t sp, uint64_t fp)
{
	if (unlikely(!quick_put((uint32_t)site, 0, sp, fp)))
		event_save_values(site, sp, fp, 0,
				  numbers_begin((uint32_t)site));
}

void event_save_exit(uint64_t site, uint64_t sp, uint64_t fp)
{
	uint64_t time = clock_ticks();

	if (!time)
		__builtin_unreachable();
	if (unlikely(!quick_put((uint32_t)site, time, sp, fp)))
		event_save_values(site, sp, fp, time,
				  numbers_begin((uint32_t)site));
}
