/* SPDX-License-Identifier: MIT
 *
 * Rows and numbers as text.
 */
#include "trace_builder.h"

#include "base/number.h"
#include "rows/row.h"

static const char *duration(uint64_t ns)
{
	static char text[64];

	*number_put_duration(text, ns) = '\0';
	return text;
}

static void durations_are_scaled_and_aligned(void **state)
{
	(void)state;
	assert_string_equal(duration(0), "      0 ns");
	assert_string_equal(duration(999), "    999 ns");
	assert_string_equal(duration(1000), "  1.000 us");
	assert_string_equal(duration(999999), "999.999 us");
	assert_string_equal(duration(1000000), "  1.000 ms");
	assert_string_equal(duration(12345678), " 12.345 ms");
	assert_string_equal(duration(1000000000), "   1.000 s");
	assert_string_equal(duration(9999999999999), "9999.999 s");
	assert_string_equal(duration(10000000000000), "   10000 s");
	assert_string_equal(duration(UINT64_MAX), "18446744073 s");
}

static void seconds_have_six_decimals(void **state)
{
	char text[64];

	(void)state;
	*number_put_seconds(text, 12345) = '\0';
	assert_string_equal(text, "   0.000012");
	*number_put_seconds(text, 1234567890123456) = '\0';
	assert_string_equal(text, "1234567.890123");
}

static void numbers_keep_their_width(void **state)
{
	char text[64];

	(void)state;
	*number_put(text, UINT64_MAX) = '\0';
	assert_string_equal(text, "18446744073709551615");
	*number_put_wide(text, 0, 3) = '\0';
	assert_string_equal(text, "  0");
	*number_put_wide(text, 12345, 3) = '\0';
	assert_string_equal(text, "12345");
}

struct sample {
	struct names *names;
	struct row row;
	struct cst_look look;
};

static void sample_begin(struct sample *s, const char *name, const char *file,
			 uint32_t line)
{
	*s = (struct sample){.names = names_new(), .look = draft_look};
	names_add_site(s->names, names_add_function(s->names, 0x1000));
	names_set_function(s->names, 0, name, NULL, NULL, NULL);
	names_set_site(s->names, 0, file, line);
	s->row = (struct row){
		.names = s->names, .time_ns = 12345, .duration_ns = 3210};
}

static const char *formatted(const struct sample *s)
{
	static char text[ROW_MAX + 1];
	uint64_t len = row_format(&s->row, &s->look, text);

	assert_true(len <= ROW_MAX);
	text[len] = '\0';
	return text;
}

static void check_row(struct sample *s, const char *expected)
{
	assert_string_equal(formatted(s), expected);
	names_free(s->names);
}

static void a_call_is_one_row(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "parse(char const*)", "/src/lib/app.c", 42);
	s.row.depth = 2;
	check_row(&s, "   0.000012    3.210 us      parse  app.c:42\n");
}

static void names_are_full_on_demand(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "parse(char const*)", NULL, 0);
	s.look.names = CST_NAMES_FULL;
	check_row(&s, "   0.000012    3.210 us  parse(char const*)\n");
}

static void open_seed_unwound_and_estimated_are_said(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", "a.c", 1);
	s.row.kind = ROW_OPEN;
	check_row(&s, "   0.000012        open  f  a.c:1\n");
	sample_begin(&s, "f", "a.c", 1);
	s.row.is_seed = 1;
	check_row(&s, "     before    3.210 us  f  a.c:1\n");
	sample_begin(&s, "f", "a.c", 1);
	s.row.is_unwound = 1;
	check_row(&s, "   0.000012    3.210 us  f  a.c:1  (unwound)\n");
	sample_begin(&s, "f", "a.c", 1);
	s.row.is_estimated = 1;
	check_row(&s, "   0.000012    3.210 us~ f  a.c:1\n");
	sample_begin(&s, "f", "a.c", 1);
	s.row.kind = ROW_CLOSE;
	check_row(&s, "   0.000012    3.210 us  <- f\n");
}

static void tag_or_id_have_a_cell_of_one_width(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", NULL, 0);
	s.row.process = 1;
	s.row.thread = 2;
	s.row.number = 17;
	s.row.cell = (struct row_cell){.width = 8, .has_threads = 1};
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  t2        f\n");
	s.look.id = 1;
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  2.17      f\n");
	s.row.is_seed = 1;
	assert_string_equal(formatted(&s),
			    "     before    3.210 us  2.s17     f\n");
	s.row.process = 3;
	check_row(&s, "     before    3.210 us  3:2.s17   f\n");
}

