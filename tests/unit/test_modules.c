/* SPDX-License-Identifier: MIT
 *
 * Where object files are found, and what their symbols say: our own process,
 * programs of every kind of link, libraries that come and go, damaged files.
 */
#include "program_builder.h"
#include "elf/modules.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <cmocka.h>

static struct modules *refreshed(struct modules *m, pid_t pid)
{
	struct cst_error err;

	if (!m)
		m = modules_new();
	assert_non_null(m);
	if (modules_refresh(m, (uint32_t)pid, &err))
		fail_msg("%s", err.text);
	return m;
}

static void assert_symbol(struct modules *m, uint64_t addr, const char *name)
{
	struct symbol symbol;

	assert_int_equal(modules_symbol(m, addr, &symbol), name != NULL);
	if (name)
		assert_string_equal(symbol.symbol, name);
	else
		assert_null(symbol.symbol);
}

/* ---- our own process --------------------------------------------------- */

__attribute__((noinline)) static int own_function(int n)
{
	__asm__ volatile("");
	return n + 1;
}

static void own_static_function_is_found(void **state)
{
	struct modules *m = refreshed(NULL, getpid());
	uint64_t start = (uint64_t)own_function;
	struct symbol symbol;
	struct code code;

	(void)state;
	own_function(1);
	assert_int_equal(modules_symbol(m, start + 1, &symbol), 1);
	assert_string_equal(symbol.symbol, "own_function");
	assert_string_equal(symbol.module, "test_modules");
	assert_int_equal(symbol.start, start);
	assert_int_equal(symbol.offset, 1);
	assert_true(symbol.end > start);
	modules_code(m, start + 1, &code);
	assert_int_equal(code.function, start);
	assert_int_equal(code.cfa_base, CFA_SP);
	modules_free(m);
}

static char variables[2][24];

/* What a pointer to addr means, asked twice: the second time it may be known to
 * be nothing. */
static void assert_pointee(struct modules *m, uint64_t addr, const char *name)
{
	struct symbol symbol;
	int is_function;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(
			modules_pointee(m, addr, &symbol, &is_function),
			name != NULL);
		if (name)
			assert_string_equal(symbol.symbol, name);
	}
	assert_int_equal(modules_is_void(m, addr), 0);
}

static void assert_void(struct modules *m, uint64_t addr)
{
	struct symbol symbol;
	int is_function;

	assert_int_equal(modules_pointee(m, addr, &symbol, &is_function), 0);
	assert_int_equal(modules_is_void(m, addr), 1);
}

static void pointers_mean_functions_and_variables(void **state)
{
	struct modules *m = refreshed(NULL, getpid());
	void *heap = malloc(1 << 20);

	(void)state;
	for (int round = 0; round < 2; round++) {
		assert_void(m, (uint64_t)heap);
		assert_void(m, (uint64_t)&m);
		assert_pointee(m, (uint64_t)own_function, "own_function");
		assert_pointee(m, (uint64_t)own_function + 1, NULL);
		assert_pointee(m, (uint64_t)variables, "variables");
		assert_pointee(m, (uint64_t)&variables[2] - 1, "variables");
	}
	free(heap);
	modules_free(m);
}

static void nothing_is_known_of_other_addresses(void **state)
{
	struct modules *m = refreshed(NULL, getpid());
	uint64_t odd[] = {0,	       1,	   (uint64_t)&m,
			  (uint64_t)m, UINT64_MAX, UINT64_MAX - 1};

	(void)state;
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct symbol symbol;
		struct code code;
		struct inline_call call = {0};

		assert_int_equal(modules_symbol(m, odd[i], &symbol), 0);
		assert_null(symbol.module);
		modules_code(m, odd[i], &code);
		assert_int_equal(code.function, 0);
		assert_int_equal(code.cfa_base, CFA_UNKNOWN);
		assert_int_equal(modules_inline_call(m, odd[i], odd[i], &call),
				 0);
	}
	modules_free(m);
}

static void gone_process_is_an_error(void **state)
{
	struct modules *m = modules_new();
	struct cst_error err = {""};

	(void)state;
	assert_int_equal(modules_refresh(m, 0x7ffffffe, &err), CST_FAILED);
	assert_string_equal(err.text, "cannot open '/proc/2147483646/maps': "
				      "No such file or directory");
	modules_free(m);
}

/* ---- other processes --------------------------------------------------- */

static const char waiting_program[] =
	"#include <stdio.h>\n"
	"#include <unistd.h>\n"
	"static int wanted(int n) { return n + 1; }\n"
	"int main(void) { char c; printf(\"%p\\n\", (void *)wanted);\n"
	"fflush(stdout); return wanted(read(0, &c, 1)) ? 0 : 1; }\n";

struct child {
	pid_t pid;
	int hold;	 /* closing it ends the child */
	uint64_t wanted; /* address of its static function */
};

static struct child child_start(const char *program)
{
	struct child child = {0};
	int to[2], from[2];
	FILE *answer;
	void *wanted;

