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

#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
#include <type_traits>
#endif

/* ---- types ------------------------------------------------------------------
 */

/* A value that a use has, as the shim takes it over.  tag is an enum cst_value
 * (cstrace/layout.h): 'i' and 'u' integers, 'x' hexadecimal, 'f' a double's
 * bits, 'c' a character, 'b' a truth, 'p' a pointer, 's' a text at the address
 * `bits`, of `size` bytes or, if that is UINT32_MAX, up to its NUL. */
struct cstrace_value {
	uint64_t bits;
	uint32_t tag;
	uint32_t size;
};

/* The place of a use in the source. */
struct cstrace_place {
	const char *name;
	const char *file;
	const char *function;
	const char *values; /* names of the values, with commas between them */
	uint32_t line;
	uint32_t text; /* the shim's */
};

/* A span that is open, or a call of a function that reports itself. */
struct cstrace_span {
	struct cstrace_place *place; /* NULL: nobody watched as it began */
	uint64_t start;		     /* ticks */
	uint64_t kept;		     /* the shim's, as what follows */
	uint32_t kind;
	uint32_t is_recorded;
};

/* What a callback learns of a call. */
struct cstrace_call {
	const void *callee; /* the function; NULL if it reports itself */
	const void *caller; /* its return address */
	/* NULL and 0 if the call comes from a hook: cstrace_name() has the
	 * name. */
	const char *function, *file;
	unsigned line;
	unsigned depth; /* 1: no other call is known to be open */
	/* The arguments that a CSTRACE_FUNC has, and their names with commas in
	 * between. */
	unsigned n_arguments;
	const struct cstrace_value *arguments;
	const char *names;
	/* At the exit: what a CSTRACE_FUNC returns, or NULL; and how long the
	 * call took. */
	const struct cstrace_value *result;
	uint64_t elapsed_ns;
	int can_veto; /* a CSTRACE_FUNC_VETO */
};

/* Returns CSTRACE_GO_ON.  If can_veto is set it may return CSTRACE_VETO: the
 * function's body does not run. */
enum { CSTRACE_GO_ON = 0, CSTRACE_VETO = 1 };
typedef int cstrace_enter_callback(const struct cstrace_call *, void *data);
typedef void cstrace_exit_callback(const struct cstrace_call *, void *data);

/* A call, or a span, that is open (cstrace_backtrace()). */
struct cstrace_open {
	const void *callee, *caller; /* as in struct cstrace_call */
	const char *function, *file; /* likewise; a span's name */
	unsigned line;
	int is_span;
};

/* What the shim offers, behind one symbol (cstrace_shim).  Newer shims have
 * more at the end. */
struct cstrace_shim {
	uint32_t size; /* of this struct in the shim */
	uint32_t reserved;
	int (*begin)(struct cstrace_span *, struct cstrace_place *,
		     uint32_t kind, const void *caller,
		     const struct cstrace_value *, uint32_t n);
	void (*end)(struct cstrace_span *, const struct cstrace_value *,
		    uint32_t n);
	void (*tell)(struct cstrace_place *, uint32_t kind,
		     const struct cstrace_value *, uint32_t n);
	uint64_t (*elapsed)(const struct cstrace_span *);
	int (*on_enter)(cstrace_enter_callback *, void *data);
	int (*on_exit)(cstrace_exit_callback *, void *data);
	int (*off)(int callback);
	int (*keep)(uint32_t what, uint32_t n);
	int (*backtrace)(struct cstrace_open *, int n);
	void (*print_calls)(int fd);
	int (*name)(const void *address, char *name, size_t size);
	void (*span_dump)(int fd);
	int (*control)(uint32_t what);
	int (*set_thread_name)(const char *name);
};

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

#define CSTRACE_JOIN_2_(a, b) a##b
#define CSTRACE_JOIN_(a, b) CSTRACE_JOIN_2_(a, b)

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

