/* SPDX-License-Identifier: MIT
 *
 * What the program says by cstrace.h, as records: the place's text, the values
 * just before each record and in the same chunk, the frames.  The scene is
 * played before the tests, which look at what it left.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include "traced.h"

enum { N_MESSAGES = 20000, MAX_TOLD = 100000 };

static struct mini_reader *reader;

/* A record of cstrace.h with its values. */
struct told {
	const struct cst_site *site;
	uint64_t sp;
	uint32_t n_values;
	uint8_t values[CST_VALUES_MAX];
};

static struct told *told;
static size_t n_told;

/* ---- the scene --------------------------------------------------------------
 */

struct pair {
	int a, b;
};

CSTRACE_FUNC(long, add, (int a, const char *b), (a, b), { return a + b[0]; })
CSTRACE_FUNC_VOID(shout, (void), (), { cstrace_log("loud"); })
CSTRACE_FUNC_VETO(-1, int, guarded, (int a), (a), { return a; })

QUIET static void light(void)
{
	CSTRACE_FUNCTION;
	cstrace_count("bytes", 512u);
}

QUIET static void play_values(void)
{
	char text[] = {'a', 'b', 'c', 'd'};
	char many[200];
	struct pair pair = {1, 2};
	void *nothing = NULL;

	memset(many, 'm', sizeof(many));
	many[sizeof(many) - 1] = 0;
	cstrace_log("%d %u %c %f %s %p", -3, 300u, 'x', 1.5, "yes", nothing);
	cstrace_log("%.2s|%.*s|%s", text, 3, text, (char *)NULL);
	cstrace_log("%s", many);
	CSTRACE_SPAN("values", "pair", pair, "truth", (_Bool)1, "small",
		     (short)-1, "long", 1ull << 60);
}

QUIET static int veto(const struct cstrace_call *call, void *data)
{
	(void)data;
	return call->can_veto ? CSTRACE_VETO : CSTRACE_GO_ON;
}

static volatile sig_atomic_t n_handled;

QUIET static void handle(int signo)
{
	(void)signo;
	cstrace_log("handler %d %s", (int)n_handled, "0123456789abcdef");
	n_handled++;
}

/* Messages of many lengths, and a handler's own at any point. */
QUIET static void play_many(void)
{
	static const char text[] = "0123456789012345678901234567890123456789";
	struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};

	signal(SIGALRM, handle);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < N_MESSAGES; i++)
		cstrace_log("many %d %s", i, text + i % 40);
	setitimer(ITIMER_REAL, &never, NULL);
}

QUIET static int play(void **state)
{
	sigset_t alarms;
	int callback;

	(void)state;
	/* The reader's thread is not to handle them. */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	reader = reader_start(8, 1);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	shim_mode(reader_path(reader), CST_MODE_RING);
	{
		CSTRACE_SPAN("outer", "n", 1);
		CSTRACE_BEGIN(inner, "inner");
		CSTRACE_END(inner, 7);
	}
	add(1, "b");
	shout();
	light();
	play_values();
	CSTRACE_ASYNC_BEGIN("request", 77, "file", "x");
	CSTRACE_ASYNC_END("request", 77);
	guarded(3);
	callback = cstrace_on_enter(veto, NULL);
	guarded(4);
	cstrace_off(callback);
	cstrace_stop();
	cstrace_log("while stopped");
	cstrace_start();
	cstrace_log("after it");
	play_many();
	shim_mode(NULL, CST_MODE_OFF);
	cstrace_log("while off");
	reader_stop(reader);
	return 0;
}

/* ---- reading ----------------------------------------------------------------
 */

QUIET static void six_bytes(uint64_t from, uint8_t *to)
{
	for (int i = 0; i < 6; i++)
		to[i] = (uint8_t)(from >> (8 * i));
}

