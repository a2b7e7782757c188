/* SPDX-License-Identifier: MIT
 *
 * Functions of the shim that a recorder calls, by ptrace or gdb, in a program
 * that was started without it.
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
 * recorder has the process; the same one may call it again. */
int cstrace_attach(const char *area_path, const char *plans);

/* Forgets the area of a recorder that has ended.  Called while all other
 * threads stand still, none of them within the shim or the areas of plans;
 * pointers are the thread pointers of all n threads. */
void cstrace_renew(const uint64_t *pointers, uint64_t n);

#endif
