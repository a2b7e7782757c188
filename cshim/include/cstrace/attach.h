/* SPDX-License-Identifier: MIT
 *
 * Functions of the shim and of the sampler that a recorder calls, by ptrace or
 * gdb, in a program that was started without them.
 */
#ifndef CSTRACE_ATTACH_H
#define CSTRACE_ATTACH_H

#include <stdint.h>

/* Answers of cstrace_attach() that are no errno. */
enum {
	CST_ATTACH_OLD = 1000, /* cstrace_renew() comes first */
};

/* Begins to record into the area at area_path, and maps the areas of the plans
 * in the folder `plans` (plan_layout.h; "": none): they are in cstrace_patched,
 * and the recorder writes the patches.  Called where the thread holds no lock;
 * others run.  Returns 0, a positive errno, or CST_ATTACH_OLD.  EBUSY: another
 * recorder has the process; the same one calls it again where libraries have
 * come. */
int cstrace_attach(const char *area_path, const char *plans);

/* After cstrace_attach() by a debugger that has a breakpoint on
 * cstrace_patches_mapped(): it hears of libraries that the program opens (enum
 * cst_patches_call).  Puts an address into *to, and returns that of an empty
 * function of the dynamic linker: the debugger writes a jump to the former over
 * it.  Returns 0 if there is no such function. */
uint64_t cstrace_tell_opened(uint64_t *to);

/* Forgets the area of a recorder that has ended.  Called while all other
 * threads stand still, none of them within the shim or the areas of plans;
 * pointers are the thread pointers of all n threads. */
void cstrace_renew(const uint64_t *pointers, uint64_t n);

/* Begins to sample into the memory at path (samples.h): all threads but the
 * caller and those that block the signal.  Called where the thread holds no
 * lock; others run.  Returns 0 or a positive errno.  EBUSY: another recorder
 * samples the process; ELIBACC: it has no libunwind; EAGAIN: no signal is free;
 * EACCES: it cannot open the memory. */
int cstrace_sample_attach(const char *path);

/* Begins to sample the threads that have come since or no longer block the
 * signal, and the calling one if is_own_open. */
void cstrace_sample_look(uint64_t is_own_open);

/* Ends it, and gives all back but the library.  Returns 0, or EAGAIN: a thread
 * is still taking a sample. */
int cstrace_sample_detach(void);

#endif