static void a_tag_is_explained(void **state)
{
	struct cst_look look = {0};
	char text[ROW_MAX];

	(void)state;
	text[row_note(1, 2, "work\ner", 1234, &look, text)] = '\0';
	assert_string_equal(text, "# t2: work\\x0aer (1234)\n");
	text[row_note(2, 1, "child", 5, &look, text)] = '\0';
	assert_string_equal(text, "# p2:t1: child (5)\n");
	look.id = 1;
	text[row_note(1, 2, "worker", 1234, &look, text)] = '\0';
	assert_string_equal(text, "# t2: worker (1234), IDs 2.N\n");
	text[row_note(2, 1, "child", 5, &look, text)] = '\0';
	assert_string_equal(text, "# p2:t1: child (5), IDs 2:1.N\n");
}

static void no_thread_is_red(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", NULL, 0);
	s.look.color = 1;
	s.row.cell = (struct row_cell){.width = 2, .has_threads = 1};
	for (s.row.thread_color = 0; s.row.thread_color < 20;
	     s.row.thread_color++) {
		assert_non_null(strstr(formatted(&s), "\033[3"));
		assert_null(strstr(formatted(&s), "\033[31m"));
	}
	names_free(s.names);
}

static void overloads_are_told_apart_where_both_are(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f(int)", NULL, 0);
	names_set_function(s.names, names_add_function(s.names, 2), "g(char)",
			   NULL, NULL, NULL);
	assert_string_equal(formatted(&s), "   0.000012    3.210 us  f\n");
	names_set_function(s.names, names_add_function(s.names, 3),
			   "f(long) const", NULL, NULL, NULL);
	assert_string_equal(formatted(&s), "   0.000012    3.210 us  f(int)\n");
	/* Only where that tells two apart is there what follows them. */
	names_add_site(s.names, 2);
	s.row.site = s.row.from = 1;
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  f(long)\n");
	names_set_function(s.names, names_add_function(s.names, 4), "f(long)",
			   NULL, NULL, NULL);
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  f(long) const\n");
	names_free(s.names);
}

static void classes_of_one_name_are_told_apart(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "db::log::Writer::~Writer()", NULL, 0);
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  Writer::~Writer\n");
	names_set_function(s.names, names_add_function(s.names, 2),
			   "db::Impl::Writer::~Writer()", NULL, NULL, NULL);
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  log::Writer::~Writer\n");
	/* One holder more is not always enough. */
	names_set_function(s.names, names_add_function(s.names, 3),
			   "app::log::Writer::~Writer()", NULL, NULL, NULL);
	check_row(&s, "   0.000012    3.210 us  db::log::Writer::~Writer\n");
}

static void destructors_of_one_name_are_told_apart(void **state)
{
	struct sample s;
	uint32_t id;

	(void)state;
	sample_begin(&s, "A::~A()", NULL, 0);
	names_set_function(s.names, 0, "A::~A()", "_ZN1AD2Ev", NULL, NULL);
	assert_string_equal(formatted(&s), "   0.000012    3.210 us  A::~A\n");
	id = names_add_function(s.names, 2);
	names_add_site(s.names, id);
	names_set_function(s.names, id, "A::~A()", "_ZN1AD0Ev", NULL, NULL);
	assert_string_equal(formatted(&s), "   0.000012    3.210 us  A::~A\n");
	s.row.site = s.row.from = 1;
	assert_string_equal(formatted(&s),
			    "   0.000012    3.210 us  A::~A [deleting]\n");
	id = names_add_function(s.names, 3);
	names_set_function(s.names, id, "A::~A()", "_ZN1AD1Ev", NULL, NULL);
	s.row.site = s.row.from = 0;
	check_row(&s, "   0.000012    3.210 us  A::~A [base]\n");
}

static void places_are_links_where_wanted(void **state)
{
	struct sample s;
	char *row;

	(void)state;
	sample_begin(&s, "f", "/src/a b\\.c", 7);
	s.look = (struct cst_look){.callsite = 1, .links = 1};
	row = (char *)formatted(&s);
	assert_memory_equal(row, "f  \033]8;;file://", 15);
	assert_non_null(strstr(row, "/src/a%20b%5C.c\033\\a b\\.c:7\033]8;;"
				    "\033\\\n"));
	/* A link has the width of its text, and is ended where it is cut. */
	s.look.width = 20;
	assert_non_null(strstr(formatted(&s), ".c:7\033]8"));
	names_free(s.names);
	sample_begin(&s, "f", "a.c", 7);
	s.look = (struct cst_look){.callsite = 1, .links = 1};
	check_row(&s, "f  a.c:7\n");
	sample_begin(&s, "f", "/src/a_file_of_some_length.c", 7);
	s.look = (struct cst_look){.callsite = 1, .links = 1, .width = 20};
	row = (char *)formatted(&s);
	assert_non_null(strstr(row, "\033\\a_file_of_some...\033]8;;\033\\\n"));
	names_free(s.names);
}

