/* SPDX-License-Identifier: MIT
 *
 * The program's own words in its trace: spans, functions that report
 * themselves, messages and counters; and callbacks, the calls that are open
 * and the tree of spans for the program itself.  For C11 and C++17, gcc and
 * clang.
 *
 *	#include <cstrace/cstrace.h>
 *
 *	void load(const char *path)
 *	{
 *		CSTRACE_SPAN("load", "file", path);
 *		cstrace_log("reading %s", path);
 *	}
 *
 * Without -DCSTRACE nothing of it is compiled: no code, no data, and no
 * argument is evaluated.  With -DCSTRACE and without libcstrace.so a use costs
 * a comparison.  The library is there when cstrace runs the program, or when it
 * is linked: `-DCSTRACE -DCSTRACE_LINKED ... -lcstrace` (CSTRACE_LINKED makes
 * the linker keep it).
 *
 * Values are evaluated only while somebody watches: they must have no effects
 * that the program needs.  Names and formats are literals.  Names that end in
 * an underscore are not for use.
 */
#ifndef CSTRACE_H
#define CSTRACE_H

#include "cstrace/types.h"

/* ---- what gdb and the compilers' hooks use ----------------------------------
 */

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

/* ---- helpers ----------------------------------------------------------------
 */

#ifdef __cplusplus
extern "C" {
#endif
/* Never called: for the compiler's look at a format. */
void cstrace_check_(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
#ifdef __cplusplus
}
#endif

#if defined(CSTRACE)

#include "cstrace/shim.h"
#include "cstrace/values.h"

/* ---- places and scopes ------------------------------------------------------
 */

#ifdef __cplusplus
#define CSTRACE_HERE_ __PRETTY_FUNCTION__
#else
#define CSTRACE_HERE_ __func__
#endif

#define CSTRACE_PLACE_(place, name, names)                                   \
	static struct cstrace_place place = {name,  __FILE__, CSTRACE_HERE_, \
					     names, __LINE__, 0}

#define CSTRACE_OPEN_(...) __VA_ARGS__

/* Does `call` with an array of the values, a list in parentheses with a comma
 * behind each. */
#define CSTRACE_WITH_(values, call)                                     \
	do {                                                            \
		const struct cstrace_value cstrace_v_[] = {             \
			CSTRACE_OPEN_ values cstrace_value_(0, 0)};     \
		const uint32_t cstrace_n_ =                             \
			sizeof(cstrace_v_) / sizeof(cstrace_v_[0]) - 1; \
		(void)cstrace_n_;                                       \
		call;                                                   \
	} while (0)

#ifdef __cplusplus

extern "C++" {

struct cstrace_scope_ : cstrace_span {
	CSTRACE_NEAR_ cstrace_scope_() : cstrace_span{nullptr, 0, 0, 0, 0}
	{
	}
	CSTRACE_NEAR_ ~cstrace_scope_()
	{
		cstrace_end_(this, nullptr, 0);
	}
	cstrace_scope_(const cstrace_scope_ &) = delete;
	cstrace_scope_ &operator=(const cstrace_scope_ &) = delete;
};

} /* extern "C++" */

#define CSTRACE_SPAN_ZERO_          \
	{                           \
		nullptr, 0, 0, 0, 0 \
	}
#define CSTRACE_SCOPE_(scope) cstrace_scope_ scope

#else

CSTRACE_INLINE_ void cstrace_leave_(struct cstrace_span *span)
{
	cstrace_end_(span, NULL, 0);
}

#define CSTRACE_SPAN_ZERO_       \
	{                        \
		NULL, 0, 0, 0, 0 \
	}
#define CSTRACE_SCOPE_(scope)                                                \
	struct cstrace_span scope __attribute__((cleanup(cstrace_leave_))) = \
		CSTRACE_SPAN_ZERO_

#endif

/* ---- spans ------------------------------------------------------------------
 */

/* CSTRACE_SPAN(name, value's name, value, ...): a span from here to the end of
 * the scope, with up to eight values. */
#define CSTRACE_SPAN(...) \
	CSTRACE_SPAN_2_(__COUNTER__, CSTRACE_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define CSTRACE_SPAN_2_(id, count, ...) \
	CSTRACE_SPAN_3_(CSTRACE_JOIN_(cstrace_span_, id), count, __VA_ARGS__)
#define CSTRACE_SPAN_3_(span, count, ...) \
	CSTRACE_SCOPE_(span);             \
	CSTRACE_SPAN_4_(span, count, __VA_ARGS__)
#define CSTRACE_SPAN_4_(span, count, ...)                                      \
	CSTRACE_PLACE_(span##place_, CSTRACE_FIRST_(__VA_ARGS__),              \
		       CSTRACE_PICK_(CSTRACE_NAMES, count)(__VA_ARGS__));      \
	if (cstrace_watched_())                                                \
	CSTRACE_WITH_((CSTRACE_PICK_(CSTRACE_VALUES, count)(__VA_ARGS__)),     \
		      cstrace_begin_(&span, &span##place_, CSTRACE_KIND_SPAN_, \
				     NULL, cstrace_v_, cstrace_n_))

/* CSTRACE_BEGIN(span, name, value's name, value, ...) declares `span` and
 * begins it; CSTRACE_END(span) or CSTRACE_END(span, result) ends it. */
#define CSTRACE_BEGIN(span, ...)                       \
	struct cstrace_span span = CSTRACE_SPAN_ZERO_; \
	CSTRACE_SPAN_4_(span, CSTRACE_COUNT_(__VA_ARGS__), __VA_ARGS__)
#define CSTRACE_END(...) \
	CSTRACE_PICK_(CSTRACE_END, CSTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define CSTRACE_END_1_(span) cstrace_end_(&(span), NULL, 0)
#define CSTRACE_END_2_(span, result)                                         \
	do {                                                                 \
		if ((span).place)                                            \
			CSTRACE_WITH_((CSTRACE_EACH_1_(result)),             \
				      cstrace_end_(&(span), cstrace_v_, 1)); \
	} while (0)

/* How long the span has lasted; 0 if nobody watched as it began. */
CSTRACE_INLINE_ uint64_t cstrace_elapsed_ns(const struct cstrace_span *span)
{
	return span->place ? cstrace_shim_at_->elapsed(span) : 0;
}

/* CSTRACE_ASYNC_BEGIN(name, id, value's name, value, ...): a span that ends
 * where any thread says CSTRACE_ASYNC_END(name, id) with the same integer. */
#define CSTRACE_ASYNC_BEGIN(...) \
	CSTRACE_ASYNC_(CSTRACE_KIND_ASYNC_, __VA_ARGS__)
#define CSTRACE_ASYNC_END(...) \
	CSTRACE_ASYNC_(CSTRACE_KIND_ASYNC_END_, __VA_ARGS__)
#define CSTRACE_ASYNC_(kind, name, ...)                                        \
	CSTRACE_TELL_(                                                         \
		kind, name,                                                    \
		"id," CSTRACE_PICK_(CSTRACE_NAMES,                             \
				    CSTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__), \
		(cstrace_value_('u',                                           \
				CSTRACE_ID_(CSTRACE_FIRST_(__VA_ARGS__))),     \
		 CSTRACE_PICK_(CSTRACE_VALUES,                                 \
			       CSTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__)))

/* ---- messages, counters -----------------------------------------------------
 */

#define CSTRACE_TELL_(kind, name, names, values)                              \
	do {                                                                  \
		CSTRACE_PLACE_(cstrace_p_, name, names);                      \
		if (cstrace_watched_())                                       \
			CSTRACE_WITH_(values,                                 \
				      cstrace_tell_(&cstrace_p_, kind,        \
						    cstrace_v_, cstrace_n_)); \
	} while (0)

/* cstrace_log(format, ...): a message, with up to 16 arguments. */
#define cstrace_log(...)                                                   \
	do {                                                               \
		if (0)                                                     \
			cstrace_check_(__VA_ARGS__);                       \
		CSTRACE_TELL_(CSTRACE_KIND_MESSAGE_,                       \
			      CSTRACE_FIRST_(__VA_ARGS__), "",             \
			      (CSTRACE_PICK_(CSTRACE_REST,                 \
					     CSTRACE_COUNT_(__VA_ARGS__))( \
				      __VA_ARGS__)));                      \
	} while (0)

/* A counter's new value. */
#define cstrace_count(name, value) \
	CSTRACE_TELL_(CSTRACE_KIND_COUNT_, name, "", (CSTRACE_EACH_1_(value)))

/* ---- functions --------------------------------------------------------------
 */

/* Stands in the first line of a function: its calls are in the tree.  For code
 * without hooks; with -finstrument-functions they are there as they would be
 * without this. */
#define CSTRACE_FUNCTION CSTRACE_FUNCTION_2_(__COUNTER__)
#define CSTRACE_FUNCTION_2_(id) \
	CSTRACE_FUNCTION_3_(CSTRACE_JOIN_(cstrace_call_, id))
#define CSTRACE_FUNCTION_3_(span) \
	CSTRACE_SCOPE_(span);     \
	CSTRACE_FUNCTION_4_(span)
#define CSTRACE_FUNCTION_4_(span)                                \
	CSTRACE_PLACE_(span##place_, __func__, "");              \
	if (cstrace_watched_())                                  \
	cstrace_begin_(&span, &span##place_, CSTRACE_KIND_CALL_, \
		       __builtin_return_address(0), NULL, 0)

#define CSTRACE_CALL_BEGIN_(kind, args)                                \
	CSTRACE_WITH_((CSTRACE_ARGS_ args),                            \
		      cstrace_veto_ = cstrace_begin_(                  \
			      &cstrace_call_, &cstrace_place_, kind,   \
			      __builtin_return_address(0), cstrace_v_, \
			      cstrace_n_))
#define CSTRACE_CALL_END_(result)                \
	if (cstrace_call_.place)                 \
	CSTRACE_WITH_((CSTRACE_EACH_1_(result)), \
		      cstrace_end_(&cstrace_call_, cstrace_v_, 1))
#define CSTRACE_CALL_PLACE_(name, args) \
	CSTRACE_PLACE_(cstrace_place_, #name, &(CSTRACE_ARG_NAMES_ args)[1])

/* CSTRACE_FUNC(int, abc, (int a, int b), (a, b), { return a + b; }) is a
 * function whose calls are in the tree with their arguments and results. */
#define CSTRACE_FUNC(type, name, params, args, ...)                   \
	CSTRACE_FUNC_(CSTRACE_KIND_CALL_, , type, name, params, args, \
		      __VA_ARGS__)
#define CSTRACE_FUNC_VOID(name, params, args, ...) \
	CSTRACE_FUNC_VOID_(CSTRACE_KIND_CALL_, name, params, args, __VA_ARGS__)
/* A callback may keep their bodies from being run; the first then returns
 * `otherwise`. */
#define CSTRACE_FUNC_VETO(otherwise, type, name, params, args, ...) \
	CSTRACE_FUNC_(CSTRACE_KIND_CALL_VETO_,                      \
		      if (cstrace_veto_) return otherwise;          \
		      , type, name, params, args, __VA_ARGS__)
#define CSTRACE_FUNC_VOID_VETO(name, params, args, ...)                 \
	CSTRACE_FUNC_VOID_(CSTRACE_KIND_CALL_VETO_, name, params, args, \
			   __VA_ARGS__)

#ifdef __cplusplus
#define CSTRACE_CALL_SPAN_ cstrace_scope_ cstrace_call_
#else
#define CSTRACE_CALL_SPAN_ \
	struct cstrace_span cstrace_call_ = CSTRACE_SPAN_ZERO_
#endif
/* What the function begins with. */
#define CSTRACE_CALL_ENTER_(kind, name, args)    \
	CSTRACE_CALL_PLACE_(name, args);         \
	CSTRACE_CALL_SPAN_;                      \
	int cstrace_veto_ = 0;                   \
                                                 \
	if (cstrace_watched_())                  \
		CSTRACE_CALL_BEGIN_(kind, args); \
	(void)cstrace_veto_

#ifdef __cplusplus
#define CSTRACE_FUNC_(kind, veto, type, name, params, args, ...) \
	CSTRACE_UNSEEN_ type name params                         \
	{                                                        \
		CSTRACE_CALL_ENTER_(kind, name, args);           \
		veto type cstrace_result_ = [&]()                \
			CSTRACE_UNSEEN_ -> type                  \
					__VA_ARGS__();           \
		CSTRACE_CALL_END_(cstrace_result_);              \
		return cstrace_result_;                          \
	}
#define CSTRACE_FUNC_VOID_(kind, name, params, args, ...)            \
	CSTRACE_UNSEEN_ void name params                             \
	{                                                            \
		CSTRACE_CALL_ENTER_(kind, name, args);               \
		if (!cstrace_veto_)                                  \
			[&]() CSTRACE_UNSEEN_ -> void __VA_ARGS__(); \
	}
#else
#define CSTRACE_FUNC_(kind, veto, type, name, params, args, ...) \
	type name params CSTRACE_UNSEEN_;                        \
	static CSTRACE_UNSEEN_ type cstrace_body_##name params;  \
	type name params                                         \
	{                                                        \
		type cstrace_result_;                            \
		CSTRACE_CALL_ENTER_(kind, name, args);           \
		veto cstrace_result_ = cstrace_body_##name args; \
		CSTRACE_CALL_END_(cstrace_result_);              \
		return cstrace_result_;                          \
	}                                                        \
	static type cstrace_body_##name params __VA_ARGS__
#define CSTRACE_FUNC_VOID_(kind, name, params, args, ...)       \
	void name params CSTRACE_UNSEEN_;                       \
	static CSTRACE_UNSEEN_ void cstrace_body_##name params; \
	void name params                                        \
	{                                                       \
		CSTRACE_CALL_ENTER_(kind, name, args);          \
		if (!cstrace_veto_)                             \
			cstrace_body_##name args;               \
		cstrace_end_(&cstrace_call_, NULL, 0);          \
	}                                                       \
	static void cstrace_body_##name params __VA_ARGS__
#endif

/* ---- callbacks --------------------------------------------------------------
 *
 * A callback is called in the thread that makes the call, which may be in a
 * signal handler; calls that it makes itself are not seen.
 */

/* Have `callback` called at each call of a traced function, before its body, or
 * after it.  Return the callback's number, or -1: there is no shim, or 16
 * callbacks are set. */
CSTRACE_INLINE_ int cstrace_on_enter(cstrace_enter_callback *callback,
				     void *data)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(on_enter);

	return shim ? shim->on_enter(callback, data) : -1;
}

CSTRACE_INLINE_ int cstrace_on_exit(cstrace_exit_callback *callback, void *data)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(on_exit);

	return shim ? shim->on_exit(callback, data) : -1;
}

/* Removes a callback, from any thread.  When it returns 0 no thread is in it
 * but perhaps the calling one; it returns -1 if a thread was for a second, or
 * there is no such callback. */
CSTRACE_INLINE_ int cstrace_off(int callback)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(off);

	return shim ? shim->off(callback) : -1;
}

/* ---- what the program keeps for itself --------------------------------------
 *
 * A program that uses cstrace_backtrace() or cstrace_print_calls() has its open
 * calls kept from its begin on, one that uses cstrace_span_dump() its last 4096
 * spans; cstrace_keep_calls() and cstrace_keep_spans() change that.  Each call
 * of a hook costs more while its calls are kept, about 50 ns.
 */

/* Puts the calling thread's open calls into calls[], the innermost first, at
 * most n.  Returns their number.  Async-signal-safe, without memory of the
 * heap: also for the handler of a crash. */
CSTRACE_INLINE_ int cstrace_backtrace(struct cstrace_open *calls, int n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(backtrace);

	CSTRACE_WANT_("1");
	return shim ? shim->backtrace(calls, n) : 0;
}

/* Writes the same, with names, into a descriptor.  Async-signal-safe. */
CSTRACE_INLINE_ void cstrace_print_calls(int fd)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(print_calls);

	CSTRACE_WANT_("1");
	if (shim)
		shim->print_calls(fd);
}

/* From now on the calls that are open are kept (1), or no more (0).  They are
 * as long as a callback is set, too.  Returns -1 without a shim. */
CSTRACE_INLINE_ int cstrace_keep_calls(int on)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(keep);

	return shim ? shim->keep(CSTRACE_KEEP_CALLS_, on != 0) : -1;
}

