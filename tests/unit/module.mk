# SPDX-License-Identifier: MIT
UNIT_MODULE_TESTS := test_frames test_demangle
