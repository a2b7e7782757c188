/* SPDX-License-Identifier: MIT
 *
 * How a program finds the shim, for cstrace.h: nothing in here is for use.
 */
#ifndef CSTRACE_SHIM_H
#define CSTRACE_SHIM_H

#include "cstrace/types.h"

#define CSTRACE_INLINE_ \
	static inline   \
		__attribute__((always_inline, unused, no_instrument_function))
#define CSTRACE_UNSEEN_ __attribute__((no_instrument_function))
/* Members whose code must lie in the function that uses them. */
#define CSTRACE_NEAR_ \
	__attribute__((always_inline, no_instrument_function)) inline

#if defined(CSTRACE_LINKED)
#define CSTRACE_WEAK_
#else
#define CSTRACE_WEAK_ __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The shim's; absent without it. */
extern const uint32_t cstrace_state[] CSTRACE_WEAK_;
extern const struct cstrace_shim cstrace_shim CSTRACE_WEAK_;

/* Each module has its own two pointers. */
extern const uint32_t *cstrace_state_at_
	__attribute__((weak, visibility("hidden")));
extern const struct cstrace_shim *cstrace_shim_at_
	__attribute__((weak, visibility("hidden")));
__attribute__((used)) const uint32_t *cstrace_state_at_ = cstrace_state;
__attribute__((used)) const struct cstrace_shim *cstrace_shim_at_ =
	&cstrace_shim;

#ifdef __cplusplus
}
#endif

/* A program that is not independent of its position has no way to a library
 * that it was not linked with.  The shim finds the pointers by this note, and
 * sets them; `cstrace check` sees by it that the program has something to say.
 */
__asm__(".pushsection .note.cstrace, \"a\", %note\n\t"
	".balign 4\n\t"
	".long 8, 8, 1\n\t"
	".asciz \"cstrace\"\n\t"
	".long cstrace_state_at_ - .\n\t"
	".long cstrace_shim_at_ - .\n\t"
	".popsection");

/* A use of what has to be kept from the program's begin leaves a note, too: 1
 * the calls that are open, 2 spans. */
#define CSTRACE_WANT_(what)                                              \
	__asm__ volatile(".pushsection .note.cstrace, \"a\", %%note\n\t" \
			 ".balign 4\n\t"                                 \
			 ".long 8, 4, 2\n\t"                             \
			 ".asciz \"cstrace\"\n\t"                        \
			 ".long " what "\n\t"                            \
			 ".popsection" ::)

enum {
	CSTRACE_STATE_OFF_ = 2,
	CSTRACE_KIND_SPAN_ = 6,
	CSTRACE_KIND_MESSAGE_ = 8,
	CSTRACE_KIND_COUNT_ = 9,
	CSTRACE_KIND_CALL_ = 10,
	CSTRACE_KIND_ASYNC_ = 12,
	CSTRACE_KIND_ASYNC_END_ = 13,
	CSTRACE_KIND_CALL_VETO_ = 10 | 1 << 8,
	CSTRACE_KEEP_CALLS_ = 1,
	CSTRACE_KEEP_SPANS_ = 2,
	CSTRACE_START_ = 1,
	CSTRACE_STOP_ = 2,
	CSTRACE_FLUSH_ = 3
};

/* Does anybody watch? */
CSTRACE_INLINE_ int cstrace_watched_(void)
{
	const uint32_t *state = cstrace_state_at_;

	return state &&
	       __atomic_load_n(state, __ATOMIC_RELAXED) != CSTRACE_STATE_OFF_;
}

/* The shim, if it is there and knows of that member. */
CSTRACE_INLINE_ const struct cstrace_shim *cstrace_shim_(size_t member)
{
	const struct cstrace_shim *shim = cstrace_shim_at_;

	return shim && shim->size > member ? shim : NULL;
}
#define CSTRACE_SHIM_(member) \
	cstrace_shim_(offsetof(struct cstrace_shim, member))

CSTRACE_INLINE_ int cstrace_begin_(struct cstrace_span *span,
				   struct cstrace_place *place, uint32_t kind,
				   const void *caller,
				   const struct cstrace_value *values,
				   uint32_t n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(begin);

	return shim ? shim->begin(span, place, kind, caller, values, n) : 0;
}

CSTRACE_INLINE_ void cstrace_end_(struct cstrace_span *span,
				  const struct cstrace_value *values,
				  uint32_t n)
{
	if (span->place)
		cstrace_shim_at_->end(span, values, n);
}

CSTRACE_INLINE_ void cstrace_tell_(struct cstrace_place *place, uint32_t kind,
				   const struct cstrace_value *values,
				   uint32_t n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(tell);

	if (shim)
		shim->tell(place, kind, values, n);
}

#endif
