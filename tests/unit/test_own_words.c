/* SPDX-License-Identifier: MIT
 *
 * What a program says by cstrace.h, from its records to rows: live, and from
 * the file.
 */
#include "words_builder.h"

#include "cstrace/engine.h"

static const struct cst_look no_times = {.callsite = 1};
static const struct cst_choice all = {.std = 1};

struct output {
	char text[1 << 21];
	size_t n;
};

static int collect(void *arg, const char *text, uint64_t size)
{
	struct output *o = arg;

	if (o->n + size < sizeof(o->text)) {
		memcpy(o->text + o->n, text, size);
		o->n += size;
		o->text[o->n] = 0;
	}
	return 0;
}

/* Without the lines of the heading. */
static const char *body(const char *text)
{
	while (*text == '#' && strchr(text, '\n'))
		text = strchr(text, '\n') + 1;
	return text;
}

static void assert_shows_as(struct cst_trace *t, const struct cst_look *look,
			    const char *expected)
{
	static struct output o;
	struct cst_error err;

	o = (struct output){.n = 0};
	assert_true(cst_trace_show(t, look, &all, collect, &o, &err) >= 0);
	assert_string_equal(body(o.text), expected);
}

static void assert_shows(struct said *p, const char *expected)
{
	struct cst_trace *t = said_end(p);

	assert_shows_as(t, &no_times, expected);
	cst_trace_free(t);
}

/* ---- rows -----------------------------------------------------------------
 */

static void a_span_holds_what_is_said_in_it(void **state)
{
	struct said p;
	uint32_t load, end, log;

	(void)state;
	said_begin(&p);
	load = said_place(&p, CST_SPAN, 0x5000,
			  "load|src/a.c|8|main|file,n|401010");
	end = said_place(&p, CST_SPAN_END, 0x5000, NULL);
	log = said_place(&p, CST_MESSAGE, 0x5100,
			 "queue is %s, n=%d|src/a.c|9|main||401010");
	SAID(&p, load, SP_OUTER, "s\005a.txti\006");
	SAID(&p, log, SP_OUTER, "s\004fulli\005");
	said_record(&p, end, SP_OUTER, 0);
	SAID(&p, log, SP_OUTER, "s\005emptyi\000");
	assert_shows(&p, "span load(file=\"a.txt\", n=3)  a.c:8\n"
			 "  log: queue is full, n=-3  a.c:9\n"
			 "log: queue is empty, n=0  a.c:9\n");
}

static void a_function_that_reports_itself_is_a_call(void **state)
{
	struct said p;
	struct cst_trace *t;
	struct cst_status_report status;
	uint32_t abc, end, veto, outer;

	(void)state;
	said_begin(&p);
	outer = said_place(&p, CST_CALL, 0x5000, "run|a.c|3|run||401010");
	abc = said_place(&p, CST_CALL, 0x5100, "abc|a.c|5|abc|a,b|402010");
	end = said_place(&p, CST_CALL_END, 0x5100, NULL);
	veto = said_place(&p, CST_VETO, 0x5100, NULL);
	said_record(&p, outer, SP_OUTER, 0);
	SAID(&p, abc, SP_INNER, "i\002i\004");
	SAID(&p, end, SP_INNER, "i\006");
	SAID(&p, abc, SP_INNER, "i\002i\001");
	SAID(&p, veto, SP_INNER, "i\000");
	t = said_end(&p);
	assert_shows_as(t, &no_times,
			"run\n"
			"  abc(a=1, b=2) = 3\n"
			"  abc(a=1, b=-1) = 0  (vetoed)\n");
	cst_trace_status(t, &status);
	assert_int_equal(status.n_calls, 3);
	cst_trace_free(t);
}

