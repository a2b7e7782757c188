/* SPDX-License-Identifier: MIT
 *
 * In code built by clang, exceptions run no hooks of the calls they leave.  But
 * before one goes on in a handler or a destructor, that code's language tells
 * the unwinder so, through us: all frames below that one's are left.  A handler
 * then says that it begins: what is inlined in its frame, but does not hold it,
 * is left as well.
 */
#include "arch.h"
#include "jump.h"
#include "next.h"
#include "state.h"

EXPORT void _Unwind_SetIP(void *context, uint64_t ip);
EXPORT void *__cxa_begin_catch(void *exception);

/* A neighbour is called just before, or is data, which is bound at once. */
static struct next set_ip = {
	.name = "_Unwind_SetIP",
	.companions = {"_Unwind_GetCFA", "_Unwind_GetGR"},
	.neighbour = "_Unwind_SetGR",
	.ours = (uint64_t)_Unwind_SetIP,
};
static struct next begin_catch = {
	.name = "__cxa_begin_catch",
	.neighbour = "__gxx_personality_v0",
	.ours = (uint64_t)__cxa_begin_catch,
};

__attribute__((constructor)) static void unwind_begin(void)
{
	next_begin(&set_ip);
	next_begin(&begin_catch);
}

EXPORT void _Unwind_SetIP(void *context, uint64_t ip)
{
	struct next next = set_ip;

	if (unlikely(!next.found))
		next = next_of(&set_ip, __builtin_return_address(0));
	jump_tell_frame(context, ip, (void *)next.found_companions[0],
			(void *)next.found_companions[1]);
	if (next.found)
		((void (*)(void *, uint64_t))next.found)(context, ip);
}
__asm__(DEBUGGERS_NAME(_Unwind_SetIP));

EXPORT void *__cxa_begin_catch(void *exception)
{
	struct next next = begin_catch;

	if (unlikely(!next.found))
		next = next_of(&begin_catch, __builtin_return_address(0));
	jump_tell_caller();
	return ((void *(*)(void *))next.found)(exception);
}
__asm__(DEBUGGERS_NAME(__cxa_begin_catch));
