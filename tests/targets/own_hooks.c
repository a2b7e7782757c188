/* SPDX-License-Identifier: MIT
 *
 * Hooks that the program defines itself, linked with basic.c.
 */
void __cyg_profile_func_enter(void *callee, void *caller);
void __cyg_profile_func_exit(void *callee, void *caller);

static volatile int depth;

#define BARE __attribute__((no_instrument_function))

BARE void __cyg_profile_func_enter(void *callee, void *caller)
{
	(void)callee;
	(void)caller;
	depth++;
}

BARE void __cyg_profile_func_exit(void *callee, void *caller)
{
	(void)callee;
	(void)caller;
	depth--;
}
