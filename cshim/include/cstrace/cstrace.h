/* SPDX-License-Identifier: MIT
 *
 * For the code of programs that link the shim (-lcstrace) or only want to
 * talk to it when it happens to be preloaded.
 */
#ifndef CSTRACE_H
#define CSTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* Where gdb puts its breakpoints in the sync road.  They do nothing; callee
 * is the function entered or left, caller its return address, number counts
 * the events of this process so that one is never taken twice. */
void cstrace_hook_enter(void *callee, void *caller, unsigned long number);
void cstrace_hook_exit(void *callee, void *caller, unsigned long number);

/* The hooks that gcc and clang call with -finstrument-functions. */
void __cyg_profile_func_enter(void *callee, void *caller);
void __cyg_profile_func_exit(void *callee, void *caller);

#ifdef __cplusplus
}
#endif
#endif
