/* SPDX-License-Identifier: MIT
 *
 * What object files say of frames (the CFA, the physical function) and of
 * inlined calls, against what the traced functions say themselves: gcc and
 * clang, plain and optimised.
 */
#include "program_builder.h"
#include "elf/modules.h"
#include "hooked_program.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <cmocka.h>

struct subject {
	void *library;
	struct subject_log *log;
	struct modules *modules;
};

static uint64_t address(const struct subject *s, const char *function)
{
	return (uint64_t)dlsym(s->library, function);
}

static int subject_open(struct subject *s, const char *compiler,
			const char *flags, const char *after)
{
	static int n_built;
	char name[32];
	int (*run)(int);
	const char *path;

	if (!builder_has(compiler))
		return 0;
	snprintf(name, sizeof(name), "subject%d.so", n_built++);
	path = builder_path(name);
	assert_true(builder_run("%s -g %s -fPIC -shared "
				"-finstrument-functions -Wl,-Bsymbolic "
				"-o %s %s",
				compiler, flags, path,
				builder_source(__FILE__, "hooked_program.c")));
	assert_true(builder_run("cd %s && true %s", builder_dir, after));
	s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	assert_non_null(s->library);
	s->log = dlsym(s->library, "subject_log");
	*(void **)&run = dlsym(s->library, "subject_run");
	assert_non_null(run);
	run(7);
	s->modules = modules_new();
	assert_int_equal(modules_refresh(s->modules, (uint32_t)getpid(), NULL),
			 0);
	return 1;
}

static void subject_close(struct subject *s)
{
	modules_free(s->modules);
	dlclose(s->library);
}

static const struct {
	const char *compiler, *flags;
} builds[] = {
	{"gcc", "-O0"},
	{"gcc", "-O1 -fomit-frame-pointer"},
	{"gcc", "-O2"},
	{"gcc", "-O2 -gdwarf-4"},
	{"clang", "-O0"},
	{"clang", "-O2"},
	{"clang", "-O2 -gdwarf-4"},
	{"clang", "-O2 -gdwarf-5 -fno-omit-frame-pointer"},
};

/* Run check on the subject in all its builds. */
static void each_build(void (*check)(struct subject *s))
{
	for (size_t i = 0; i < sizeof(builds) / sizeof(*builds); i++) {
		struct subject s;

		if (!subject_open(&s, builds[i].compiler, builds[i].flags, ""))
			continue;
		print_message("    %s %s\n", builds[i].compiler,
			      builds[i].flags);
		check(&s);
		subject_close(&s);
	}
}

/* ---- frames ------------------------------------------------------------ */

static struct code code_at(const struct subject *s,
			   const struct subject_event *e)
{
	struct code code;

	modules_code(s->modules, e->hook - 1, &code);
	return code;
}

static uint64_t cfa_of(const struct subject *s, const struct subject_event *e)
{
	struct code code = code_at(s, e);

	if (e->hook == e->caller) /* tail-called: the hook's own frame */
		return e->sp;
	switch (code.cfa_base) {
	case CFA_SP:
		return e->sp + (uint64_t)code.cfa_offset;
	case CFA_FP:
	case CFA_FP_NEAR:
		return e->fp + (uint64_t)code.cfa_offset;
	default:
		return 0;
	}
}

static const struct subject_event *event_of(const struct subject *s, int kind,
					    const char *function)
{
	for (int i = 0; i < s->log->n_events; i++)
		if (s->log->events[i].kind == kind &&
		    s->log->events[i].callee == address(s, function))
			return &s->log->events[i];
	fail_msg("no '%c' of %s", kind, function);
	return NULL;
}

static const struct subject_truth *truth_of(const struct subject *s,
					    const char *function)
{
	for (int i = 0; i < s->log->n_truths; i++)
		if (s->log->truths[i].callee == address(s, function))
			return &s->log->truths[i];
	fail_msg("%s said nothing", function);
	return NULL;
}

