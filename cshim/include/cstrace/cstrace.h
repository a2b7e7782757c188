/* SPDX-License-Identifier: MIT
 *
 * For the code of programs that link the shim (-lcstrace), or only call it when
 * it happens to be preloaded: such code declares what it uses as weak and tests
 * its address.
 */
#ifndef CSTRACE_H
#define CSTRACE_H

#ifdef __cplusplus
extern "C" {
#endif

/* The release of the shim that is loaded, "0.2.0". */
extern const char cstrace_version[];

/* Where gdb puts its breakpoints in the breakpoint mode.  They do nothing.
 * callee is the function entered or left, caller its return address; number
 * counts the events of the trace from 1, so that none is handled twice. */
void cstrace_hook_enter(void *callee, void *caller, unsigned long number);
void cstrace_hook_exit(void *callee, void *caller, unsigned long number);

/* The hooks that gcc and clang call with -finstrument-functions. */
void __cyg_profile_func_enter(void *callee, void *caller);
void __cyg_profile_func_exit(void *callee, void *caller);

#ifdef __cplusplus
}
#endif
#endif