QUIET static void read_all(void)
{
	struct stream *s = reader_my_stream(reader);
	static uint8_t text[1 << 16];
	size_t n_text = 0;

	told = calloc(MAX_TOLD, sizeof(*told));
	for (size_t i = 0; i < s->n && n_told < MAX_TOLD; i++) {
		const struct cst_record *r = &s->records[i];
		struct told *t = &told[n_told];

		if (cst_record_site(r) == CST_TEXT) {
			assert_true(n_text + CST_TEXT_BYTES <= sizeof(text));
			six_bytes(cst_record_sp(r), text + n_text);
			six_bytes(cst_record_fp(r), text + n_text + 6);
			n_text += CST_TEXT_BYTES;
			continue;
		}
		if (cst_record_site(r) < CST_FIRST_SITE)
			continue;
		t->site = record_site(reader, r);
		if (t->site->kind < CST_SPAN)
			continue;
		t->sp = cst_record_sp(r);
		t->n_values = (uint32_t)cst_record_fp(r);
		/* No texts but its own. */
		assert_in_range(t->n_values, n_text ? n_text - 11 : 0, n_text);
		memcpy(t->values, text + n_text - t->n_values, t->n_values);
		n_text = 0;
		n_told++;
	}
}

/* Part i of a place's text. */
QUIET static const char *part(const struct told *t, int i)
{
	const char *text = (const char *)reader_area(reader) + CST_AT_TEXT +
			   t->site->hook - 1;

	assert_true(t->site->hook);
	while (i--)
		text += strlen(text) + 1;
	return text;
}

enum { NAME, FILE_NAME, LINE, FUNCTION, VALUES, CODE };

/* The i-th of those with that kind and name. */
QUIET static const struct told *find(int kind, const char *name, int i)
{
	if (!told)
		read_all();
	for (size_t k = 0; k < n_told; k++)
		if (told[k].site->kind == kind &&
		    !strcmp(part(&told[k], NAME), name) && !i--)
			return &told[k];
	fail_msg("no %s of kind %d", name, kind);
	return NULL;
}

QUIET static void check_values(const struct told *t, const char *bytes,
			       uint32_t n)
{
	assert_int_equal(t->n_values, n);
	assert_memory_equal(t->values, bytes, n);
}
#define VALUES_ARE(t, bytes) check_values(t, bytes, sizeof(bytes) - 1)

/* ---- tests ------------------------------------------------------------------
 */

static void a_place_tells_where_it_is(void **state)
{
	const struct told *t = find(CST_SPAN, "outer", 0);

	(void)state;
	assert_non_null(strstr(part(t, FILE_NAME), "own_words.c"));
	assert_true(atoi(part(t, LINE)) > 0);
	assert_string_equal(part(t, FUNCTION), "play");
	assert_string_equal(part(t, VALUES), "n");
	assert_in_range(strtoull(part(t, CODE), NULL, 16), (uint64_t)play,
			(uint64_t)play + 8192);
	VALUES_ARE(t, "i\2");
}

static void an_end_has_the_place_of_its_begin(void **state)
{
	const struct told *begin = find(CST_SPAN, "inner", 0);
	const struct told *end = find(CST_SPAN_END, "inner", 0);

	(void)state;
	assert_true(begin < end);
	assert_true(end < find(CST_SPAN_END, "outer", 0));
	assert_int_equal(begin->site->callee + 1, end->site->callee);
	assert_int_equal(begin->site->callee % 8, 0);
	assert_int_equal(begin->site->hook, end->site->hook);
	VALUES_ARE(end, "i\16");
}

static void a_function_tells_arguments_and_result(void **state)
{
	const struct told *t = find(CST_CALL, "add", 0);
	const struct told *end = find(CST_CALL_END, "add", 0);

	(void)state;
	assert_string_equal(part(t, VALUES), "a,b");
	VALUES_ARE(t, "i\2s\1b");
	VALUES_ARE(end, "i\306\1");
	assert_in_range(t->site->caller, (uint64_t)play, (uint64_t)play + 8192);
	assert_int_equal(t->site->caller, end->site->caller);
	assert_string_equal(part(find(CST_CALL, "shout", 0), VALUES), "");
	/* Its message lies within it. */
	assert_true(find(CST_MESSAGE, "loud", 0)->sp <=
		    find(CST_CALL, "shout", 0)->sp);
}

static void a_first_line_is_enough(void **state)
{
	(void)state;
	assert_true(find(CST_CALL, "light", 0) < find(CST_COUNT, "bytes", 0));
	assert_true(find(CST_COUNT, "bytes", 0) <
		    find(CST_CALL_END, "light", 0));
	VALUES_ARE(find(CST_COUNT, "bytes", 0), "u\200\4");
}