static void check_true_cfa(struct subject *s)
{
	static const char *const functions[] = {"subject_plain",
						"subject_alloca"};

	for (size_t i = 0; i < 2; i++) {
		uint64_t cfa = truth_of(s, functions[i])->cfa;
		const struct subject_event *in = event_of(s, '<', functions[i]);
		const struct subject_event *out =
			event_of(s, '>', functions[i]);

		assert_int_equal(code_at(s, in).function,
				 address(s, functions[i]));
		assert_int_equal(cfa_of(s, in), cfa);
		assert_int_equal(cfa_of(s, out), cfa);
	}
}

static void cfa_is_what_the_function_says(void **state)
{
	(void)state;
	each_build(check_true_cfa);
}

static void check_realigned(struct subject *s)
{
	static const char *const functions[] = {"subject_realigned",
						"subject_realigned_alloca"};

	for (size_t i = 0; i < 2; i++) {
		const struct subject_event *in = event_of(s, '<', functions[i]);
		const struct subject_event *out =
			event_of(s, '>', functions[i]);

		assert_int_not_equal(code_at(s, in).cfa_base, CFA_UNKNOWN);
		if (out->hook != out->caller)
			assert_int_equal(cfa_of(s, in), cfa_of(s, out));
		assert_true(cfa_of(s, in) > in->sp);
	}
}

static void realigned_frame_has_one_cfa_all_through(void **state)
{
	(void)state;
	each_build(check_realigned);
}

static void check_balance(struct subject *s)
{
	uint64_t open[SUBJECT_MAX];
	int n = 0;

	for (int i = 0; i < s->log->n_events; i++) {
		const struct subject_event *e = &s->log->events[i];

		if (e->kind == '<')
			open[n++] = cfa_of(s, e);
		else if (e->hook != e->caller)
			assert_int_equal(cfa_of(s, e), open[--n]);
		else
			n--;
		for (int j = 1; j < n; j++)
			assert_true(open[j] <= open[j - 1]);
	}
	assert_int_equal(n, 0);
}

static void cfas_nest_as_the_calls_do(void **state)
{
	(void)state;
	each_build(check_balance);
}

static void check_cold(struct subject *s)
{
	struct code code;

	modules_code(s->modules, s->log->cold_pc, &code);
	assert_int_equal(code.function, s->log->with_cold);
}

static void cold_part_counts_to_its_function(void **state)
{
	struct subject s;
	struct symbol symbol;

	(void)state;
	each_build(check_cold);
	if (!subject_open(&s, "gcc", "-O2", ""))
		skip();
	assert_int_equal(modules_symbol(s.modules, s.log->cold_pc, &symbol), 1);
	assert_string_equal(symbol.symbol, "subject_with_cold.cold");
	subject_close(&s);
}

static void stripped_function_begins_where_its_fde_does(void **state)
{
	static const char *const compilers[] = {"gcc", "clang"};

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct subject s;
		struct symbol symbol;
		uint64_t tell;
		struct code code;

		/* tell() is static: only the FDE knows of it. */
		if (!subject_open(&s, compilers[i], "-O2 -s", ""))
			continue;
		tell = s.log->tell_pc;
		assert_int_equal(modules_symbol(s.modules, tell, &symbol), 0);
		assert_non_null(symbol.module);
		modules_code(s.modules, tell, &code);
		assert_int_equal(code.function, s.log->tell);
		assert_int_not_equal(code.cfa_base, CFA_UNKNOWN);
		subject_close(&s);
	}
}

static void without_cfi_there_is_the_symbol(void **state)
{
	struct subject s;
	struct code code;

	(void)state;
	if (!subject_open(&s, "gcc",
			  "-O0 -fno-asynchronous-unwind-tables "
			  "-fno-unwind-tables -g0",
			  ""))
		skip();
	code = code_at(&s, event_of(&s, '<', "subject_plain"));
	assert_int_equal(code.cfa_base, CFA_UNKNOWN);
	assert_int_equal(code.function, address(&s, "subject_plain"));
	subject_close(&s);
}

