/* SPDX-License-Identifier: MIT
 *
 * Functions of libraries that gcc and clang build, with and without
 * optimization: what the plans of their hooks copy is what they were given.
 */
#include "args/args.h"
#include "args/decode.h"
#include "args/codes.h"
#include "names/values_text.h"
#include "plan/hooks.h"
#include "program_builder.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stddef.h>
#include <sys/uio.h>
#include <cmocka.h>

/* ---- the copying, as a hook does it ---------------------------------------
 */

struct machine {
	const uint64_t *registers;
	uint64_t a;
	uint8_t raw[CST_RAW_MAX];
	uint32_t n;
};

static int peek(uint64_t addr, void *out, size_t n)
{
	struct iovec to = {out, n}, from = {(void *)(uintptr_t)addr, n};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)n;
}

static void emit(struct machine *m, const void *data, size_t n)
{
	assert_true(m->n + n <= sizeof(m->raw));
	memcpy(m->raw + m->n, data, n);
	m->n += (uint32_t)n;
}

static void emit_byte(struct machine *m, uint8_t byte)
{
	emit(m, &byte, 1);
}

static void run_text(struct machine *m, uint64_t at, uint64_t n, uint32_t max)
{
	int is_sized = n != UINT64_MAX;
	char text[256];
	uint64_t i;

	if (!at) {
		emit_byte(m, CST_COPIED_NULL);
		return;
	}
	for (i = 0; i < max && i < n; i++) {
		if (!peek(at + i, &text[i], 1)) {
			emit_byte(m, CST_COPIED_BAD);
			return;
		}
		if (!is_sized && !text[i])
			break;
	}
	emit_byte(m, (is_sized && n > max) || (!is_sized && i == max)
			     ? CST_COPIED_CUT
			     : CST_COPIED_OK);
	emit_byte(m, (uint8_t)i);
	emit(m, text, i);
}

static void run_sized(struct machine *m, const struct cst_copy *s)
{
	uint64_t at, n, from = m->a + (uint64_t)(int64_t)s->offset;

	if (!peek(from, &at, 8) ||
	    !peek(from + (uint64_t)(8 * (int8_t)s->reg), &n, 8))
		emit_byte(m, CST_COPIED_BAD);
	else
		run_text(m, at, n, s->size);
}

static void run_head(struct machine *m, const struct cst_copy *s)
{
	uint64_t ends[2], n, shown = 0;
	uint8_t elements[16];

	if (!peek(m->a + (uint64_t)(int64_t)s->offset, ends, 16)) {
		emit_byte(m, CST_COPIED_BAD);
		return;
	}
	n = ends[1] - ends[0];
	if (s->size)
		shown = (n < 16 ? n : 16) / s->size * s->size;
	emit_byte(m, shown < n ? CST_COPIED_CUT : CST_COPIED_OK);
	emit(m, &n, 8);
	assert_true(!shown || peek(ends[0], elements, shown));
	emit(m, elements, shown);
}

static void run_step(struct machine *m, const struct cst_copy *s)
{
	uint64_t there = 0, offset = (uint64_t)(int64_t)s->offset;
	uint8_t bytes[CST_RAW_MAX];

	if (s->op == CST_COPY_REGISTER || s->op == CST_COPY_FRAME ||
	    s->op == CST_COPY_POINT || s->op == CST_COPY_POINT_AT)
		there = m->registers[s->reg];
	switch (s->op) {
	case CST_COPY_REGISTER:
		emit(m, &there, s->size);
		break;
	case CST_COPY_FRAME:
		assert_true(peek(there + offset, bytes, s->size));
		emit(m, bytes, s->size);
		break;
	case CST_COPY_POINT:
		m->a = there + offset;
		break;
	case CST_COPY_POINT_AT:
		if (!peek(there + offset, &m->a, 8))
			m->a = 0;
		break;
	case CST_COPY_FOLLOW:
		if (!peek(m->a + offset, &m->a, 8))
			m->a = 0;
		break;
	case CST_COPY_BYTES:
		emit_byte(m, peek(m->a + offset, bytes, s->size));
		if (m->raw[m->n - 1])
			emit(m, bytes, s->size);
		break;
	case CST_COPY_TEXT:
		run_text(m, m->a, UINT64_MAX, s->size ? s->size : 32);
		break;
	case CST_COPY_SIZED_TEXT:
		run_sized(m, s);
		break;
	case CST_COPY_HEAD:
		run_head(m, s);
		break;
	default:
		fail_msg("step %d", s->op);
	}
}

