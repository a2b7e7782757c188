# SPDX-License-Identifier: MIT
UNIT_FILE_TESTS := test_names test_simple test_regexes test_filter test_row test_writer test_trace \
	test_view test_fold test_window test_report test_graph test_badfile test_hostile
UNIT_FILE_TESTS += test_stacks test_heldfile \
	test_diff test_expect