#define CSTRACE_INLINE_ \
	static inline   \
		__attribute__((always_inline, unused, no_instrument_function))
#define CSTRACE_UNSEEN_ __attribute__((no_instrument_function))
/* Members whose code must lie in the function that uses them. */
#define CSTRACE_NEAR_ \
	__attribute__((always_inline, no_instrument_function)) inline

#if defined(CSTRACE_LINKED)
#define CSTRACE_WEAK_
#else
#define CSTRACE_WEAK_ __attribute__((weak))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The shim's; absent without it. */
extern const uint32_t cstrace_state[] CSTRACE_WEAK_;
extern const struct cstrace_shim cstrace_shim CSTRACE_WEAK_;

/* Each module has its own two pointers. */
extern const uint32_t *cstrace_state_at_
	__attribute__((weak, visibility("hidden")));
extern const struct cstrace_shim *cstrace_shim_at_
	__attribute__((weak, visibility("hidden")));
__attribute__((used)) const uint32_t *cstrace_state_at_ = cstrace_state;
__attribute__((used)) const struct cstrace_shim *cstrace_shim_at_ =
	&cstrace_shim;

#ifdef __cplusplus
}
#endif

/* A program that is not independent of its position has no way to a library
 * that it was not linked with.  The shim finds the pointers by this note, and
 * sets them; `cstrace check` sees by it that the program has something to say.
 */
__asm__(".pushsection .note.cstrace, \"a\", %note\n\t"
	".balign 4\n\t"
	".long 8, 8, 1\n\t"
	".asciz \"cstrace\"\n\t"
	".long cstrace_state_at_ - .\n\t"
	".long cstrace_shim_at_ - .\n\t"
	".popsection");

/* A use of what has to be kept from the program's begin leaves a note, too: 1
 * the calls that are open, 2 spans. */
#define CSTRACE_WANT_(what)                                              \
	__asm__ volatile(".pushsection .note.cstrace, \"a\", %%note\n\t" \
			 ".balign 4\n\t"                                 \
			 ".long 8, 4, 2\n\t"                             \
			 ".asciz \"cstrace\"\n\t"                        \
			 ".long " what "\n\t"                            \
			 ".popsection" ::)

enum {
	CSTRACE_STATE_OFF_ = 2,
	CSTRACE_KIND_SPAN_ = 6,
	CSTRACE_KIND_MESSAGE_ = 8,
	CSTRACE_KIND_COUNT_ = 9,
	CSTRACE_KIND_CALL_ = 10,
	CSTRACE_KIND_ASYNC_ = 12,
	CSTRACE_KIND_ASYNC_END_ = 13,
	CSTRACE_KIND_CALL_VETO_ = 10 | 1 << 8,
	CSTRACE_KEEP_CALLS_ = 1,
	CSTRACE_KEEP_SPANS_ = 2,
	CSTRACE_START_ = 1,
	CSTRACE_STOP_ = 2,
	CSTRACE_FLUSH_ = 3
};

/* Does anybody watch? */
CSTRACE_INLINE_ int cstrace_watched_(void)
{
	const uint32_t *state = cstrace_state_at_;

	return state &&
	       __atomic_load_n(state, __ATOMIC_RELAXED) != CSTRACE_STATE_OFF_;
}

/* The shim, if it is there and knows of that member. */
CSTRACE_INLINE_ const struct cstrace_shim *cstrace_shim_(size_t member)
{
	const struct cstrace_shim *shim = cstrace_shim_at_;

	return shim && shim->size > member ? shim : NULL;
}
#define CSTRACE_SHIM_(member) \
	cstrace_shim_(offsetof(struct cstrace_shim, member))

CSTRACE_INLINE_ int cstrace_begin_(struct cstrace_span *span,
				   struct cstrace_place *place, uint32_t kind,
				   const void *caller,
				   const struct cstrace_value *values,
				   uint32_t n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(begin);

	return shim ? shim->begin(span, place, kind, caller, values, n) : 0;
}