	assert_int_equal(pipe2(to, O_CLOEXEC) | pipe2(from, O_CLOEXEC), 0);
	child.pid = fork();
	if (!child.pid) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execl(program, program, NULL);
		_exit(127);
	}
	close(to[0]);
	close(from[1]);
	answer = fdopen(from[0], "r");
	assert_int_equal(fscanf(answer, "%p", &wanted), 1);
	fclose(answer);
	child.hold = to[1];
	child.wanted = (uint64_t)wanted;
	return child;
}

static void child_end(const struct child *child)
{
	close(child->hold);
	waitpid(child->pid, NULL, 0);
}

static void build_program(const char *name, const char *flags)
{
	assert_true(builder_write("wait.c", waiting_program));
	assert_true(builder_run("gcc -g -O0 %s -o %s %s", flags,
				builder_path(name), builder_path("wait.c")));
}

static void all_kinds_of_programs_are_read(void **state)
{
	static const char *const kinds[] = {
		"-pie -fPIE",
		"-no-pie",
		"-static",
		"-static-pie -fPIE",
		"-Wl,-z,noseparate-code",
		"-no-pie -Wl,-Ttext-segment=0x10000000"};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct child child;
		struct modules *m;
		struct code code;

		print_message("    %s\n", kinds[i]);
		build_program("wait", kinds[i]);
		child = child_start(builder_path("wait"));
		m = refreshed(NULL, child.pid);
		child_end(&child);
		/* Asked for only when the process has ended. */
		assert_symbol(m, child.wanted + 1, "wanted");
		modules_code(m, child.wanted + 6, &code);
		assert_int_equal(code.function, child.wanted);
		assert_int_equal(code.cfa_base, CFA_FP);
		assert_int_equal(code.cfa_offset, 16);
		modules_free(m);
	}
}

static void deleted_program_is_read(void **state)
{
	struct child child;
	struct modules *m;

	(void)state;
	build_program("wait", "");
	child = child_start(builder_path("wait"));
	unlink(builder_path("wait"));
	m = refreshed(NULL, child.pid);
	child_end(&child);
	assert_symbol(m, child.wanted, "wanted");
	modules_free(m);
}

static void file_put_in_its_place_is_not_taken_for_it(void **state)
{
	struct child child;
	struct modules *m;

	(void)state;
	build_program("wait", "");
	child = child_start(builder_path("wait"));
	m = refreshed(NULL, child.pid);
	assert_true(builder_run("cd %s && cp /bin/true other && mv other wait",
				builder_dir));
	assert_symbol(m, child.wanted, "wanted"); /* from /proc/PID/exe */
	child_end(&child);
	modules_free(m);
}

/* ---- libraries that come and go ---------------------------------------- */

static void *open_library(const char *file, const char *text, const char *flags)
{
	void *library;

	assert_true(builder_write("library.c", text));
	assert_true(builder_run("gcc -g -fPIC -shared %s -o %s %s", flags,
				builder_path(file), builder_path("library.c")));
	library = dlopen(builder_path(file), RTLD_NOW);
	assert_non_null(library);
	return library;
}

static void unmapped_library_stays_known_until_told(void **state)
{
	void *library =
		open_library("gone.so", "int gone(void) { return 1; }", "");
	uint64_t gone = (uint64_t)dlsym(library, "gone");
	struct modules *m = refreshed(NULL, getpid());

	(void)state;
	dlclose(library);
	refreshed(m, getpid());
	assert_symbol(m, gone, "gone");
	modules_unmap(m, gone & ~4095ul, (gone & ~4095ul) + 4096);
	assert_symbol(m, gone, NULL);
	modules_free(m);
}

/* Map one page of a file's code as dlopen() would. */
static void *map_code(const char *file, void *at, uint64_t offset)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *page =
		mmap(at, 4096, PROT_READ | PROT_EXEC,
		     MAP_PRIVATE | (at ? MAP_FIXED : 0), fd, (off_t)offset);

	assert_true(page != MAP_FAILED);
	close(fd);
	return page;
}

/* Where in the file its first page of code is: ld's usual place. */
enum { CODE_OFFSET = 4096 };

static uint64_t build_one(const char *file, const char *text)
{
	void *library = open_library(file, text, "-nostdlib");
	uint64_t offset = (uint64_t)dlsym(library, "f") & 4095;

	dlclose(library);
	return offset;
}

static void what_takes_a_place_is_found_there(void **state)
{
	uint64_t at, in_a, in_b;
	struct modules *m;
	void *page;

	(void)state;
	in_a = build_one("a.so", "static int a(void) { return 1; } "
				 "void *f(void) { return a; }");
	in_b = build_one("b.so", "void *f(void) { return 0; }"
				 "int g __asm__(\"f_is_b\"); ");
	page = map_code(builder_path("a.so"), NULL, CODE_OFFSET);
	m = refreshed(NULL, getpid());
	at = (uint64_t)page;
	assert_symbol(m, at + in_a - 1, "a");
	modules_unmap(m, at, at + 4096);
	assert_void(m, at + in_b);
	map_code(builder_path("b.so"), page, CODE_OFFSET);
	refreshed(m, getpid());
	assert_symbol(m, at + in_b, "f");
	assert_pointee(m, at + in_b, "f");
	munmap(page, 4096);
	modules_free(m);
}