/* What the row of a function with that name is cut to. */
static void check_cut(const char *name, unsigned width, const char *expected)
{
	struct sample s;

	sample_begin(&s, name, NULL, 0);
	s.look = (struct cst_look){.width = width};
	check_row(&s, expected);
}

static void rows_are_cut_to_the_width(void **state)
{
	(void)state;
	check_cut("f23456789012345678901234", 0, "f23456789012345678901234\n");
	check_cut("f23456789012345678901234", 24, "f23456789012345678901234\n");
	check_cut("f23456789012345678901234", 23, "f2345678901234567890...\n");
	/* Characters, not bytes; and some are two columns wide. */
	check_cut("\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc_f123456789_01", 20,
		  "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc_f123456789_01\n");
	check_cut("f123456789012345\xe4\xb8\xad\xe4\xb8\xad\xe4\xb8\xad", 20,
		  "f123456789012345...\n");
}

/* Escapes take no columns; what is cut ends them. */
static void cut_rows_end_their_colors(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", "a_file_of_some_length.c", 7);
	s.look = (struct cst_look){.callsite = 1, .color = 1, .width = 28};
	assert_string_equal(formatted(&s),
			    "f  \033[2ma_file_of_some_length.c:7\033[0m\n");
	s.look.width = 27;
	check_row(&s, "f  \033[2ma_file_of_some_length...\033[0m\n");
}

/* The place and how the call ended stay where there is room for them. */
static void what_was_called_is_cut_first(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f234567890123456789012345678901234567890", "a.c", 7);
	s.look = (struct cst_look){.callsite = 1, .width = 46};
	s.row.is_unwound = 1;
	s.row.n_folded = 2;
	assert_string_equal(formatted(&s),
			    "f23456789012345678901...  x2  a.c:7  (unwound)\n");
	s.look.width = 45;
	assert_string_equal(formatted(&s),
			    "f234567890123456789012345678901234567890  ...\n");
	s.look = (struct cst_look){.callsite = 1, .color = 1, .width = 50};
	check_row(&s, "f234567890123456789012345...\033[0m  x2  "
		      "\033[2ma.c:7\033[0m  (unwound)\n");
}

static void a_narrow_row_has_less_indentation(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", NULL, 0);
	s.look = (struct cst_look){.width = 80};
	s.row.depth = 12;
	assert_string_equal(formatted(&s), "                    f\n");
	s.row.depth = 13;
	check_row(&s, "                    [13] f\n");
}

static void a_narrow_look_has_fewer_columns(void **state)
{
	struct cst_look look = {.timestamp = 1, .duration = 1};

	(void)state;
	assert_true(row_look(&look).timestamp);
	look.width = 80;
	assert_true(row_look(&look).timestamp);
	look.width = 79;
	assert_false(row_look(&look).timestamp);
	assert_true(row_look(&look).duration);
	look.width = 47;
	assert_false(row_look(&look).duration);
}

static void folded_rows_tell_how_many(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", "a.c", 7);
	s.row.n_folded = 120;
	check_row(&s, "   0.000012    3.210 us  f  x120  a.c:7\n");
}

static void the_look_leaves_columns_out(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", "a.c", 7);
	s.look = (struct cst_look){0};
	check_row(&s, "f\n");
	sample_begin(&s, "f", "a.c", 7);
	s.look = (struct cst_look){.duration = 1};
	check_row(&s, "  3.210 us  f\n");
}