CSTRACE_INLINE_ void cstrace_end_(struct cstrace_span *span,
				  const struct cstrace_value *values,
				  uint32_t n)
{
	if (span->place)
		cstrace_shim_at_->end(span, values, n);
}

CSTRACE_INLINE_ void cstrace_tell_(struct cstrace_place *place, uint32_t kind,
				   const struct cstrace_value *values,
				   uint32_t n)
{
	const struct cstrace_shim *shim = CSTRACE_SHIM_(tell);

	if (shim)
		shim->tell(place, kind, values, n);
}

/* ---- values -----------------------------------------------------------------
 */

CSTRACE_INLINE_ struct cstrace_value cstrace_value_(uint32_t tag, uint64_t bits)
{
	struct cstrace_value value = {bits, tag, UINT32_MAX};

	return value;
}

CSTRACE_INLINE_ struct cstrace_value cstrace_float_(double number)
{
	struct cstrace_value value = {0, 'f', 0};

	__builtin_memcpy(&value.bits, &number, sizeof(number));
	return value;
}

#ifdef __cplusplus

CSTRACE_INLINE_ struct cstrace_value cstrace_text_(const char *text)
{
	return cstrace_value_(text ? 's' : '0',
			      reinterpret_cast<uintptr_t>(text));
}

extern "C++" {

template <class T, class = void> struct cstrace_is_text_ : std::false_type {
};
template <class T>
struct cstrace_is_text_<T,
			std::void_t<decltype(std::declval<const T &>().size()),
				    decltype(static_cast<const char *>(
					    std::declval<const T &>().data()))>>
    : std::true_type {
};

template <class T> CSTRACE_INLINE_ cstrace_value cstrace_of_(const T &x)
{
	using D = std::decay_t<T>;

	if constexpr (std::is_same_v<D, bool>) {
		return cstrace_value_('b', x);
	} else if constexpr (std::is_same_v<D, char>) {
		return cstrace_value_('c', static_cast<unsigned char>(x));
	} else if constexpr (std::is_enum_v<D>) {
		return cstrace_of_(static_cast<std::underlying_type_t<D>>(x));
	} else if constexpr (std::is_integral_v<D>) {
		return cstrace_value_(std::is_signed_v<D> ? 'i' : 'u',
				      static_cast<uint64_t>(x));
	} else if constexpr (std::is_floating_point_v<D>) {
		return cstrace_float_(static_cast<double>(x));
	} else if constexpr (std::is_same_v<D, char *> ||
			     std::is_same_v<D, const char *>) {
		return cstrace_text_(x);
	} else if constexpr (std::is_null_pointer_v<D>) {
		return cstrace_value_('p', 0);
	} else if constexpr (std::is_pointer_v<D>) {
		const D pointer = x;

		return cstrace_value_('p',
				      reinterpret_cast<uintptr_t>(pointer));
	} else if constexpr (cstrace_is_text_<D>::value) {
		cstrace_value value = cstrace_text_(x.data());
		const size_t size = x.size();

		value.size = size < UINT32_MAX ? static_cast<uint32_t>(size)
					       : UINT32_MAX - 1;
		return value;
	} else {
		return cstrace_value_('?', 0);
	}
}

} /* extern "C++" */

#define CSTRACE_VALUE_(x) cstrace_of_(x)
#define CSTRACE_ID_(x) static_cast<uint64_t>(x)

#else

CSTRACE_INLINE_ struct cstrace_value cstrace_text_(const char *text)
{
	return cstrace_value_(text ? 's' : '0', (uint64_t)(uintptr_t)text);
}

