/* SPDX-License-Identifier: MIT
 *
 * Put before every file of the Lua interpreter by real.py: its way to raise
 * errors says where it lands, to the recorder in truth.c if that is loaded.
 */
#include <setjmp.h>

extern int truth_depth(void) __attribute__((weak));
extern void truth_back(int depth) __attribute__((weak));

#define luai_jmpbuf jmp_buf
#define LUAI_THROW(L, c) _longjmp((c)->b, 1)
#define LUAI_TRY(L, c, a)                                            \
	{                                                            \
		volatile int here = truth_depth ? truth_depth() : 0; \
		if (_setjmp((c)->b) == 0) {                          \
			a                                            \
		} else if (truth_back) {                             \
			truth_back(here);                            \
		}                                                    \
	}
/* Else it comes from the clock and addresses. */
#define luai_makeseed(L) 1u