/* ---- what is heard --------------------------------------------------------
 */

static struct args *heard_args;
static struct modules *heard_modules;
static char heard[1 << 20];
/* Plans that are made before it is known of what a hook is. */
static struct args *ahead_args;
static uint64_t hooks_seen[1 << 16];
static uint32_t n_hooks_seen;
static uint32_t n_codes_seen[16];

/* The text of a row: `parse(s="12+3", base=10)`, `parse = 12`. */
static void tell(const char *name, const struct args_plan *plan, int kind,
		 const struct bytes *values)
{
	struct function f = {0};
	char row[VALUES_ROOM];
	struct values *v;
	size_t n = strcspn(name, "(");

	f.values = (char *)plan->names;
	v = kind == CST_ENTER
		    ? values_new(values->data, (uint32_t)values->len, NULL, 0)
		    : values_new(NULL, 0, values->data, (uint32_t)values->len);
	*values_put_row(row, &f, v, kind == CST_EXIT) = 0;
	values_drop(v);
	snprintf(heard + strlen(heard), sizeof(heard) - strlen(heard),
		 "%.*s%s\n", (int)n, name, row);
}

static int see_hook(void *arg, uint64_t hook, int kind)
{
	(void)arg;
	assert_true(n_hooks_seen < sizeof(hooks_seen) / sizeof(*hooks_seen));
	hooks_seen[n_hooks_seen++] = hook << 8 | (uint64_t)kind;
	return 1;
}

static void see_hooks(const char *path)
{
	struct functions f = {.debug.fd = -1};
	struct frames frames = {0};
	struct image im;
	struct hooks h;

	assert_int_equal(image_open(&im, path, NULL), 0);
	assert_int_equal(frames_init(&frames, &im), 0);
	assert_int_equal(functions_init(&f, &im, &frames, path, NULL), 0);
	hooks_find(&h, &im, &f);
	n_hooks_seen = 0;
	hooks_each_call(&h, &im, see_hook, NULL);
	assert_true(n_hooks_seen > 0);
	functions_release(&f);
	frames_release(&frames);
	image_close(&im);
}

static int is_seen(uint64_t hook, int kind)
{
	for (uint32_t i = 0; i < n_hooks_seen; i++)
		if (hooks_seen[i] == (hook << 8 | (uint64_t)kind))
			return 1;
	return 0;
}

/* What was found out before the call is what the call shows. */
static void check_ahead(const struct args_plan *plan, uint64_t hook,
			uint64_t callee, int kind)
{
	struct module_file file;
	struct args_plan *made, *then;

	assert_int_equal(modules_file(heard_modules, hook, &file), 1);
	if (!is_seen(file.addr, kind)) /* the function jumped to its hook */
		return;
	assert_int_equal(
		args_plan_ahead(ahead_args, heard_modules, hook, kind, &made),
		1);
	then = args_plan(ahead_args, heard_modules, hook, callee, kind);
	assert_int_equal(!then, !plan);
	if (!plan)
		return;
	assert_ptr_equal(then, made);
	assert_int_equal(then->n_steps, plan->n_steps);
	assert_memory_equal(then->steps, plan->steps,
			    plan->n_steps * sizeof(*plan->steps));
	/* Nothing is known then if another function calls the hook. */
	assert_null(args_plan(ahead_args, heard_modules, hook,
			      (uint64_t)(uintptr_t)dlsym, kind));
}

/* Puts the program's numbers as an event's own record may have them.  Returns
 * whether they have room there. */
static int pack(const struct args_plan *plan, const uint8_t *raw,
		uint64_t *packed)
{
	uint32_t bits = CST_NUMBERS_BITS / plan->n_plain;
	uint64_t half = 1ull << (bits - 1);

	*packed = 0;
	for (uint32_t i = 0; i < plan->n_plain; i++) {
		uint32_t size = plan->steps[i].size;
		uint64_t n = integer_low(integer_at(raw, size), size, 1) + half;

		if (n >> bits)
			return 0;
		*packed |= n << i * bits;
		raw += size;
	}
	return 1;
}