/* Puts the name of the function at that address into name[], cut to `size`, if
 * the module's file has it.  Returns its length, 0: not known.
 * Async-signal-safe. */
CSTRACE_INLINE_ int cstrace_name(const void *address, char *name, size_t size)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(name);

	if (shim)
		return shim->name(address, name, size);
	if (size)
		name[0] = 0;
	return 0;
}

/* Prints the tree of spans, on the standard error or another descriptor. */
CSTRACE_INLINE_ void cstrace_span_dump_to(int fd)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(span_dump);

	CSTRACE_WANT_("2");
	if (shim)
		shim->span_dump(fd);
}

CSTRACE_INLINE_ void cstrace_span_dump(void)
{
	cstrace_span_dump_to(2);
}

/* From now on the last n spans of all threads are kept (0: none, and those that
 * were are forgotten).  Returns -1 without a shim, or without memory. */
CSTRACE_INLINE_ int cstrace_keep_spans(unsigned n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(keep);

	return shim ? shim->keep(CSTRACE_KEEP_SPANS_, n) : -1;
}

/* ---- control ----------------------------------------------------------------
 */

CSTRACE_INLINE_ int cstrace_control_(uint32_t what)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(control);

	return shim ? shim->control(what) : -1;
}

/* Have the tracer, if there is one, record no more, or again.  Return whether
 * it records now, or -1 without a shim. */