static void escape_codes_come_only_with_colour(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f\033[31m\n", "\001.c", 7);
	check_row(&s, "   0.000012    3.210 us  f\\x1b[31m\\x0a  \\x01.c:7\n");
	sample_begin(&s, "f", "a.c", 7);
	s.look.color = 1;
	assert_non_null(strchr(formatted(&s), '\033'));
	names_free(s.names);
}

static void text_stays_and_the_rest_is_escaped(void **state)
{
	struct sample s;

	(void)state;
	/* Valid UTF-8; a lone byte; an overlong slash; text turned round. */
	sample_begin(&s, "gr\xc3\xbc\xc3\x9f \xff \xc0\xaf \xe2\x80\xae", NULL,
		     0);
	check_row(&s, "   0.000012    3.210 us  gr\xc3\xbc\xc3\x9f \\xff "
		      "\\xc0\\xaf \\xe2\\x80\\xae\n");
}

static void a_long_name_is_cut(void **state)
{
	static char name[20001];
	struct sample s;

	(void)state;
	memset(name, '\001', sizeof(name) - 1);
	sample_begin(&s, name, name, UINT32_MAX);
	s.row.depth = UINT32_MAX;
	s.row.process = s.row.thread = UINT32_MAX;
	s.row.number = UINT64_MAX;
	s.row.cell = (struct row_cell){.width = 255, .has_threads = 1};
	s.look.id = 1;
	s.row.is_unwound = 1;
	s.row.n_folded = UINT64_MAX;
	s.row.time_ns = s.row.duration_ns = UINT64_MAX;
	s.look.color = 1;
	assert_non_null(strstr(formatted(&s), "...  x18446744073709551615"));
	names_free(s.names);
}

static void deep_calls_tell_their_depth(void **state)
{
	struct sample s;

	(void)state;
	sample_begin(&s, "f", NULL, 0);
	s.row.depth = 100000;
	assert_non_null(strstr(formatted(&s), "   [100000] f\n"));
	names_free(s.names);
}

/* Returns in how many blanks the tree shows the depth. */
static int blanks_at(uint32_t depth)
{
	struct sample s;
	int n;

	sample_begin(&s, "f", NULL, 0);
	s.look = (struct cst_look){0};
	s.row.depth = depth;
	n = (int)strspn(formatted(&s), " ");
	names_free(s.names);
	return n;
}

static void deep_levels_are_one_blank_wide(void **state)
{
	(void)state;
	for (int i = 0; i <= 8; i++)
		assert_int_equal(blanks_at((uint32_t)i), 2 * i);
	for (int i = 9; i <= 32; i++)
		assert_int_equal(blanks_at((uint32_t)i), 8 + i);
	assert_int_equal(blanks_at(33), 40);
}

static void headings_begin_with_a_hash(void **state)
{
	const struct row_cell cell = {.width = 2, .has_threads = 1};
	char text[ROW_MAX];
	uint64_t len = row_heading(&draft_look, &cell, 0, text);

	(void)state;
	text[len] = '\0';
	assert_int_equal(text[0], '#');
	assert_int_equal(strchr(text, '\n')[1], '#');
	assert_non_null(strstr(text, "DURATION"));
}

static void wall_times_are_local(void **state)
{
	struct sample s;

	(void)state;
	setenv("TZ", "UTC-2", 1);
	sample_begin(&s, "f", NULL, 0);
	s.look.timestamp = CST_TIME_WALL;
	s.row.time_ns = 1700000000123456789;
	check_row(&s, "00:13:20.123456    3.210 us  f\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_are_scaled_and_aligned),
		cmocka_unit_test(seconds_have_six_decimals),
		cmocka_unit_test(numbers_keep_their_width),
		cmocka_unit_test(a_call_is_one_row),
		cmocka_unit_test(open_seed_unwound_and_estimated_are_said),
		cmocka_unit_test(names_are_full_on_demand),
		cmocka_unit_test(tag_or_id_have_a_cell_of_one_width),
		cmocka_unit_test(a_tag_is_explained),
		cmocka_unit_test(no_thread_is_red),
		cmocka_unit_test(overloads_are_told_apart_where_both_are),
		cmocka_unit_test(classes_of_one_name_are_told_apart),
		cmocka_unit_test(destructors_of_one_name_are_told_apart),
		cmocka_unit_test(places_are_links_where_wanted),
		cmocka_unit_test(rows_are_cut_to_the_width),
		cmocka_unit_test(cut_rows_end_their_colors),
		cmocka_unit_test(what_was_called_is_cut_first),
		cmocka_unit_test(a_narrow_row_has_less_indentation),
		cmocka_unit_test(a_narrow_look_has_fewer_columns),
		cmocka_unit_test(folded_rows_tell_how_many),
		cmocka_unit_test(the_look_leaves_columns_out),
		cmocka_unit_test(escape_codes_come_only_with_colour),
		cmocka_unit_test(text_stays_and_the_rest_is_escaped),
		cmocka_unit_test(a_long_name_is_cut),
		cmocka_unit_test(deep_calls_tell_their_depth),
		cmocka_unit_test(deep_levels_are_one_blank_wide),
		cmocka_unit_test(headings_begin_with_a_hash),
		cmocka_unit_test(wall_times_are_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
