# SPDX-License-Identifier: MIT
UNIT_MODULE_TESTS := test_modules test_frames test_inlines test_damaged \
	test_demangle test_processor
