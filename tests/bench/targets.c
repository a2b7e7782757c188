/* SPDX-License-Identifier: MIT
 *
 * Hooks that do nothing but call two functions that do nothing, to be
 * preloaded: a debugger's breakpoints on those two are all that an event
 * costs.
 */
#define EXPORT __attribute__((visibility("default"), noinline))

EXPORT void bench_enter(void *callee, void *caller);
EXPORT void bench_exit(void *callee, void *caller);
EXPORT void __cyg_profile_func_enter(void *callee, void *caller);
EXPORT void __cyg_profile_func_exit(void *callee, void *caller);

EXPORT void bench_enter(void *callee, void *caller)
{
	__asm__ volatile("nop" : : "r"(callee), "r"(caller));
}

EXPORT void bench_exit(void *callee, void *caller)
{
	__asm__ volatile("nop" : : "r"(callee), "r"(caller));
}

EXPORT void __cyg_profile_func_enter(void *callee, void *caller)
{
	bench_enter(callee, caller);
}

EXPORT void __cyg_profile_func_exit(void *callee, void *caller)
{
	bench_exit(callee, caller);
}
