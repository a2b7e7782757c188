/* SPDX-License-Identifier: MIT
 *
 * For the code of programs that link the shim (-lcstrace) or only want to
 * talk to it when it happens to be preloaded: declare what is used as weak
 * and test its address.
 */
#ifndef CSTRACE_H
#define CSTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* "0.2.0": the release of the shim that is loaded. */
extern const char cstrace_version[];

/* Where gdb puts its breakpoints in the sync road.  They do nothing; callee
 * is the function entered or left, caller its return address, number counts
 * the events of the trace from 1 so that one is never taken twice. */
void cstrace_hook_enter(void *callee, void *caller, unsigned long number);
void cstrace_hook_exit(void *callee, void *caller, unsigned long number);

/* The hooks that gcc and clang call with -finstrument-functions. */
void __cyg_profile_func_enter(void *callee, void *caller);
void __cyg_profile_func_exit(void *callee, void *caller);

#ifdef __cplusplus
}
#endif
#endif
