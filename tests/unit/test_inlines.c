/* SPDX-License-Identifier: MIT
 *
 * C++: an inline function that several units compiled, so that its code is of
 * one and its inlined instances of others.
 */
#include "program_builder.h"
#include "elf/modules.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

static const char cpp_header[] =
	"struct T { int n; inline T(int x); inline int get() const; };\n"
	"inline T::T(int x) : n(x) {}\n"
	"inline int T::get() const { return n + 1; }\n"
	"template <class U> inline U twice(U u) { return u + u; }\n";

static const char cpp_unit[] =
	"#include \"t.h\"\n"
	"namespace {\n"
	"inline int here(int n) { return n * 3; }\n"
	"__attribute__((noinline)) int work(int n)\n"
	"{\n"
	"	T t(n);\n"		   /* 6 */
	"	int sum = t.get();\n"	   /* 7 */
	"	sum += twice(sum);\n"	   /* 8 */
	"	return sum + here(sum);\n" /* 9 */
	"}\n"
	"}\n"
	"extern \"C\" int NAME(int n) { return work(n) + 1; }\n";

static const char cpp_hooks[] =
	"#include <stdint.h>\n"
	"uint64_t cpp_log[64][2]; int n_cpp_log;\n"
	"void __cyg_profile_func_enter(void *callee, void *caller)\n"
	"{ cpp_log[n_cpp_log][0] = (uint64_t)callee; (void)caller;\n"
	"cpp_log[n_cpp_log++][1] = (uint64_t)__builtin_return_address(0); }\n"
	"void __cyg_profile_func_exit(void *callee, void *caller)\n"
	"{ (void)callee; (void)caller; }\n";

static void *cpp_open(const char *compiler, const char *hooks_compiler)
{
	static int n_built;
	char name[32];

	if (!builder_has(compiler) || !builder_has(hooks_compiler))
		return NULL;
	snprintf(name, sizeof(name), "cpp%d.so", n_built++);
	assert_true(builder_write("t.h", cpp_header));
	assert_true(builder_write("t.cc", cpp_unit));
	assert_true(builder_write("hooks.c", cpp_hooks));
	assert_true(builder_run(
		"cd %s && F='-g -O2 -fPIC -finstrument-functions' && "
		"%s $F -DNAME=first -c t.cc -o first.o && "
		"%s $F -DNAME=second -c t.cc -o second.o && "
		"%s -O1 -fPIC -c hooks.c && "
		"%s -shared -Wl,-Bsymbolic *.o -o %s",
		builder_dir, compiler, compiler, hooks_compiler, compiler,
		name));
	return dlopen(builder_path(name), RTLD_NOW | RTLD_LOCAL);
}

static void check_cpp(void *library)
{
	static const struct {
		const char *symbol_part;
		uint32_t line;
	} expected[] = {{"TC", 6}, {"get", 7}, {"twice", 8}, {"here", 9}};
	static const char *const entries[] = {"first", "second"};
	uint64_t(*log)[2] = dlsym(library, "cpp_log");
	int *n = dlsym(library, "n_cpp_log");

	for (int i = 0; i < 2; i++) {
		struct modules *m = modules_new();
		int (*run)(int);

		*(void **)&run = dlsym(library, entries[i]);
		*n = 0;
		run(1);
		assert_int_equal(*n, 6); /* the entry, work() and these */
		modules_refresh(m, (uint32_t)getpid(), NULL);
		for (int j = 0; j < 4; j++) {
			uint64_t *event = log[j + 2];
			struct symbol symbol;
			struct inline_call call = {0};

			assert_int_equal(modules_symbol(m, event[0], &symbol),
					 1);
			assert_non_null(
				strstr(symbol.symbol, expected[j].symbol_part));
			assert_int_equal(modules_inline_call(m, event[1] - 1,
							     event[0], &call),
					 1);
			assert_string_equal(call.file, "t.cc");
			assert_int_equal(call.line, expected[j].line);
		}
		modules_free(m);
	}
}

static void inlined_copy_of_another_unit_is_known(void **state)
{
	static const char *const compilers[][2] = {{"g++", "gcc"},
						   {"clang++", "clang"}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		void *library = cpp_open(compilers[i][0], compilers[i][1]);

		if (!library)
			continue;
		print_message("    %s\n", compilers[i][0]);
		check_cpp(library);
		dlclose(library);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(inlined_copy_of_another_unit_is_known),
	};

	return cmocka_run_group_tests(tests, builder_open, builder_close);
}