static void rebuilt_file_is_read_anew(void **state)
{
	uint64_t at, offset;
	struct modules *m;
	void *page;

	(void)state;
	offset = build_one("r.so", "int f(void) { return 1; }");
	page = map_code(builder_path("r.so"), NULL, CODE_OFFSET);
	at = (uint64_t)page;
	m = refreshed(NULL, getpid());
	assert_symbol(m, at + offset, "f");
	/* Another symbol table, written over the file: inode and place stay. */
	assert_true(builder_run("cd %s && objcopy --redefine-sym f=renamed "
				"r.so other && cat other > r.so",
				builder_dir));
	refreshed(m, getpid());
	assert_symbol(m, at + offset, "renamed");
	munmap(page, 4096);
	modules_free(m);
}

/* ---- which symbol it is ------------------------------------------------ */

static const char many_symbols[] =
	".text\n.globl zeta, beta, weak, sized\n.weak weak\n"
	".type zeta,@function\n.type beta,@function\n.type weak,@function\n"
	".type local,@function\n.type label,@function\n.type sized,@function\n"
	".type inner,@function\n.type tail,@function\n.type old,@function\n"
	"sized: zeta: beta: weak: local: label:\n .skip 16,0x90\n"
	"inner: .skip 8,0x90\n.size inner,8\n .skip 8,0x90\n"
	".size zeta,32\n.size beta,32\n.size weak,32\n.size local,32\n"
	".size sized,32\n .skip 32,0x90\n"
	"tail: .skip 16,0x90\n"
	".globl next\n.type next,@function\nnext: .skip 8,0x90\n.size next,8\n"
	".skip 8\n.section .note.GNU-stack,\"\"\n";

static void best_symbol_wins(void **state)
{
	uint64_t start;
	struct modules *m;
	void *library;
	struct symbol symbol;

	(void)state;
	assert_true(builder_write("many.S", many_symbols));
	library = open_library("many.so", "", builder_path("many.S"));
	start = (uint64_t)dlsym(library, "zeta");
	m = refreshed(NULL, getpid());
	assert_symbol(m, start, "beta");
	assert_symbol(m, start + 20, "inner");
	assert_symbol(m, start + 28, "beta"); /* behind the inner one */
	assert_symbol(m, start + 32, NULL);   /* behind its end */
	assert_symbol(m, start + 72, "tail"); /* no size: up to the next */
	assert_symbol(m, start + 80, "next");
	assert_symbol(m, start + 88, NULL);
	assert_int_equal(modules_symbol(m, start + 72, &symbol), 1);
	assert_int_equal(symbol.end, 0);
	dlclose(library);
	modules_free(m);
}

static void symbol_version_is_cut_off(void **state)
{
	char flags[PATH_MAX];
	void *library;
	struct modules *m;

	(void)state;
	assert_true(builder_write("v.map", "V1 {}; V2 {} V1;\n"));
	snprintf(flags, sizeof(flags), "-Wl,--version-script,%s",
		 builder_path("v.map"));
	library = open_library(
		"v.so",
		"__asm__(\".symver f_old,f@V1\\n.symver f_new,f@@V2\");"
		"int f_old(void) { return 1; } int f_new(void) { return 2; }",
		flags);
	m = refreshed(NULL, getpid());
	assert_symbol(m, (uint64_t)dlsym(library, "f"), "f");
	dlclose(library);
	modules_free(m);
}

static void stripped_library_has_what_it_exports(void **state)
{
	void *library = open_library("s.so",
				     "__attribute__((noinline)) static int "
				     "hidden(int n) { return n; } "
				     "int shown(int n) { return hidden(n); }"
				     "void *pointer = hidden;",
				     "-s");
	struct modules *m = refreshed(NULL, getpid());
	uint64_t hidden = *(uint64_t *)dlsym(library, "pointer");
	struct symbol symbol;

	(void)state;
	assert_symbol(m, (uint64_t)dlsym(library, "shown") + 3, "shown");
	assert_int_equal(modules_symbol(m, hidden, &symbol), 0);
	assert_string_equal(symbol.module, "s.so");
	assert_true(symbol.module_offset > 0 && symbol.module_offset < 65536);
	dlclose(library);
	modules_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(own_static_function_is_found),
		cmocka_unit_test(pointers_mean_functions_and_variables),
		cmocka_unit_test(nothing_is_known_of_other_addresses),
		cmocka_unit_test(gone_process_is_an_error),
		cmocka_unit_test(all_kinds_of_programs_are_read),
		cmocka_unit_test(deleted_program_is_read),
		cmocka_unit_test(file_put_in_its_place_is_not_taken_for_it),
		cmocka_unit_test(unmapped_library_stays_known_until_told),
		cmocka_unit_test(what_takes_a_place_is_found_there),
		cmocka_unit_test(rebuilt_file_is_read_anew),
		cmocka_unit_test(best_symbol_wins),
		cmocka_unit_test(symbol_version_is_cut_off),
		cmocka_unit_test(stripped_library_has_what_it_exports),
	};

	return cmocka_run_group_tests(tests, builder_open, builder_close);
}