/* What the codes make of the bytes is what the plan does; to a pointer that may
 * have a name they have no answer. */
static void check_codes(const struct args_plan *plan, const struct machine *m,
			const struct bytes *values)
{
	uint32_t codes = plan->codes;
	uint8_t of_bytes[CODES_MOST], of_record[CODES_MOST], *end = NULL;
	uint64_t packed, result;

	if (!codes)
		return;
	for (uint32_t rest = codes; rest; rest >>= CODE_BITS)
		n_codes_seen[rest & CODE_MASK]++;
	if (!codes_are_computed(codes))
		end = codes_put(of_bytes, codes, m->raw, m->n, heard_modules);
	else if (args_compute(plan, m->raw, m->n, &result))
		end = code_put(of_bytes, codes >> CODE_BITS, result,
			       heard_modules);
	else
		fail_msg("not computed");
	if (end) {
		assert_int_equal(end - of_bytes, values->len);
		assert_memory_equal(of_bytes, values->data, values->len);
	}
	if (!plan->n_plain || !pack(plan, m->raw, &packed))
		return;
	end = codes_are_computed(codes)
		      ? code_put(of_record, codes >> CODE_BITS,
				 args_compute_packed(plan, packed),
				 heard_modules)
		      : codes_put_packed(of_record, codes,
					 CST_NUMBERS_BITS / plan->n_plain,
					 packed, heard_modules);
	if (!end)
		return;
	assert_int_equal(end - of_record, values->len);
	assert_memory_equal(of_record, values->data, values->len);
}

static void hear(int kind, uint64_t callee, uint64_t hook,
		 const uint64_t *registers)
{
	struct args_plan *plan;
	struct machine m = {.registers = registers};
	struct symbol symbol;
	struct bytes values = {0};
	char name[256];

	plan = args_plan(heard_args, heard_modules, hook, callee, kind);
	check_ahead(plan, hook, callee, kind);
	assert_int_equal(modules_symbol(heard_modules, callee, &symbol), 1);
	if (!plan)
		return;
	for (const struct cst_copy *s = plan->steps; s->op; s++)
		run_step(&m, s);
	args_decode(plan, heard_modules, hook, m.raw, m.n, &values);
	check_codes(plan, &m, &values);
	cst_demangle(symbol.symbol, name, sizeof(name));
	tell(name, plan, kind, &values);
	bytes_release(&values);
}

/* Builds the source with these options, calls its run(), and returns what its
 * hooks have heard; NULL without the compiler. */
static const char *hear_run(const char *compiler, const char *options,
			    const char *file, const char *source)
{
	static int n_built;
	void (**hearer)(int, uint64_t, uint64_t, const uint64_t *);
	char name[32];
	void *library;
	int (*run)(void);

	if (!builder_has(compiler))
		return NULL;
	snprintf(name, sizeof(name), "args%d.so", n_built++);
	assert_true(builder_write(file, source));
	assert_true(builder_run(
		"gcc -O1 -fPIC -c %s -o %s/hooks.o && cd %s && %s -g %s -fPIC "
		"-shared -Wl,-Bsymbolic -finstrument-functions %s hooks.o -o "
		"%s",
		builder_source(__FILE__, "hooked_args.c"), builder_dir,
		builder_dir, compiler, options, file, name));
	library = dlopen(builder_path(name), RTLD_NOW | RTLD_LOCAL);
	if (!library)
		fail_msg("%s", dlerror());
	*(void **)&run = dlsym(library, "run");
	*(void **)&hearer = dlsym(library, "args_hear");
	see_hooks(builder_path(name));
	heard_args = args_new();
	ahead_args = args_new();
	heard_modules = modules_new();
	*heard = 0;
	modules_refresh(heard_modules, (uint32_t)getpid(), NULL);
	*hearer = hear;
	run();
	*hearer = NULL;
	if (getenv("SHOW"))
		fputs(heard, stderr);
	args_free(heard_args);
	args_free(ahead_args);
	modules_free(heard_modules);
	dlclose(library);
	return heard;
}

static int has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p++)
		if ((p == text || p[-1] == '\n') && p[n] == '\n')
			return 1;
	return 0;
}

static void check_lines(const char *text, const char *const *lines)
{
	for (; *lines; lines++)
		if (!has_line(text, *lines))
			fail_msg("no line '%s' in:\n%s", *lines, text);
}

