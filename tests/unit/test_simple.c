/* SPDX-License-Identifier: MIT
 *
 * What is left of a demangled name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cstrace/engine.h"
#include "names/simple.h"

static const char *simple(const char *name)
{
	static char text[SIMPLE_SIZE];
	unsigned len = simple_name(name, text, sizeof(text));

	assert_int_equal(len, strlen(text));
	return text;
}

static const char *qualified(const char *name)
{
	static char text[SIMPLE_SIZE];

	simple_long(name, text, sizeof(text));
	return text;
}

static const char *scoped(const char *name)
{
	return simple_scoped(qualified(name), simple(name));
}

static const char *signature(const char *name)
{
	static char text[SIMPLE_SIZE];

	simple_signature(name, text, sizeof(text));
	return text;
}

struct pair {
	const char *name, *expected;
};

static void check(const struct pair *pairs, size_t n,
		  const char *(*make)(const char *))
{
	for (size_t i = 0; i < n; i++) {
		const char *made = make(pairs[i].name);

		if (strcmp(made, pairs[i].expected) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", pairs[i].name, made,
				 pairs[i].expected);
	}
}

#define CHECK(pairs, make) check(pairs, sizeof(pairs) / sizeof(*(pairs)), make)

static void parameters_and_template_arguments_go(void **state)
{
	static const struct pair pairs[] = {
		{"Shop::order(int, std::string const&)", "Shop::order"},
		{"f()", "f"},
		{"void std::sort<int*>(int*, int*)", "std::sort<...>"},
		{"void (anonymous namespace)::each<int>(int)",
		 "(anonymous namespace)::each<...>"},
		{"std::vector<int, std::allocator<int> >::push_back(int&&)",
		 "std::vector<...>::push_back"},
		{"std::enable_if<(1 > 0), int>::type foo<int>(int) const",
		 "foo<...>"},
		{"decltype (std::forward<int>(1)) std::invoke<int>(int)",
		 "std::invoke<...>"},
		{"A<&(operator<(B, B))>::f(int)", "A<...>::f"},
		{"B::B(B const&)", "B::B"},
		{"B::~B()", "B::~B"},
		{"f[abi:cxx11](int)", "f"},
		{"foo(int) [clone .cold]", "foo"},
		{"foo(int) const [clone .part.0] [clone .cold]", "foo"},
		{"non-virtual thunk to D::f(int)", "D::f"},
		{"f(int)::Local::g(char) const", "f::Local::g"},
		{"A::f(int) const::Local::g()", "A::f::Local::g"},
		{"(anonymous namespace)::(anonymous namespace)::f()",
		 "(anonymous namespace)::(anonymous namespace)::f"},
	};

	(void)state;
	CHECK(pairs, qualified);
}

static void namespaces_go_but_the_innermost(void **state)
{
	static const struct pair pairs[] = {
		{"leveldb::DBImpl::Write(int)", "DBImpl::Write"},
		{"a::b::C<int>::D<a::E>::f(int)", "D<...>::f"},
		{"leveldb::crc32c::(anonymous namespace)::Read(char const*)",
		 "crc32c::Read"},
		{"leveldb::(anonymous namespace)::Impl::Compare(int) const",
		 "Impl::Compare"},
		{"(anonymous namespace)::(anonymous namespace)::f()", "f"},
		{"void std::sort<int*>(int*, int*)", "std::sort<...>"},
		{"std::vector<int>::push_back(int&&)",
		 "vector<...>::push_back"},
		{"f(int)::Local::g(char) const", "Local::g"},
		{"a::B::f(int)::{lambda()#1}::operator()() const",
		 "B::f::{lambda()#1}"},
		{"a::B::f(int)::{lambda()#1}::operator()() const::{lambda(a::C)"
		 "#2}::operator()(a::C) const",
		 "B::f::{lambda()#1}::{lambda(a::C)#2}"},
		{"a::main::$_0::operator()(int) const", "a::main::$_0"},
		{"{lambda(int)#1}::operator()(int) const", "{lambda(int)#1}"},
		{"a::b::operator<(a::b::C const&, int)", "b::operator<"},
		{"a::B::C::operator()(int) const", "C::operator()"},
		{"a::B::operator a::D() const", "B::operator a::D"},
		{"a::b::operator->*(int)", "b::operator->*"},
		{"f()", "f"},
		{"f", "f"},
		{"::f()", "f"},
	};

	(void)state;
	CHECK(pairs, simple);
}

static void one_holder_more_tells_classes_apart(void **state)
{
	static const struct pair pairs[] = {
		{"leveldb::DBImpl::Writer::~Writer()",
		 "DBImpl::Writer::~Writer"},
		{"a::b::C<int>::D<a::E>::f(int)", "C<...>::D<...>::f"},
		{"leveldb::DBImpl::Write(int)", "leveldb::DBImpl::Write"},
		{"a::b::c::operator<(a::b::C const&, int)", "b::c::operator<"},
		{"a::(anonymous namespace)::B::f()",
		 "a::(anonymous namespace)::B::f"},
		{"a::b::B::f(int)::{lambda()#1}::operator()() const",
		 "b::B::f::{lambda()#1}"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"f()", "f"},
		{"", ""},
	};

	(void)state;
	CHECK(pairs, scoped);
}

static void operators_keep_their_signs(void **state)
{
	static const struct pair pairs[] = {
		{"operator<(A const&, A const&)", "operator<"},
		{"bool operator< <int>(A<int> const&)", "operator< <...>"},
		{"std::ostream& std::operator<< <char>(std::ostream&)",
		 "std::operator<< <...>"},
		{"A::operator()(int) const", "A::operator()"},
		{"A::operator[](int)", "A::operator[]"},
		{"auto A::operator<=><int>(int)", "A::operator<=><...>"},
		{"A::operator->()", "A::operator->"},
		{"A::operator->*(int)", "A::operator->*"},
		{"A<int>::operator,(int)", "A<...>::operator,"},
		{"bool A::operator><int>(int)", "A::operator><...>"},
		{"operator new[](unsigned long)", "operator new[]"},
		{"operator delete(void*, unsigned long)", "operator delete"},
		{"operator\"\" _km(long double)", "operator\"\" _km"},
		{"Shape::operator std::string() const",
		 "Shape::operator std::string"},
		{"A::operator std::vector<int, B<int> >()",
		 "A::operator std::vector<...>"},
		{"A::operator (anonymous namespace)::B() const",
		 "A::operator (anonymous namespace)::B"},
		{"A::operator void (*)(int)()", "A::operator void (*)(int)"},
		{"my_operator(int)", "my_operator"},
		{"operators(int)", "operators"},
	};

	(void)state;
	CHECK(pairs, qualified);
}

static void lambdas_are_their_call_operator(void **state)
{
	static const struct pair pairs[] = {
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}"},
		{"f(int)::{lambda()#2}::operator()() const::{lambda()#1}::"
		 "operator()() const",
		 "f::{lambda()#2}::{lambda()#1}"},
		{"auto f()::{lambda(auto:1)#1}::operator()<int>(int) const",
		 "f::{lambda(auto:1)#1}"},
		{"main::{lambda(std::vector<int, std::allocator<int> >)#1}::"
		 "operator()(std::vector<int, std::allocator<int> >) const",
		 "main::{lambda(...)#1}"},
		{"main::{lambda(int)#1}::_FUN(int)",
		 "main::{lambda(int)#1}::_FUN"},
		{"main::$_0::operator()(int) const", "main::$_0"},
		{"f()::{unnamed type#1}::g()", "f::{unnamed type#1}::g"},
	};

	(void)state;
	CHECK(pairs, qualified);
}

static void returned_addresses_are_no_parameters(void **state)
{
	static const struct pair pairs[] = {
		{"void (*pick<std::string>(int))(int)", "pick<...>"},
		{"int (A::*ns::pick<int>(char) const)(int)", "ns::pick<...>"},
		{"int (&get<int>(char))[3]", "get<...>"},
		{"int (*(*f<int>(int))(char))(long)", "f<...>"},
		{"f(void (*)(int), int (&)[3])", "f"},
		{"f(void (A::*)(int) const)", "f"},
	};

	(void)state;
	CHECK(pairs, qualified);
}

static void other_names_stay(void **state)
{
	static const char *const names[] = {
		"main",
		"helper.constprop.0",
		"app+0x1139",
		"0x401136",
		"core::ptr::drop_in_place<alloc::vec::Vec<u8>>",
		"<alloc::string::String as core::fmt::Debug>::fmt",
		"app::main::{closure#0}",
		"gr\xc3\xbc\xc3\x9f",
		"std::vector<int>::size",
		"",
		"(",
		")(",
		"f(int",
		"f<int(int)",
		"a b c",
		"[clone",
		"<<<<<<",
		"}{",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_string_equal(simple(names[i]), names[i]);
}

static void a_signature_tells_overloads_apart(void **state)
{
	static const struct pair pairs[] = {
		{"Shop::order(int, char const*)",
		 "Shop::order(int, char const*)"},
		{"void f<A<int> >(A<int>, int)", "f<...>(A<...>, int)"},
		{"A::get() const", "A::get() const"},
		{"A::get() &&", "A::get() &&"},
		{"f(std::__cxx11::basic_string<char, std::char_traits<char>, "
		 "std::allocator<char> > const&)",
		 "f(std::string)"},
		{"a::C::less(a::b::Slice const&, b::T&, c::U&&) const",
		 "C::less(Slice, T&, U&&) const"},
		{"f((anonymous namespace)::A*, std::vector<int> const*)",
		 "f(A*, vector<...> const*)"},
		{"main::{lambda(int)#1}::operator()(int) const",
		 "main::{lambda(int)#1}(int) const"},
		{"void (*pick<int>(char))(int)", "pick<...>(char)"},
		{"f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		 "aaaaaaaaaaaaaaaaa)",
		 "f(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...)"},
		{"void A::each<B::pack(C const&)::{lambda(D)#1}>(B::pack(C "
		 "const&)::{lambda(D)#1}) const",
		 "A::each<...>(pack::{...}) const"},
		{"f() [clone .cold]", "f()"},
		{"main", "main"},
	};

	(void)state;
	CHECK(pairs, signature);
}

static void real_symbols_become_simple(void **state)
{
	static const struct pair pairs[] = {
		{"_ZNSt6vectorIiSaIiEE9push_backEOi", "vector<...>::push_back"},
		{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
		 "std::operator<< <...>"},
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}"},
		{"_ZN1AcvT_IiEEv", "A::operator int<...>"},
		{"_Z4pickIiEPFviEv", "pick<...>"},
		{"_ZN12_GLOBAL__N_11fEv", "f"},
		{"_ZSt4sortIPiEvT_S1_", "std::sort<...>"},
	};
	char full[4096];

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		cst_demangle(pairs[i].name, full, sizeof(full));
		if (strcmp(simple(full), pairs[i].expected) != 0)
			fail_msg("%s: \"%s\"", full, simple(full));
	}
}

/* Whatever stands there: within the room, and soon. */
static void hostile_names_are_bounded(void **state)
{
	static const char *const parts[] = {
		"(",	    ")",  "<", ">",  "{",   "}",	 "[",
		"]",	    "*",  "&", " ",  "::",  "operator",	 "->",
		"{lambda(", "#1", "a", "$_", "0",   "decltype ", "[abi:",
		" const",   "~",  ",", "\"", "\xff"};
	enum { N = sizeof(parts) / sizeof(*parts), LONG = 1 << 20 };
	char name[512], out[64];
	char *large = malloc(LONG + 1);

	(void)state;
	srand(1);
	for (int i = 0; i < 200000; i++) {
		name[0] = '\0';
		for (int k = rand() % 24; k > 0; k--)
			strcat(name, parts[rand() % N]);
		assert_in_range(simple_name(name, out, 8 + rand() % 56), 0, 63);
		assert_in_range(simple_signature(name, out, sizeof(out)), 0,
				63);
		assert_true(!*name == !*out);
	}
	for (int i = 0; i < N; i++) {
		size_t n = strlen(parts[i]);

		for (size_t at = 0; at + n <= LONG; at += n)
			memcpy(large + at, parts[i], n + 1);
		simple_name(large, out, sizeof(out));
		simple_signature(large, out, sizeof(out));
	}
	free(large);
}

static void a_long_name_is_cut(void **state)
{
	char out[16];

	(void)state;
	assert_int_equal(
		simple_name("abcdefghijklmnopqrstuvwxyz()", out, sizeof(out)),
		15);
	assert_string_equal(out, "abcdefghijkl...");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters_and_template_arguments_go),
		cmocka_unit_test(namespaces_go_but_the_innermost),
		cmocka_unit_test(one_holder_more_tells_classes_apart),
		cmocka_unit_test(operators_keep_their_signs),
		cmocka_unit_test(lambdas_are_their_call_operator),
		cmocka_unit_test(returned_addresses_are_no_parameters),
		cmocka_unit_test(other_names_stay),
		cmocka_unit_test(a_signature_tells_overloads_apart),
		cmocka_unit_test(real_symbols_become_simple),
		cmocka_unit_test(hostile_names_are_bounded),
		cmocka_unit_test(a_long_name_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
