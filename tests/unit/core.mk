UNIT_CORE_TESTS := test_callstack test_reader