/* ---- C ---------------------------------------------------------------------
 */

static const char c_source[] =
	"#include <stdint.h>\n"
	"#include <stdbool.h>\n"
	"#define KEEP __attribute__((noinline))\n"
	"enum color { RED, GREEN = 5 };\n"
	"enum flags { READ = 1, WRITE = 2, EXEC = 4 };\n"
	"struct pt { int x, y; };\n"
	"struct named { const char *name; long n; };\n"
	"struct big { long a[9]; };\n"
	"volatile int sink;\n"
	"KEEP int parse(const char *s, int base)\n"
	"{ sink++; return (base > 2 ? s[0] : 0) + base; }\n"
	"KEEP double half(double d, float f) { sink++; return d / 2 + f; }\n"
	"KEEP int kinds(enum color c, enum flags f, bool b, char h,\n"
	"	unsigned char u, int64_t l, uint64_t w)\n"
	"{ sink++; return (int)(c + f + b + h + u + l + (int64_t)w); }\n"
	"KEEP int points(struct pt p, const struct pt *q, struct named n)\n"
	"{ sink += n.name[0]; return p.x + q->y + (int)n.n; }\n"
	"KEEP long large(struct big b, int n) { sink++; return b.a[n]; }\n"
	"KEEP int call(int (*f)(const char *, int), void *p)\n"
	"{ sink += p != 0; return f(\"1\", 2); }\n"
	"KEEP int many(int a, int b, int c, int d, int e, int f, int g, int "
	"h)\n"
	"{ sink++; return a + b + c + d + e + f + g + h; }\n"
	"KEEP int run(void)\n"
	"{ struct pt p = {1, -2}, q = {3, 4}; struct named n = {\"nn\", 7};\n"
	"  struct big b = {{1}};\n"
	"  parse(\"12+3\", 10); parse(0, -1);\n"
	"  parse(\"a text that is longer than thirty-two bytes\", 1);\n"
	"  parse((char *)16, 2);\n"
	"  half(2.5, 1.5f); kinds(GREEN, WRITE | EXEC, true, 'A', 200, -5, "
	"1ull << 63);\n"
	"  points(p, &q, n); large(b, 8); call(parse, 0);\n"
	"  return many(1, 2, 3, 4, 5, 6, 7, 8); }\n";

static const char *const c_plain[] = {
	"parse(s=\"12+3\", base=10)",
	"parse(s=NULL, base=-1)",
	"parse(s=\"a text that is longer than thirt\"..., base=1)",
	"parse(s=<cannot read>, base=2)",
	"half(d=2.5, f=1.5)",
	"kinds(c=GREEN, f=WRITE|EXEC, b=true, h='A', u=200, l=-5, "
	"w=9223372036854775808)",
	"large(b={...}, n=8)",
	"call(f=parse, p=0x0)",
	"many(a=1, b=2, c=3, d=4, e=5, f=6, g=7, h=8)",
	"parse = 59",
	"half = 2.75",
	"many = 36",
	NULL,
};

static const char *const c_fast[] = {
	"parse(s=\"12+3\", base=10)",
	"parse(s=<cannot read>, base=2)",
	"half(d=2.5, f=1.5)",
	"large(b={...}, n=8)",
	"call(f=parse, p=0x0)",
	"parse = 59",
	NULL,
};

static void check_run(const char *const *compilers, const char *options,
		      const char *file, const char *source,
		      const char *const *lines)
{
	for (int i = 0; i < 2 && compilers[i]; i++) {
		const char *text =
			hear_run(compilers[i], options, file, source);

		if (!text)
			continue;
		print_message("    %s %s\n", compilers[i], options);
		check_lines(text, lines);
	}
}

static const char *const of_c[] = {"gcc", "clang"};

static void values_of_plain_c_are_known(void **state)
{
	(void)state;
	check_run(of_c, "-O0", "c.c", c_source, c_plain);
	check_run(of_c, "-O0 -gdwarf-4", "c.c", c_source, c_plain);
	check_run(of_c, "-O0 -fstack-protector-all", "c.c", c_source, c_plain);
}

static void values_of_fast_c_are_known(void **state)
{
	(void)state;
	check_run(of_c, "-O2", "c.c", c_source, c_fast);
}