CSTRACE_INLINE_ int cstrace_stop(void)
{
	return cstrace_control_(CSTRACE_STOP_);
}

CSTRACE_INLINE_ int cstrace_start(void)
{
	return cstrace_control_(CSTRACE_START_);
}

/* Returns 0 when the tracer has read all that is recorded so far; -1 if there
 * is none, or it did not within a second. */
CSTRACE_INLINE_ int cstrace_flush(void)
{
	return cstrace_control_(CSTRACE_FLUSH_);
}

/* Names the calling thread, for the trace, gdb and ps (15 bytes). */
CSTRACE_INLINE_ int cstrace_set_thread_name(const char *name)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(set_thread_name);

	return shim ? shim->set_thread_name(name) : -1;
}

#else /* CSTRACE */

/* ---- nothing of it ----------------------------------------------------------
 *
 * The arguments are looked at by the compiler, so that a mistake shows and no
 * variable seems unused; none is evaluated, and no code comes of them.
 */

#ifdef __cplusplus
extern "C++" {
template <class... T> int cstrace_none_(const T &...);
}
#else
int cstrace_none_(int, ...);
#endif

#define CSTRACE_IGNORED_(...) ((void)(1 ? 0 : cstrace_none_(0, __VA_ARGS__)))
/* A function's value may be dropped without a warning, wherever it stands. */
static inline __attribute__((always_inline, unused, no_instrument_function)) int
cstrace_instead_(int value)
{
	return value;
}
#define CSTRACE_INSTEAD_(value, ...) \
	(1 ? cstrace_instead_(value) : cstrace_none_(0, __VA_ARGS__))