static void an_asynchronous_span_ends_where_it_likes(void **state)
{
	struct said p;
	uint32_t begin, end;

	(void)state;
	said_begin(&p);
	begin = said_place(&p, CST_ASYNC, 0x5000,
			   "request|a.c|3|f|id,from|401010");
	end = said_place(&p, CST_ASYNC_END, 0x5100,
			 "request|b.c|4|g|id|401010");
	SAID(&p, begin, SP_OUTER, "u\007s\001x");
	SAID(&p, end, SP_INNER, "u\007");
	SAID(&p, end, SP_INNER, "u\007");
	assert_shows(&p, "span request #7(from=\"x\")  a.c:3\n"
			 "end of span request #7  b.c:4\n"
			 "end of span request #7  b.c:4\n");
}

static void a_counter_has_its_value(void **state)
{
	struct said p;
	uint32_t bytes;

	(void)state;
	said_begin(&p);
	bytes = said_place(&p, CST_COUNT, 0x5000, "bytes|a.c|3|f||401010");
	SAID(&p, bytes, SP_OUTER, "u\200\004");
	SAID(&p, bytes, SP_OUTER, "f\0\0\0\0\0\0\344?");
	assert_shows(&p, "count bytes = 512  a.c:3\n"
			 "count bytes = 0.625  a.c:3\n");
}

/* ---- live -----------------------------------------------------------------
 */

static void live_rows_have_the_values(void **state)
{
	struct said p;
	struct cst_error err;
	uint32_t load, end, log;

	(void)state;
	said_begin(&p);
	assert_int_equal(cst_recorder_live(p.r, 1, CST_SINK_CALLBACK, -1,
					   &no_times, &all, &err),
			 0);
	load = said_place(&p, CST_SPAN, 0x5000, "load|a.c|8|main|file|401010");
	end = said_place(&p, CST_SPAN_END, 0x5000, NULL);
	log = said_place(&p, CST_MESSAGE, 0x5100, "100%%|a.c|9|main||401010");
	SAID(&p, load, SP_OUTER, "s\005a.txt");
	said_record(&p, log, SP_OUTER, 0);
	said_drain(&p);
	SAID(&p, end, SP_OUTER, "i\006");
	said_drain(&p);
	assert_string_equal(body(p.live), "span load(file=\"a.txt\")  a.c:8\n"
					  "  log: 100%  a.c:9\n"
					  "<- span load = 3\n");
	cst_trace_free(said_end(&p));
}

/* ---- formats --------------------------------------------------------------
 */

/* A use of everything in cstrace.h, in one thread. */
static void say_all(struct said *p)
{
	uint32_t load = said_place(p, CST_SPAN, 0x5000,
				   "load|src/a.c|8|main|file,n|401010");
	uint32_t load_end = said_place(p, CST_SPAN_END, 0x5000, NULL);
	uint32_t log = said_place(p, CST_MESSAGE, 0x5100,
				  "%s: %u|src/a.c|9|main|what,n|401010");
	uint32_t count =
		said_place(p, CST_COUNT, 0x5200, "bytes|a.c|3|f||401010");
	uint32_t abc =
		said_place(p, CST_CALL, 0x5300, "abc|a.c|5|abc|a|402010");
	uint32_t abc_end = said_place(p, CST_CALL_END, 0x5300, NULL);
	uint32_t veto = said_place(p, CST_VETO, 0x5300, NULL);
	uint32_t open =
		said_place(p, CST_CALL, 0x5600,
			   "open|a.c|6|open|p,x,q,y,mode,v,w,n,m|402010");
	uint32_t open_end = said_place(p, CST_CALL_END, 0x5600, NULL);
	uint32_t begin =
		said_place(p, CST_ASYNC, 0x5400, "request|a.c|3|f|id|401010");
	uint32_t end = said_place(p, CST_ASYNC_END, 0x5500,
				  "request|a.c|4|f|id|401010");

	SAID(p, load, SP_OUTER, "s\007\"a\".txti\006");
	SAID(p, log, SP_OUTER, "s\003fewu\007");
	SAID(p, count, SP_OUTER, "u\011");
	SAID(p, begin, SP_OUTER, "u\007");
	SAID(p, abc, SP_INNER, "b\001");
	SAID(p, abc_end, SP_INNER, "f\0\0\0\0\0\0\370\177");
	SAID(p, abc, SP_INNER, "?");
	said_record(p, veto, SP_INNER, 0);
	SAID(p, open, SP_INNER,
	     "{i\002{s\001b}}n\004READ[\005i\002i\004][\001{c!}]o?");
	SAID(p, open_end, SP_INNER, "n\004DONE");
	SAID(p, end, SP_OUTER, "u\007");
	said_record(p, load_end, SP_OUTER, 0);
}