/* What is computed, or read, only behind the exit's hook. */
static const char computed_source[] =
	"#include <stdbool.h>\n"
	"#define KEEP __attribute__((noinline))\n"
	"struct node { struct node *next; short value; unsigned char tag; };\n"
	"static int total = 100; static double ratio = 0.5;\n"
	"static struct node last = {0, -7, 200}, first = {&last, 5, 6};\n"
	"static struct node *list = &first;\n"
	"KEEP int product(int a, int b) { return a * b; }\n"
	"KEEP long mixed(int a, long b) { return (a + b) * 3 - (b >> 2); }\n"
	"KEEP unsigned bits(unsigned a, unsigned b)\n"
	"{ return (~a & b) | (a ^ b) << 3; }\n"
	"KEEP bool less(int a, int b) { return a < b; }\n"
	"KEEP bool below(unsigned a, unsigned b) { return a < b; }\n"
	"KEEP int larger(int a, int b) { return a > b ? a : b; }\n"
	"KEEP bool is_odd(int a) { return a & 1; }\n"
	"KEEP double scaled(double x, double y) { return x * y - 1; }\n"
	"KEEP float halved(float x, int n) { return x / 2 + n; }\n"
	"KEEP int get_total(void) { return total; }\n"
	"KEEP double get_ratio(void) { return ratio * 4; }\n"
	"KEEP int value_of(const struct node *n) { return n->value; }\n"
	"KEEP int tag_after(const struct node *n) { return n->next->tag + 1; "
	"}\n"
	"KEEP int tag_of_list(void) { return list->tag; }\n"
	"KEEP signed char narrow(int a) { return (signed char)(a * 2); }\n"
	"KEEP void *behind(char *s, long n) { return s + n * 2; }\n"
	"volatile int minus = -3, seven = 7; volatile double dd = 2.5;\n"
	"KEEP int run(void)\n"
	"{ product(minus, seven); mixed(minus, seven); bits((unsigned)seven, "
	"12);\n"
	"  less(minus, seven); less(seven, minus); below((unsigned)minus, 7);\n"
	"  larger(minus, seven); larger(12, seven); is_odd(seven);\n"
	"  scaled(dd, minus); halved((float)dd, seven); get_total(); "
	"get_ratio();\n"
	"  value_of(&last); value_of(&first); tag_after(&first); "
	"tag_of_list();\n"
	"  narrow(seven * 10); behind((char *)4096, seven); total++; "
	"get_total();\n"
	"  product(1000000, seven + 5000); return 0; }\n";

static const char *const c_computed[] = {
	"product = -21",   "product = 712032704",
	"mixed = 11",	   "bits = 88",
	"less = true",	   "less = false",
	"below = false",   "larger = 7",
	"larger = 12",	   "is_odd = true",
	"scaled = -8.5",   "halved = 8.25",
	"get_total = 100", "get_total = 101",
	"get_ratio = 2",   "value_of = -7",
	"value_of = 5",	   "tag_after = 201",
	"tag_of_list = 6", "narrow = -116",
	"behind = 0x100e", NULL,
};

static void results_behind_the_hook_are_computed(void **state)
{
	(void)state;
	check_run(of_c, "-O0", "d.c", computed_source, c_computed);
	check_run(of_c, "-O1", "d.c", computed_source, c_computed);
	check_run(of_c, "-O2", "d.c", computed_source, c_computed);
	check_run(of_c, "-O2 -mavx", "d.c", computed_source, c_computed);
	check_run(of_c, "-O3 -fomit-frame-pointer", "d.c", computed_source,
		  c_computed);
}

/* ---- C++ -------------------------------------------------------------------
 */