#define CSTRACE_SPAN(...) CSTRACE_IGNORED_(__VA_ARGS__)
#define CSTRACE_BEGIN(span, ...) CSTRACE_IGNORED_(__VA_ARGS__)
#define CSTRACE_END(...) ((void)0)
#define CSTRACE_ASYNC_BEGIN(...) CSTRACE_IGNORED_(__VA_ARGS__)
#define CSTRACE_ASYNC_END(...) CSTRACE_IGNORED_(__VA_ARGS__)
#define CSTRACE_FUNCTION ((void)0)
#define CSTRACE_FUNC(type, name, params, args, ...) type name params __VA_ARGS__
#define CSTRACE_FUNC_VOID(name, params, args, ...) void name params __VA_ARGS__
#define CSTRACE_FUNC_VETO(otherwise, type, name, params, args, ...) \
	type name params __VA_ARGS__
#define CSTRACE_FUNC_VOID_VETO(name, params, args, ...) \
	void name params __VA_ARGS__
#define cstrace_log(...) ((void)(1 ? (void)0 : cstrace_check_(__VA_ARGS__)))
#define cstrace_count(name, value) CSTRACE_IGNORED_(name, value)
#define cstrace_elapsed_ns(span) ((uint64_t)CSTRACE_INSTEAD_(0, 0))
#define cstrace_on_enter(callback, data) CSTRACE_INSTEAD_(-1, callback, data)
#define cstrace_on_exit(callback, data) CSTRACE_INSTEAD_(-1, callback, data)
#define cstrace_off(callback) CSTRACE_INSTEAD_(-1, callback)
#define cstrace_keep_calls(on) CSTRACE_INSTEAD_(-1, on)
#define cstrace_backtrace(calls, n) CSTRACE_INSTEAD_(0, calls, n)
#define cstrace_print_calls(fd) CSTRACE_IGNORED_(fd)
#define cstrace_name(address, name, size) \
	CSTRACE_INSTEAD_(0, address, name, size)
#define cstrace_keep_spans(n) CSTRACE_INSTEAD_(-1, n)
#define cstrace_span_dump_to(fd) CSTRACE_IGNORED_(fd)
#define cstrace_span_dump() ((void)0)
#define cstrace_start() CSTRACE_INSTEAD_(-1, 0)
#define cstrace_stop() CSTRACE_INSTEAD_(-1, 0)
#define cstrace_flush() CSTRACE_INSTEAD_(-1, 0)
#define cstrace_set_thread_name(name) CSTRACE_INSTEAD_(-1, name)

#endif /* CSTRACE */

#endif
