/* SPDX-License-Identifier: MIT
 *
 * Values and lists of them, for cstrace.h: nothing in here is for use.
 */
#ifndef CSTRACE_VALUES_H
#define CSTRACE_VALUES_H

#include "cstrace/shim.h"

#ifdef __cplusplus
#include <type_traits>
#endif

#define CSTRACE_JOIN_2_(a, b) a##b
#define CSTRACE_JOIN_(a, b) CSTRACE_JOIN_2_(a, b)

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

#define CSTRACE_35TH_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, \
		      t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh, ii, \
		      ...)                                                     \
	ii
/* The number of arguments, 1 to 17; or MANY, of 34 at most. */
#define CSTRACE_COUNT_(...)                                                   \
	CSTRACE_35TH_(__VA_ARGS__, MANY, MANY, MANY, MANY, MANY, MANY, MANY,  \
		      MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY,   \
		      MANY, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
		      3, 2, 1, 0)
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

/* A value without a name, or a name without a value: one error that says so. */
#define CSTRACE_PAIRS_ cstrace_each_value_needs_a_name_before_it,
#define CSTRACE_VALUES_2_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_4_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_6_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_8_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_10_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_12_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_14_(...) CSTRACE_PAIRS_
#define CSTRACE_VALUES_16_(...) CSTRACE_PAIRS_
#define CSTRACE_NAMES_2_(...) ""
#define CSTRACE_NAMES_4_(...) ""
#define CSTRACE_NAMES_6_(...) ""
#define CSTRACE_NAMES_8_(...) ""
#define CSTRACE_NAMES_10_(...) ""
#define CSTRACE_NAMES_12_(...) ""
#define CSTRACE_NAMES_14_(...) ""
#define CSTRACE_NAMES_16_(...) ""

/* More than there is room for: one error that says so. */
#define CSTRACE_TOO_MANY_ cstrace_there_are_more_values_than_it_takes,
#define CSTRACE_VALUES_MANY_(...) CSTRACE_TOO_MANY_
#define CSTRACE_EACH_MANY_(...) CSTRACE_TOO_MANY_
#define CSTRACE_REST_MANY_(...) CSTRACE_TOO_MANY_
#define CSTRACE_NAMES_MANY_(...) ""
#define CSTRACE_WORDS_MANY_(...) ""

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

#endif