static const char cpp_source[] =
	"#include <memory>\n"
	"#include <string>\n"
	"#include <string_view>\n"
	"#include <vector>\n"
	"#define KEEP __attribute__((noinline))\n"
	"volatile int sink;\n"
	"enum class Mode { Read, Write };\n"
	"struct Pt { int x, y; };\n"
	"struct Mixed { double d; int n; };\n"
	"struct Counter { int n; explicit Counter(int m) : n(m) {}\n"
	"  KEEP int add(int k) { sink = sink + 1; n += k; return n; } };\n"
	"KEEP size_t text(const std::string &s, std::string t)\n"
	"{ sink = sink + 1; return s.size() + t.size(); }\n"
	"KEEP size_t view(std::string_view v, const std::string_view &w)\n"
	"{ sink = sink + 1; return v.size() + w.size(); }\n"
	"KEEP int sum(const std::vector<int> &v, const std::vector<double> "
	"&d)\n"
	"{ sink = sink + 1; return v[0] + (int)d.size(); }\n"
	"KEEP size_t strings(std::vector<std::string> &v)\n"
	"{ sink = sink + 1; return v.size(); }\n"
	"KEEP bool owner(std::unique_ptr<int> p, Mode m)\n"
	"{ sink = sink + 1; return p != nullptr && m == Mode::Write; }\n"
	"KEEP int refs(const int &n, const Pt &p, Pt &&q, double &d)\n"
	"{ sink = sink + 1; return n + p.x + q.y + (int)d; }\n"
	"KEEP std::string make(int n) { sink = sink + 1;\n"
	"  return std::string((size_t)n, 'x'); }\n"
	"KEEP std::vector<int> list(int n)\n"
	"{ sink = sink + 1; return std::vector<int>((size_t)n, 7); }\n"
	"KEEP Pt point(int n) { sink = sink + 1; return Pt{n, -n}; }\n"
	"KEEP Mixed mixed(int n) { sink = sink + 1; return Mixed{sink + 0.5, "
	"n}; }\n"
	"KEEP Mode mode(int n) { sink = sink + 1;\n"
	"  return n ? Mode::Write : Mode::Read; }\n"
	"extern \"C\" int run() { Counter c(40); c.add(2);\n"
	"  text(\"one\", \"a string of more than thirty-two bytes\");\n"
	"  view(\"ab\", std::string_view(\"cdef\", 3));\n"
	"  sum({1, 2, 3, 4, 5}, {0.5}); std::vector<std::string> v{\"a\", "
	"\"b\"};\n"
	"  strings(v); owner(nullptr, Mode::Write); double d = 0.25;\n"
	"  refs(3, Pt{1, 2}, Pt{-3, -4}, d); make(3); list(2); point(6);\n"
	"  mixed(8); mode(1); return 0; }\n";

/* What the compilers agree about, with and without optimization. */
static const char *const cpp_any[] = {
	"text(s=\"one\", t=\"a string of more than thirty-two\"...)",
	"sum(v=[5]{1, 2, 3, 4, ...}, d=[1]{0.5})",
	"make[abi:cxx11] = \"xxx\"",
	"list = [2]{7, 7}",
	"point = {6, -6}",
	"strings(v=[2]{...})",
	NULL,
};

static const char *const cpp_plain[] = {
	"view(v=\"ab\", w=\"cde\")",
	"owner(p=0x0, m=Write)",
	"owner = false",
	"mode = Write",
	"refs(n=3, p={x=1, y=2}, q={x=-3, y=-4}, d=0.25)",
	"Counter::add = 42",
	"text = 41",
	NULL,
};

/* clang's code with hooks wants functions that libstdc++ has inline only. */
static const char *const of_cpp[] = {"g++", NULL};

static void values_of_cpp_are_known(void **state)
{
	(void)state;
	check_run(of_cpp, "-std=c++20 -O0", "c.cc", cpp_source, cpp_any);
	check_run(of_cpp, "-std=c++20 -O0", "c.cc", cpp_source, cpp_plain);
	check_run(of_cpp, "-std=c++20 -O2", "c.cc", cpp_source, cpp_any);
}

/* check_codes() has seen what it is for, in what was heard so far. */
static void all_codes_were_seen(void **state)
{
	static const uint8_t codes[] = {
		CODE_INT + 2, CODE_UINT + 2, CODE_CHAR, CODE_GONE,
		CODE_TEXT,    CODE_POINTER,  CODE_BOOL, CODE_COMPUTED};

	(void)state;
	for (size_t i = 0; i < sizeof(codes); i++)
		if (!n_codes_seen[codes[i]])
			fail_msg("code %d was not seen", codes[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_of_plain_c_are_known),
		cmocka_unit_test(values_of_fast_c_are_known),
		cmocka_unit_test(results_behind_the_hook_are_computed),
		cmocka_unit_test(values_of_cpp_are_known),
		cmocka_unit_test(all_codes_were_seen),
	};

	return cmocka_run_group_tests(tests, builder_open, builder_close);
}