static void values_have_their_types(void **state)
{
	(void)state;
	VALUES_ARE(find(CST_MESSAGE, "%d %u %c %f %s %p", 0),
		   "i\5u\254\2i\360\1f\0\0\0\0\0\0\370\77s\3yesp\0");
	VALUES_ARE(find(CST_SPAN, "values", 0),
		   "?b\1i\1u\200\200\200\200\200\200\200\200\20");
}

static void texts_are_read_no_farther_than_printf_would(void **state)
{
	const struct told *t = find(CST_MESSAGE, "%.2s|%.*s|%s", 0);

	(void)state;
	VALUES_ARE(t, "s\2abi\6s\3abc0");
	t = find(CST_MESSAGE, "%s", 0);
	assert_int_equal(t->n_values, 3 + CST_VALUE_TEXT_MAX);
	assert_memory_equal(t->values, "S\200\1mmm", 6);
}

static void a_span_of_two_threads_has_its_number(void **state)
{
	const struct told *t = find(CST_ASYNC, "request", 0);

	(void)state;
	assert_string_equal(part(t, VALUES), "id,file");
	VALUES_ARE(t, "uMs\1x");
	VALUES_ARE(find(CST_ASYNC_END, "request", 0), "uM");
}

static void a_veto_ends_the_call(void **state)
{
	const struct told *t = find(CST_CALL, "guarded", 1);

	(void)state;
	VALUES_ARE(find(CST_CALL_END, "guarded", 0), "i\6");
	assert_ptr_equal(find(CST_VETO, "guarded", 0), t + 1);
	assert_int_equal(t[1].site->callee % 8, 3);
	assert_int_equal(t[1].site->hook, t->site->hook);
	for (size_t i = 0; i < n_told; i++)
		assert_false(&told[i] > t &&
			     told[i].site->kind == CST_CALL_END);
}

static void stopping_stops(void **state)
{
	(void)state;
	find(CST_MESSAGE, "after it", 0);
	for (size_t i = 0; i < n_told; i++)
		assert_null(strstr(part(&told[i], NAME), "while"));
}

/* However chunks end and handlers come, each record has its own values. */
static void no_value_is_mixed_up(void **state)
{
	int n = 0, n_handlers = 0;

	(void)state;
	if (!told)
		read_all();
	for (size_t i = 0; i < n_told; i++) {
		const struct told *t = &told[i];
		uint32_t v, length;
		uint8_t bytes[16];

		if (t->site->kind != CST_MESSAGE)
			continue;
		n_handlers += !strcmp(part(t, NAME), "handler %d %s");
		if (strcmp(part(t, NAME), "many %d %s"))
			continue;
		v = (uint32_t)n << 1;
		length = 0;
		bytes[length++] = 'i';
		for (; v >= 0x80; v >>= 7)
			bytes[length++] = (uint8_t)(v | 0x80);
		bytes[length++] = (uint8_t)v;
		bytes[length++] = 's';
		bytes[length++] = (uint8_t)(40 - n % 40);
		assert_memory_equal(t->values, bytes, length);
		assert_int_equal(t->n_values, length + 40 - n % 40);
		n++;
	}
	assert_int_equal(n, N_MESSAGES);
	assert_int_equal(n_handlers, n_handled);
	assert_true(n_handled > 0);
	assert_int_equal(reader_area(reader)->n_lost_full, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_tells_where_it_is),
		cmocka_unit_test(an_end_has_the_place_of_its_begin),
		cmocka_unit_test(a_function_tells_arguments_and_result),
		cmocka_unit_test(a_first_line_is_enough),
		cmocka_unit_test(values_have_their_types),
		cmocka_unit_test(texts_are_read_no_farther_than_printf_would),
		cmocka_unit_test(a_span_of_two_threads_has_its_number),
		cmocka_unit_test(a_veto_ends_the_call),
		cmocka_unit_test(stopping_stops),
		cmocka_unit_test(no_value_is_mixed_up),
	};

	return cmocka_run_group_tests(tests, play, NULL);
}