static void write_as(struct cst_trace *t, const char *format, struct output *o)
{
	struct cst_error err = {""};

	o->n = 0;
	if (cst_trace_write(t, format, &no_times, &all, collect, o, &err) < 0)
		fail_msg("%s: %s", format, err.text);
}

static void assert_has(const struct output *o, const char *expected)
{
	if (!strstr(o->text, expected))
		fail_msg("'%s' is not in\n%s", expected, o->text);
}

static void formats_have_the_values(void **state)
{
	static struct output o;
	struct said p;
	struct cst_trace *t;

	(void)state;
	said_begin(&p);
	say_all(&p);
	t = said_end(&p);
	write_as(t, "jsonl", &o);
	assert_has(&o, "\"kind\":\"span\",\"function\":\"span load\","
		       "\"name\":\"load\"");
	assert_has(&o, "\"args\":{\"file\":\"\\\"a\\\".txt\",\"n\":3}");
	assert_has(&o, "\"kind\":\"log\"");
	assert_has(&o, "\"text\":\"few: 7\",\"args\":{\"what\":\"few\","
		       "\"n\":7}");
	assert_has(&o, "\"kind\":\"count\"");
	assert_has(&o, "\"value\":9");
	assert_has(&o, "\"args\":{\"a\":true},\"result\":\"nan\"");
	assert_has(&o, "\"args\":{\"p\":{\"x\":1,\"q\":{\"y\":\"b\"}},"
		       "\"mode\":\"READ\",\"v\":{\"size\":5,"
		       "\"head\":[1,2]},\"w\":{\"size\":1,"
		       "\"head\":[{\"1\":\"!\"}]},"
		       "\"n\":\"<optimized out>\","
		       "\"m\":\"<cannot read>\"},\"result\":\"DONE\"");
	assert_has(&o, "\"end\":\"vetoed\"");
	assert_has(&o, "\"async\":7");
	write_as(t, "json", &o);
	assert_has(&o, "\"name\":\"load\",\"cat\":\"span\"");
	assert_has(&o, "\"values\":{\"file\":\"\\\"a\\\".txt\",\"n\":3}");
	assert_has(&o, "\"values\":{\"p\":{\"x\":1,\"q\":{\"y\":\"b\"}},");
	assert_has(&o, "\"result\":\"DONE\"");
	assert_has(&o, "{\"ph\":\"i\",\"s\":\"t\"");
	assert_has(&o, "\"name\":\"few: 7\"");
	assert_has(&o, "{\"ph\":\"C\"");
	assert_has(&o, "{\"ph\":\"b\"");
	assert_has(&o, "{\"ph\":\"e\"");
	assert_has(&o, "\"cat\":\"span\",\"id\":\"7\"");
	cst_trace_free(t);
}

static void otlp_has_the_values(void **state)
{
	static struct output o;
	struct said p;
	struct cst_trace *t;

	(void)state;
	said_begin(&p);
	say_all(&p);
	t = said_end(&p);
	write_as(t, "otlp", &o);
	assert_has(&o, "\"name\":\"load\"");
	assert_has(&o, "{\"key\":\"cstrace.value.n\",\"value\":"
		       "{\"intValue\":\"3\"}}");
	assert_has(&o, "\"name\":\"few: 7\"");
	assert_has(&o, "{\"key\":\"cstrace.value.p.x\",\"value\":"
		       "{\"intValue\":\"1\"}},"
		       "{\"key\":\"cstrace.value.p.q.y\",\"value\":"
		       "{\"stringValue\":\"b\"}},"
		       "{\"key\":\"cstrace.value.mode\",\"value\":"
		       "{\"stringValue\":\"READ\"}},"
		       "{\"key\":\"cstrace.value.v\",\"value\":"
		       "{\"arrayValue\":{\"values\":[{\"intValue\":\"1\"},"
		       "{\"intValue\":\"2\"}]}}},"
		       "{\"key\":\"cstrace.value.v.size\",\"value\":"
		       "{\"intValue\":\"5\"}},"
		       "{\"key\":\"cstrace.value.w\",\"value\":"
		       "{\"arrayValue\":{\"values\":["
		       "{\"stringValue\":\"{'!'}\"}]}}},");
	assert_has(&o, "{\"key\":\"cstrace.result\",\"value\":"
		       "{\"stringValue\":\"DONE\"}}");
	assert_has(&o, "\"events\":[{");
	cst_trace_free(t);
}