/* Each takes what its type is converted to without a warning. */
CSTRACE_INLINE_ struct cstrace_value cstrace_of_bool_(_Bool x)
{
	return cstrace_value_('b', x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_char_(char x)
{
	return cstrace_value_('c', (unsigned char)x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_int_(long long x)
{
	return cstrace_value_('i', (uint64_t)x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_uint_(unsigned long long x)
{
	return cstrace_value_('u', x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_float_(double x)
{
	return cstrace_float_(x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_wide_(long double x)
{
	return cstrace_float_((double)x);
}

CSTRACE_INLINE_ struct cstrace_value cstrace_of_pointer_(const volatile void *x)
{
	return cstrace_value_('p', (uint64_t)(uintptr_t)x);
}

CSTRACE_INLINE_ struct cstrace_value
cstrace_of_object_(const volatile void *unused)
{
	(void)unused;
	return cstrace_value_('?', 0);
}

#define CSTRACE_ID_(x) ((uint64_t)(x))

/* gcc's and clang's numbers of classes of types: complex, struct, union. */
#define CSTRACE_IS_OBJECT_(x)               \
	(__builtin_classify_type(x) == 9 || \
	 __builtin_classify_type(x) == 12 || __builtin_classify_type(x) == 13)

#define CSTRACE_VALUE_(x) \
	_Generic((x),                                                      \
		_Bool: cstrace_of_bool_,                                   \
		char: cstrace_of_char_,                                    \
		signed char: cstrace_of_int_,                              \
		short: cstrace_of_int_,                                    \
		int: cstrace_of_int_,                                      \
		long: cstrace_of_int_,                                     \
		long long: cstrace_of_int_,                                \
		unsigned char: cstrace_of_uint_,                           \
		unsigned short: cstrace_of_uint_,                          \
		unsigned: cstrace_of_uint_,                                \
		unsigned long: cstrace_of_uint_,                           \
		unsigned long long: cstrace_of_uint_,                      \
		float: cstrace_of_float_,                                  \
		double: cstrace_of_float_,                                 \
		long double: cstrace_of_wide_,                             \
		char *: cstrace_text_,                                     \
		const char *: cstrace_text_,                               \
		default: __builtin_choose_expr(CSTRACE_IS_OBJECT_(x),      \
					       cstrace_of_object_,         \
					       cstrace_of_pointer_))(      \
		__builtin_choose_expr(CSTRACE_IS_OBJECT_(x), NULL, (x)))

#endif

/* ---- lists of arguments ----------------------------------------------------
 */

#define CSTRACE_18TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, \
		      ...)                                                  \
	r
/* The number of arguments, 1 to 17. */
#define CSTRACE_COUNT_(...)                                                    \
	CSTRACE_18TH_(__VA_ARGS__, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, \
		      5, 4, 3, 2, 1, 0)
#define CSTRACE_FIRST_2_(a, ...) a
#define CSTRACE_FIRST_(...) CSTRACE_FIRST_2_(__VA_ARGS__, 0)
/* CSTRACE_PICK_(NAME, n) is NAME_n_. */
#define CSTRACE_PICK_(name, n) CSTRACE_JOIN_(CSTRACE_JOIN_(name##_, n), _)

/* The values of a list, each with a comma behind it. */
#define CSTRACE_EACH_1_(x) CSTRACE_VALUE_(x),
#define CSTRACE_EACH_2_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_1_(__VA_ARGS__)
#define CSTRACE_EACH_3_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_2_(__VA_ARGS__)
#define CSTRACE_EACH_4_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_3_(__VA_ARGS__)
#define CSTRACE_EACH_5_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_4_(__VA_ARGS__)
#define CSTRACE_EACH_6_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_5_(__VA_ARGS__)
#define CSTRACE_EACH_7_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_6_(__VA_ARGS__)
#define CSTRACE_EACH_8_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_7_(__VA_ARGS__)
#define CSTRACE_EACH_9_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_8_(__VA_ARGS__)
#define CSTRACE_EACH_10_(x, ...) CSTRACE_VALUE_(x), CSTRACE_EACH_9_(__VA_ARGS__)
#define CSTRACE_EACH_11_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_10_(__VA_ARGS__)
#define CSTRACE_EACH_12_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_11_(__VA_ARGS__)
#define CSTRACE_EACH_13_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_12_(__VA_ARGS__)
#define CSTRACE_EACH_14_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_13_(__VA_ARGS__)
#define CSTRACE_EACH_15_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_14_(__VA_ARGS__)
#define CSTRACE_EACH_16_(x, ...) \
	CSTRACE_VALUE_(x), CSTRACE_EACH_15_(__VA_ARGS__)

/* The names of a list, each with a comma before it. */
#define CSTRACE_WORDS_1_(x) "," #x
#define CSTRACE_WORDS_2_(x, ...) "," #x CSTRACE_WORDS_1_(__VA_ARGS__)
#define CSTRACE_WORDS_3_(x, ...) "," #x CSTRACE_WORDS_2_(__VA_ARGS__)
#define CSTRACE_WORDS_4_(x, ...) "," #x CSTRACE_WORDS_3_(__VA_ARGS__)
#define CSTRACE_WORDS_5_(x, ...) "," #x CSTRACE_WORDS_4_(__VA_ARGS__)
#define CSTRACE_WORDS_6_(x, ...) "," #x CSTRACE_WORDS_5_(__VA_ARGS__)
#define CSTRACE_WORDS_7_(x, ...) "," #x CSTRACE_WORDS_6_(__VA_ARGS__)
#define CSTRACE_WORDS_8_(x, ...) "," #x CSTRACE_WORDS_7_(__VA_ARGS__)
#define CSTRACE_WORDS_9_(x, ...) "," #x CSTRACE_WORDS_8_(__VA_ARGS__)
#define CSTRACE_WORDS_10_(x, ...) "," #x CSTRACE_WORDS_9_(__VA_ARGS__)
#define CSTRACE_WORDS_11_(x, ...) "," #x CSTRACE_WORDS_10_(__VA_ARGS__)
#define CSTRACE_WORDS_12_(x, ...) "," #x CSTRACE_WORDS_11_(__VA_ARGS__)
#define CSTRACE_WORDS_13_(x, ...) "," #x CSTRACE_WORDS_12_(__VA_ARGS__)
#define CSTRACE_WORDS_14_(x, ...) "," #x CSTRACE_WORDS_13_(__VA_ARGS__)
#define CSTRACE_WORDS_15_(x, ...) "," #x CSTRACE_WORDS_14_(__VA_ARGS__)
#define CSTRACE_WORDS_16_(x, ...) "," #x CSTRACE_WORDS_15_(__VA_ARGS__)

/* The values of a list but its first: the arguments behind a format. */
#define CSTRACE_REST_1_(format)
#define CSTRACE_REST_2_(format, ...) CSTRACE_EACH_1_(__VA_ARGS__)
#define CSTRACE_REST_3_(format, ...) CSTRACE_EACH_2_(__VA_ARGS__)
#define CSTRACE_REST_4_(format, ...) CSTRACE_EACH_3_(__VA_ARGS__)
#define CSTRACE_REST_5_(format, ...) CSTRACE_EACH_4_(__VA_ARGS__)
#define CSTRACE_REST_6_(format, ...) CSTRACE_EACH_5_(__VA_ARGS__)
#define CSTRACE_REST_7_(format, ...) CSTRACE_EACH_6_(__VA_ARGS__)
#define CSTRACE_REST_8_(format, ...) CSTRACE_EACH_7_(__VA_ARGS__)
#define CSTRACE_REST_9_(format, ...) CSTRACE_EACH_8_(__VA_ARGS__)
#define CSTRACE_REST_10_(format, ...) CSTRACE_EACH_9_(__VA_ARGS__)
#define CSTRACE_REST_11_(format, ...) CSTRACE_EACH_10_(__VA_ARGS__)
#define CSTRACE_REST_12_(format, ...) CSTRACE_EACH_11_(__VA_ARGS__)
#define CSTRACE_REST_13_(format, ...) CSTRACE_EACH_12_(__VA_ARGS__)
#define CSTRACE_REST_14_(format, ...) CSTRACE_EACH_13_(__VA_ARGS__)
#define CSTRACE_REST_15_(format, ...) CSTRACE_EACH_14_(__VA_ARGS__)
#define CSTRACE_REST_16_(format, ...) CSTRACE_EACH_15_(__VA_ARGS__)
#define CSTRACE_REST_17_(format, ...) CSTRACE_EACH_16_(__VA_ARGS__)

/* A name, then pairs of a name and a value: the values; and the names. */
#define CSTRACE_VALUES_1_(name)
#define CSTRACE_VALUES_3_(name, k, v) CSTRACE_VALUE_(v),
#define CSTRACE_VALUES_5_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_3_(name, __VA_ARGS__)
#define CSTRACE_VALUES_7_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_5_(name, __VA_ARGS__)
#define CSTRACE_VALUES_9_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_7_(name, __VA_ARGS__)
#define CSTRACE_VALUES_11_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_9_(name, __VA_ARGS__)
#define CSTRACE_VALUES_13_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_11_(name, __VA_ARGS__)
#define CSTRACE_VALUES_15_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_13_(name, __VA_ARGS__)
#define CSTRACE_VALUES_17_(name, k, v, ...) \
	CSTRACE_VALUE_(v), CSTRACE_VALUES_15_(name, __VA_ARGS__)
#define CSTRACE_NAMES_1_(name) ""
#define CSTRACE_NAMES_3_(name, k, v) k
#define CSTRACE_NAMES_5_(name, k, v, ...) \
	k "," CSTRACE_NAMES_3_(name, __VA_ARGS__)
#define CSTRACE_NAMES_7_(name, k, v, ...) \
	k "," CSTRACE_NAMES_5_(name, __VA_ARGS__)
#define CSTRACE_NAMES_9_(name, k, v, ...) \
	k "," CSTRACE_NAMES_7_(name, __VA_ARGS__)
#define CSTRACE_NAMES_11_(name, k, v, ...) \
	k "," CSTRACE_NAMES_9_(name, __VA_ARGS__)
#define CSTRACE_NAMES_13_(name, k, v, ...) \
	k "," CSTRACE_NAMES_11_(name, __VA_ARGS__)
#define CSTRACE_NAMES_15_(name, k, v, ...) \
	k "," CSTRACE_NAMES_13_(name, __VA_ARGS__)
#define CSTRACE_NAMES_17_(name, k, v, ...) \
	k "," CSTRACE_NAMES_15_(name, __VA_ARGS__)

/* 0 for an empty list of variables, else 1: CSTRACE_EMPTY_ is a macro, with a
 * variable's name behind it, it is none. */
#define CSTRACE_EMPTY_ 0, 0
#define CSTRACE_SECOND_2_(a, b, ...) b
#define CSTRACE_SECOND_(...) CSTRACE_SECOND_2_(__VA_ARGS__)
#define CSTRACE_IS_LIST_2_(a, ...) CSTRACE_SECOND_(CSTRACE_EMPTY_##a, 1, 1)
#define CSTRACE_IS_LIST_(...) CSTRACE_IS_LIST_2_(__VA_ARGS__, 0)

#define CSTRACE_ARGS_1_(...) \
	CSTRACE_PICK_(CSTRACE_EACH, CSTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define CSTRACE_ARGS_0_(...)
#define CSTRACE_ARGS_(...) \
	CSTRACE_PICK_(CSTRACE_ARGS, CSTRACE_IS_LIST_(__VA_ARGS__))(__VA_ARGS__)
#define CSTRACE_ARG_NAMES_1_(...) \
	CSTRACE_PICK_(CSTRACE_WORDS, CSTRACE_COUNT_(__VA_ARGS__))(__VA_ARGS__)
#define CSTRACE_ARG_NAMES_0_(...) ","
/* With a comma at its begin. */
#define CSTRACE_ARG_NAMES_(...)                                         \
	CSTRACE_PICK_(CSTRACE_ARG_NAMES, CSTRACE_IS_LIST_(__VA_ARGS__)) \
	(__VA_ARGS__)

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

/* Stands in the first line of a function: its calls are in the tree. */
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
#define CSTRACE_FUNC_(kind, veto, type, name, params, args, ...) \
	CSTRACE_UNSEEN_ type name params                         \
	{                                                        \
		CSTRACE_CALL_PLACE_(name, args);                 \
		cstrace_scope_ cstrace_call_;                    \
		int cstrace_veto_ = 0;                           \
                                                                 \
		if (cstrace_watched_())                          \
			CSTRACE_CALL_BEGIN_(kind, args);         \
		(void)cstrace_veto_;                             \
		veto type cstrace_result_ = [&]()                \
			CSTRACE_UNSEEN_ -> type                  \
					__VA_ARGS__();           \
		CSTRACE_CALL_END_(cstrace_result_);              \
		return cstrace_result_;                          \
	}
#define CSTRACE_FUNC_VOID_(kind, name, params, args, ...)            \
	CSTRACE_UNSEEN_ void name params                             \
	{                                                            \
		CSTRACE_CALL_PLACE_(name, args);                     \
		cstrace_scope_ cstrace_call_;                        \
		int cstrace_veto_ = 0;                               \
                                                                     \
		if (cstrace_watched_())                              \
			CSTRACE_CALL_BEGIN_(kind, args);             \
		if (!cstrace_veto_)                                  \
			[&]() CSTRACE_UNSEEN_ -> void __VA_ARGS__(); \
	}
#else
#define CSTRACE_FUNC_(kind, veto, type, name, params, args, ...)        \
	type name params CSTRACE_UNSEEN_;                               \
	static CSTRACE_UNSEEN_ type cstrace_body_##name params;         \
	type name params                                                \
	{                                                               \
		CSTRACE_CALL_PLACE_(name, args);                        \
		struct cstrace_span cstrace_call_ = CSTRACE_SPAN_ZERO_; \
		int cstrace_veto_ = 0;                                  \
		type cstrace_result_;                                   \
                                                                        \
		if (cstrace_watched_())                                 \
			CSTRACE_CALL_BEGIN_(kind, args);                \
		(void)cstrace_veto_;                                    \
		veto cstrace_result_ = cstrace_body_##name args;        \
		CSTRACE_CALL_END_(cstrace_result_);                     \
		return cstrace_result_;                                 \
	}                                                               \
	static type cstrace_body_##name params __VA_ARGS__
#define CSTRACE_FUNC_VOID_(kind, name, params, args, ...)               \
	void name params CSTRACE_UNSEEN_;                               \
	static CSTRACE_UNSEEN_ void cstrace_body_##name params;         \
	void name params                                                \
	{                                                               \
		CSTRACE_CALL_PLACE_(name, args);                        \
		struct cstrace_span cstrace_call_ = CSTRACE_SPAN_ZERO_; \
		int cstrace_veto_ = 0;                                  \
                                                                        \
		if (cstrace_watched_())                                 \
			CSTRACE_CALL_BEGIN_(kind, args);                \
		if (!cstrace_veto_)                                     \
			cstrace_body_##name args;                       \
		cstrace_end_(&cstrace_call_, NULL, 0);                  \
	}                                                               \
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
#define CSTRACE_INSTEAD_(value, ...) \
	(__extension__({ 1 ? value : cstrace_none_(0, __VA_ARGS__); }))

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
#define cstrace_elapsed_ns(span) CSTRACE_INSTEAD_(0ll, 0)
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
