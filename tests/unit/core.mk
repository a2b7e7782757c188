# SPDX-License-Identifier: MIT
UNIT_CORE_TESTS := test_gone test_callstack test_alternate test_clock test_reader test_recorder test_plain test_stepout

# A frame is told by what matters of it.
test_callstack_CFLAGS := -Wno-missing-field-initializers
test_alternate_CFLAGS := -Wno-missing-field-initializers

# Traced by the shim that it links.
test_recorder_CFLAGS := -finstrument-functions
test_recorder_LIBS = $(BUILD)/libcstrace.so -Wl,-rpath,'$$ORIGIN/../..'