static void debug_frame_serves_without_eh_frame(void **state)
{
	struct subject s;

	(void)state;
	if (!subject_open(&s, "gcc",
			  "-O2 -fno-asynchronous-unwind-tables "
			  "-fno-unwind-tables",
			  ""))
		skip();
	check_true_cfa(&s);
	subject_close(&s);
}

/* ---- inlined calls ----------------------------------------------------- */

/* The lines written must be those of the inlined entries, in their order. */
static void check_lines(struct subject *s)
{
	const struct subject_log *log = s->log;
	uint64_t inliner = address(s, "subject_inliner");
	int n_inlined = 0, at = 0;

	for (int i = 0; i < log->n_events; i++) {
		const struct subject_event *e = &log->events[i];
		struct inline_call call = {0};
		int is_inlined;

		while (!log->truths[at].line && at < log->n_truths)
			at++;
		is_inlined = modules_inline_call(s->modules, e->hook - 1,
						 e->callee, &call);
		assert_int_equal(is_inlined,
				 code_at(s, e).function == inliner &&
					 e->callee != inliner);
		if (!is_inlined || e->kind != '<')
			continue;
		assert_int_equal(call.line, log->truths[at].line);
		assert_string_equal(
			call.file,
			builder_source(__FILE__, "hooked_program.c"));
		at++;
		n_inlined++;
	}
	assert_int_equal(n_inlined, 3);
}

static void inlined_call_has_its_line(void **state)
{
	(void)state;
	each_build(check_lines);
}

static void no_debug_information_no_inlined_call(void **state)
{
	struct subject s;
	const struct subject_event *e;
	struct inline_call call = {0};

	(void)state;
	if (!subject_open(&s, "gcc", "-O2 -g0", ""))
		skip();
	e = event_of(&s, '<', "subject_inliner");
	assert_int_equal(modules_inline_call(s.modules, e[1].hook - 1,
					     e[1].callee, &call),
			 0);
	subject_close(&s);
}

static void separate_debug_file_has_the_lines(void **state)
{
	(void)state;
	for (int is_told = 0; is_told < 2; is_told++) {
		struct subject s;
		char name[256];

		snprintf(name, sizeof(name),
			 "&& f=$(ls -t subject*.so | head -1) && "
			 "objcopy --only-keep-debug $f %s && strip $f %s",
			 is_told ? "told" : "linked.debug",
			 is_told ? ""
				 : "&& objcopy --add-gnu-debuglink="
				   "linked.debug $f");
		if (!subject_open(&s, "gcc", "-O2 -Wl,--build-id=none", name))
			skip();
		if (is_told) {
			Dl_info info;

			assert_true(dladdr(s.log, &info));
			modules_debug_file(s.modules, info.dli_fname,
					   builder_path("told"));
		}
		check_lines(&s);
		check_cold(&s);
		subject_close(&s);
	}
}

static void split_dwarf_is_read_where_it_lies(void **state)
{
	struct subject s;

	(void)state;
	if (!subject_open(&s, "gcc", "-O2 -gsplit-dwarf", ""))
		skip();
	check_lines(&s);
	subject_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cfa_is_what_the_function_says),
		cmocka_unit_test(realigned_frame_has_one_cfa_all_through),
		cmocka_unit_test(cfas_nest_as_the_calls_do),
		cmocka_unit_test(cold_part_counts_to_its_function),
		cmocka_unit_test(stripped_function_begins_where_its_fde_does),
		cmocka_unit_test(without_cfi_there_is_the_symbol),
		cmocka_unit_test(debug_frame_serves_without_eh_frame),
		cmocka_unit_test(inlined_call_has_its_line),
		cmocka_unit_test(no_debug_information_no_inlined_call),
		cmocka_unit_test(separate_debug_file_has_the_lines),
		cmocka_unit_test(split_dwarf_is_read_where_it_lies),
	};

	return cmocka_run_group_tests(tests, builder_open, builder_close);
}