/* Whatever the bytes are. */
static void bytes_that_are_no_values_do_no_harm(void **state)
{
	static const char *const formats[] = {
		"jsonl",      "json",	   "otlp", "folded",
		"speedscope", "callgrind", "dot"};
	static struct output o;
	struct said p;
	struct cst_trace *t;
	uint32_t sites[9];
	uint64_t seed = 11;

	(void)state;
	said_begin(&p);
	for (uint32_t i = 0; i < 9; i++)
		sites[i] = said_place(
			&p, (enum cst_kind)(CST_SPAN + i), 0x5000 + i / 2 * 16,
			i % 4 ? "%s %5.3d%*c%n%p%%%|a.c|x|f|,,\xff,a|zz"
			      : NULL);
	for (int i = 0; i < 150; i++) {
		static const char tags[] = "iuxpfcbsS0?dqno{}[]";
		uint8_t bytes[64];
		uint32_t n;

		for (n = 0; n < sizeof(bytes); n++) {
			seed = seed * 6364136223846793005u + 1;
			bytes[n] = seed >> 40 & 1
					   ? (uint8_t)(seed >> 48)
					   : (uint8_t)tags[(seed >> 48) % 19];
		}
		said(&p, sites[(seed >> 32) % 9],
		     SP_OUTER - (seed >> 20) % 8 * 16, bytes,
		     (uint32_t)(seed >> 24) % 64);
	}
	t = said_end(&p);
	for (uint32_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		write_as(t, formats[i], &o);
	o.n = 0;
	assert_true(cst_trace_show(t, &(struct cst_look){.fold = 1}, &all,
				   collect, &o, &(struct cst_error){""}) > 0);
	cst_trace_free(t);
}

/* ---- from gdb -------------------------------------------------------------
 */

static void a_message_of_gdbs_is_where_the_thread_stands(void **state)
{
	const uint32_t tid = (uint32_t)getpid();
	struct cst_error err;
	struct said p;
	uint32_t load, end;

	(void)state;
	said_begin(&p);
	load = said_place(&p, CST_SPAN, 0x5000, "load|a.c|8|main||401010");
	end = said_place(&p, CST_SPAN_END, 0x5000, NULL);
	said_record(&p, load, SP_OUTER, 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(cst_recorder_message(p.r, tid, tid, "src/b.c",
						      5, "log", "n is {n}",
						      i ? "n is 7" : "n is %d",
						      &err),
				 1);
	p.time = __builtin_ia32_rdtsc();
	said_record(&p, end, SP_OUTER, 0);
	assert_shows(&p, "span load  a.c:8\n"
			 "  log: n is %d  b.c:5\n"
			 "  log: n is 7  b.c:5\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_span_holds_what_is_said_in_it),
		cmocka_unit_test(a_function_that_reports_itself_is_a_call),
		cmocka_unit_test(an_asynchronous_span_ends_where_it_likes),
		cmocka_unit_test(a_counter_has_its_value),
		cmocka_unit_test(live_rows_have_the_values),
		cmocka_unit_test(formats_have_the_values),
		cmocka_unit_test(otlp_has_the_values),
		cmocka_unit_test(bytes_that_are_no_values_do_no_harm),
		cmocka_unit_test(a_message_of_gdbs_is_where_the_thread_stands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
