# SPDX-License-Identifier: MIT
"""Made by tools/gen-abi from cstrace/control.h, plan_layout.h and engine.h.
Not to be edited."""

import ctypes as C

VERSION = 1659683754

CST_AREA_MAGIC = 3558236722533725283
CST_PLAN_MAGIC = 3561891473667683171

CST_LAYOUT = 17

CST_STATE_ASK = 0
CST_STATE_ON = 1
CST_STATE_OFF = 2
CST_STATE_SYNC = 3

CST_MODE_OFF = 0
CST_MODE_RING = 1
CST_MODE_BREAKPOINT = 2
CST_MODE_HANDSHAKE = 3


class cst_control(C.Structure):
    _fields_ = [
        ("magic", C.c_uint64),
        ("layout", C.c_uint32),
        ("mode", C.c_uint32),
        ("retire_start", C.c_uint64),
        ("retire_end", C.c_uint64),
        ("retire_seq", C.c_uint32),
        ("answer_state", C.c_uint32),
        ("answer_errno", C.c_int32),
        ("is_file", C.c_uint32),
        ("area_path", C.c_char * 256),
    ]


CST_MAX_STOPS = 32
CST_STOP_BITS = 12
CST_STOP_SLOTS = 4096

CST_STOP_ON = 1
CST_STOP_AT_EXIT = 2
CST_STOP_UNDER = 4
CST_STOP_UNWOUND = 8
CST_STOP_VALUES = 16
CST_STOP_RESULT = 32

CST_STOP_IS_ENTRY = 1
CST_STOP_IS_EXIT = 2
CST_STOP_IS_JUMP = 3
CST_STOP_ASKS_ENTRY = 4
CST_STOP_ASKS_EXIT = 5
CST_STOP_IS_UNWINDER = 6


class cst_stop(C.Structure):
    _fields_ = [
        ("flags", C.c_uint32),
        ("thread", C.c_uint32),
        ("depth", C.c_uint32),
        ("n_skipped", C.c_uint32),
        ("longer_ns", C.c_uint64),
        ("count", C.c_uint64),
        ("n_true", C.c_uint64),
    ]


class cst_stop_function(C.Structure):
    _fields_ = [
        ("callee", C.c_uint64),
        ("called", C.c_uint32),
        ("under", C.c_uint32),
    ]


class cst_stops(C.Structure):
    _fields_ = [
        ("pid", C.c_uint32),
        ("is_on", C.c_uint32),
        ("any", C.c_uint32),
        ("needs_open", C.c_uint32),
        ("stops", cst_stop * 32),
        ("functions", cst_stop_function * 4096),
    ]


CST_MAX_AGAIN = 32


class cst_reported(C.Structure):
    _fields_ = [
        ("sp", C.c_uint64),
        ("callee", C.c_uint64),
        ("hook", C.c_uint64),
    ]


class cst_again(C.Structure):
    _fields_ = [
        ("pid", C.c_uint32),
        ("n", C.c_uint32),
        ("all", cst_reported * 32),
    ]


CST_MAX_TESTS = 512
CST_TEST_STEPS = 8
CST_TEST_TEXT = 63
CST_TESTS_EACH = 16
CST_TEST_BITS = 9
CST_TEST_SLOTS = 512

CST_TEST_INT = 0
CST_TEST_UINT = 1
CST_TEST_TEXT_IS = 2
CST_TEST_TEXT_BEGINS = 3
CST_TEST_NULL = 4
CST_TEST_FLOAT = 5

CST_TEST_EQUAL = 0
CST_TEST_UNEQUAL = 1
CST_TEST_LESS = 2
CST_TEST_LESS_EQUAL = 3
CST_TEST_GREATER = 4
CST_TEST_GREATER_EQUAL = 5

CST_TEST_FALSE = 254
CST_TEST_TRUE = 255


class cst_test(C.Structure):
    _fields_ = [
        ("steps", C.c_uint64 * 8),
        ("add", C.c_int64),
        ("number", C.c_int64),
        ("kind", C.c_uint8),
        ("relation", C.c_uint8),
        ("at", C.c_uint8),
        ("size", C.c_uint8),
        ("width", C.c_uint8),
        ("is_widened", C.c_uint8),
        ("has_status", C.c_uint8),
        ("is_not", C.c_uint8),
        ("yes", C.c_uint8),
        ("no", C.c_uint8),
        ("n_text", C.c_uint8),
        ("text", C.c_char * 63),
    ]


class cst_test_place(C.Structure):
    _fields_ = [
        ("hook", C.c_uint64),
        ("stop", C.c_uint32),
        ("first", C.c_uint32),
    ]


CST_TEST_UNKNOWN = 65535


class cst_tests(C.Structure):
    _fields_ = [
        ("places", cst_test_place * 512),
        ("tests", cst_test * 512),
    ]


CST_MAX_PATCHED = 512

CST_PATCHES_WANTED = 0
CST_PATCHES_MAPPED = 1
CST_PATCHES_LED = 2


class cst_patched(C.Structure):
    _fields_ = [
        ("area", C.c_uint64),
        ("area_size", C.c_uint64),
        ("bias", C.c_uint64),
        ("moved", C.c_int64),
        ("sum", C.c_uint64),
        ("plan", C.c_char * 64),
    ]


class cst_patched_table(C.Structure):
    _fields_ = [
        ("n", C.c_uint64),
        ("all", cst_patched * 512),
    ]


CST_PLAN_VERSION = 37
CST_PLAN_BUILD_ID = 20
CST_PATCH_MAX = 16
CST_PLAN_AREA_PAGE = 4096
CST_PLAN_GATE = 8

CST_SLOT_ENTER = 0
CST_SLOT_EXIT = 1
CST_SLOT_TAIL = 2
CST_SLOT_FRAMED = 3
CST_SLOT_BEGUN = 4
CST_SLOT_BORDER_ENTER = 5
CST_SLOT_BORDER_EXIT = 6
CST_SLOT_BORDER_RETURN = 7
CST_SLOT_DEEP = 8
CST_SLOT_FRAMED_EXIT = 9
CST_SLOT_BORDER_TAIL = 10
CST_SLOT_BORDER_PASS = 11
CST_PLAN_SLOTS = 12

CST_PLAN_STEP_SLOT = 12
CST_PLAN_STEP_ROOM = 16
CST_PLAN_STEP_GATE = 112
CST_PLAN_BACK = 121
CST_PLAN_BACK_FRAMED = 124

CST_PATCHED_ENTRY = 1
CST_PATCHED_EXIT = 2
CST_PATCHED_TAIL = 3
CST_PATCHED_FRAMED = 4
CST_PATCHED_RETURN = 5
CST_PATCHED_BORDER = 6
CST_PATCHED_BEGUN = 7
CST_PATCHED_DEEP = 8
CST_PATCHED_FRAMED_EXIT = 9
CST_PATCHED_PASS = 10
CST_PATCHED_LAST = 15

CST_MOST_TAILS = 16

CST_PATCH_ENTRY = 0
CST_PATCH_EXIT = 1
CST_PATCH_TAIL = 2
CST_PATCH_LANDING = 3
CST_PATCH_HOST = 4

CST_PATCH_PUSHES = 1

CST_BORDER_SEEN = 43
CST_BORDER_ENDS = 61
CST_BORDER_OPEN = 126

CST_PLAN_TRACED = 0
CST_PLAN_UNREADABLE = 1
CST_PLAN_NO_FRAME = 2
CST_PLAN_ASSEMBLER = 3
CST_PLAN_RESTARTABLE = 4
CST_PLAN_NO_ROOM = 5
CST_PLAN_IMMOVABLE = 6
CST_PLAN_HOOKED = 7
CST_PLAN_OF_RUNTIME = 8
CST_PLAN_READ_BY_GDB = 9
CST_PLAN_CHOSEN_LATE = 10
CST_PLAN_UNUSUAL = 11
CST_PLAN_ENDS_OTHERS = 12
CST_PLAN_BEHIND_SHIM = 13
CST_PLAN_NO_STUB = 14
CST_PLAN_REASONS = 15


class cst_plan_part(C.Structure):
    _fields_ = [
        ("offset", C.c_uint32),
        ("n", C.c_uint32),
    ]


class cst_plan(C.Structure):
    _fields_ = [
        ("magic", C.c_uint64),
        ("version", C.c_uint32),
        ("size", C.c_uint32),
        ("build_id", C.c_uint8 * 20),
        ("build_id_size", C.c_uint32),
        ("image_at", C.c_uint64),
        ("image_size", C.c_uint64),
        ("area_at", C.c_int64),
        ("area_size", C.c_uint32),
        ("code_at", C.c_uint32),
        ("code_size", C.c_uint32),
        ("frames_at", C.c_uint32),
        ("frames_size", C.c_uint32),
        ("header_at", C.c_uint32),
        ("header_size", C.c_uint32),
        ("is_border", C.c_uint32),
        ("n_inlined", C.c_uint32),
        ("n_lineless", C.c_uint32),
        ("is_bare", C.c_uint32),
        ("handed", C.c_uint32),
        ("called", C.c_uint32),
        ("reserved", C.c_uint32),
        ("area", cst_plan_part),
        ("patches", cst_plan_part),
        ("copies", cst_plan_part),
        ("moves", cst_plan_part),
        ("functions", cst_plan_part),
        ("names", cst_plan_part),
    ]


class cst_patch(C.Structure):
    _fields_ = [
        ("address", C.c_uint64),
        ("function", C.c_uint32),
        ("trampoline", C.c_uint32),
        ("hook", C.c_uint32),
        ("end_hook", C.c_uint32),
        ("trampoline_size", C.c_uint16),
        ("kind", C.c_uint8),
        ("end_kind", C.c_uint8),
        ("length", C.c_uint8),
        ("moved", C.c_uint8),
        ("flags", C.c_uint8),
        ("reserved", C.c_uint8),
        ("old_bytes", C.c_uint8 * 16),
        ("new_bytes", C.c_uint8 * 16),
    ]


class cst_plan_copy(C.Structure):
    _fields_ = [
        ("address", C.c_uint64),
        ("copy", C.c_uint32),
        ("patch", C.c_uint32),
    ]


class cst_plan_function(C.Structure):
    _fields_ = [
        ("address", C.c_uint64),
        ("size", C.c_uint64),
        ("name", C.c_uint32),
        ("n_exits", C.c_uint32),
        ("n_missed", C.c_uint32),
        ("reason", C.c_uint16),
        ("ends_others", C.c_uint8),
        ("is_stub", C.c_uint8),
    ]


CST_PLAN_MAX_SEGMENTS = 32
CST_PLAN_ID_BLOCK = 4096
CST_PLAN_ID_SIZE = 12

CST_OK = 0
CST_FAILED = -1
CST_MEMORY = -2
CST_BAD_INPUT = -3
CST_BAD_FILE = -4
CST_INTERRUPTED = -5
CST_EMPTY = -6
CST_EXISTS = -7


class cst_error(C.Structure):
    _fields_ = [
        ("text", C.c_char * 512),
    ]


CST_TIME_OFF = 0
CST_TIME_ELAPSED = 1
CST_TIME_WALL = 2

CST_NAMES_SIMPLE = 0
CST_NAMES_FULL = 1

CST_COLOR_NONE = 0
CST_COLOR_RED = 1
CST_COLOR_GREEN = 2
CST_COLOR_YELLOW = 3
CST_COLOR_BLUE = 4
CST_COLOR_MAGENTA = 5
CST_COLOR_CYAN = 6


class cst_look(C.Structure):
    _fields_ = [
        ("timestamp", C.c_uint8),
        ("duration", C.c_uint8),
        ("callsite", C.c_uint8),
        ("color", C.c_uint8),
        ("fold", C.c_uint8),
        ("names", C.c_uint8),
        ("id", C.c_uint8),
        ("thread", C.c_uint8),
        ("links", C.c_uint8),
        ("reserved", C.c_uint8 * 3),
        ("width", C.c_uint32),
    ]


class cst_choice(C.Structure):
    _fields_ = [
        ("filter", C.c_char_p),
        ("exclude", C.c_char_p),
        ("min_ns", C.c_uint64),
        ("depth", C.c_uint32),
        ("std", C.c_uint8),
        ("names", C.c_uint8),
        ("samples", C.c_uint8),
        ("words", C.c_uint8),
        ("thread", C.c_uint32),
        ("process", C.c_uint32),
        ("last", C.c_uint64),
        ("around", C.c_char_p),
        ("root", C.c_char_p),
        ("from_", C.c_char_p),
        ("until", C.c_char_p),
        ("file", C.c_char_p),
        ("module", C.c_char_p),
        ("range_from_ns", C.c_uint64),
        ("range_until_ns", C.c_uint64),
        ("unfold", C.c_char_p),
        ("at_ns", C.c_uint64),
        ("has_at", C.c_uint8),
        ("reserved2", C.c_uint8 * 7),
        ("where", C.c_char_p),
    ]


CST_ASK_FUNCTION = 1
CST_ASK_LINE = 2


class cst_question(C.Structure):
    _fields_ = [
        ("addr", C.c_uint64),
        ("id", C.c_uint32),
        ("kind", C.c_uint32),
    ]


class cst_callbacks(C.Structure):
    _fields_ = [
        ("wanted", C.CFUNCTYPE(None, C.c_void_p)),
        ("text", C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_uint64)),
        ("message", C.CFUNCTYPE(None, C.c_void_p, C.c_char_p)),
        ("arg", C.c_void_p),
        ("busy", C.POINTER(C.c_uint32)),
    ]


CST_SINK_NONE = 0
CST_SINK_FD = 1
CST_SINK_CALLBACK = 2


class cst_recorder_options(C.Structure):
    _fields_ = [
        ("spool", C.c_char_p),
        ("spool_dir", C.c_char_p),
        ("spool_name", C.c_char_p),
        ("limit_bytes", C.c_uint64),
        ("pool_chunks", C.c_uint32),
        ("mode", C.c_uint32),
        ("wait_limit_ms", C.c_uint32),
        ("command", C.c_char_p),
        ("module", C.c_char_p),
        ("flight_bytes", C.c_uint64),
        ("choice", C.POINTER(cst_choice)),
        ("keep_depth", C.c_uint32),
        ("keep_bytes", C.c_uint32),
        ("keep_ns", C.c_uint64),
        ("is_elsewhere", C.c_uint32),
    ]


class cst_memory(C.Structure):
    _fields_ = [
        ("copy",
         C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_uint64, C.c_void_p, C.c_uint64, C.c_int)),
        ("arg", C.c_void_p),
    ]


class cst_values(C.Structure):
    _fields_ = [
        ("args", C.c_uint32),
        ("results", C.c_uint32),
        ("members", C.c_uint32),
        ("text_bytes", C.c_uint32),
        ("functions", C.c_char_p),
        ("plans", C.c_char_p),
    ]


CST_TEXT_BYTES_MAX = 200


class cst_place(C.Structure):
    _fields_ = [
        ("path", C.c_char * 4096),
        ("addr", C.c_uint64),
        ("fd", C.c_int32),
        ("reserved", C.c_uint32),
    ]


CST_SAMPLE_MAX_HZ = 20000


class cst_seed(C.Structure):
    _fields_ = [
        ("callee", C.c_uint64),
        ("caller", C.c_uint64),
        ("pc", C.c_uint64),
        ("cfa", C.c_uint64),
        ("is_patched", C.c_uint64),
    ]


CST_POINT_TEXT = 0
CST_POINT_VALUE = 1
CST_POINT_CALLER = 2
CST_POINT_DEPTH = 3
CST_POINT_THREAD = 4


class cst_point_part(C.Structure):
    _fields_ = [
        ("text", C.c_char_p),
        ("field", C.c_uint32),
        ("format", C.c_uint8),
        ("size", C.c_uint8),
        ("reserved", C.c_uint16),
    ]


class cst_point_place(C.Structure):
    _fields_ = [
        ("function", C.c_char_p),
        ("file", C.c_char_p),
        ("line", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class cst_point(C.Structure):
    _fields_ = [
        ("template_text", C.c_char_p),
        ("condition", C.c_char_p),
        ("parts", C.POINTER(cst_point_part)),
        ("places", C.POINTER(cst_point_place)),
        ("n_parts", C.c_uint32),
        ("n_places", C.c_uint32),
    ]


class cst_point_counts(C.Structure):
    _fields_ = [
        ("n_passes", C.c_uint64),
        ("n_hits", C.c_uint64),
        ("cost_ns", C.c_uint64),
    ]


class cst_registers(C.Structure):
    _fields_ = [
        ("pc", C.c_uint64),
        ("sp", C.c_uint64),
        ("bp", C.c_uint64),
        ("ax", C.c_uint64),
        ("flags", C.c_uint64),
        ("arguments", C.c_uint64 * 4),
    ]


CST_N_REGISTERS = 27


class cst_losses(C.Structure):
    _fields_ = [
        ("n_full", C.c_uint64),
        ("n_sites", C.c_uint64),
        ("n_threads", C.c_uint64),
        ("n_holes", C.c_uint64),
        ("n_dropped", C.c_uint64),
        ("n_limit", C.c_uint64),
        ("n_samples", C.c_uint64),
        ("is_limit_reached", C.c_uint32),
        ("n_past_begin", C.c_uint32),
        ("n_past_all", C.c_uint32),
        ("n_past_sealed", C.c_uint32),
        ("n_ended", C.c_uint32),
        ("n_past_exec", C.c_uint32),
        ("past_exec", C.c_char * 64),
    ]


class cst_status_report(C.Structure):
    _fields_ = [
        ("n_calls", C.c_uint64),
        ("n_open", C.c_uint64),
        ("n_unwound", C.c_uint64),
        ("n_seeds", C.c_uint64),
        ("n_records", C.c_uint64),
        ("losses", cst_losses),
        ("n_orphans", C.c_uint64),
        ("n_waits", C.c_uint64),
        ("area_bytes", C.c_uint64),
        ("spool_bytes", C.c_uint64),
        ("duration_ns", C.c_uint64),
        ("n_too_deep", C.c_uint64),
        ("n_threads", C.c_uint32),
        ("n_processes", C.c_uint32),
        ("n_functions", C.c_uint32),
        ("n_sites", C.c_uint32),
        ("n_running", C.c_uint32),
        ("sample_hz", C.c_uint32),
        ("sample_clock", C.c_uint32),
        ("sample_source", C.c_uint32),
        ("n_samples", C.c_uint64),
        ("n_other", C.c_uint64),
        ("n_forgotten", C.c_uint64),
    ]


cst_write_fn = C.CFUNCTYPE(C.c_int, C.c_void_p, C.c_void_p, C.c_uint64)


class cst_thread_info(C.Structure):
    _fields_ = [
        ("process", C.c_uint32),
        ("thread", C.c_uint32),
        ("pid", C.c_uint32),
        ("tid", C.c_uint32),
        ("name", C.c_char_p),
    ]


class cst_call(C.Structure):
    _fields_ = [
        ("function", C.c_char_p),
        ("name", C.c_char_p),
        ("symbol", C.c_char_p),
        ("module", C.c_char_p),
        ("file", C.c_char_p),
        ("addr", C.c_uint64),
        ("line", C.c_uint32),
        ("is_exception", C.c_uint32),
    ]


class cst_way(C.Structure):
    _fields_ = [
        ("nth", C.c_uint64),
        ("nth_call", C.c_uint64),
        ("addr", C.c_uint64),
        ("file_addr", C.c_uint64),
        ("module", C.c_char_p),
        ("build_id", C.c_char_p),
        ("name", C.c_char_p),
        ("process", C.c_uint32),
        ("thread", C.c_uint32),
        ("kind", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class cst_parting(C.Structure):
    _fields_ = [
        ("n_equal", C.c_uint64),
        ("id_a", C.c_char * 64),
        ("id_b", C.c_char * 64),
        ("name_a", C.c_char_p),
        ("name_b", C.c_char_p),
    ]


class cst_source(C.Structure):
    _fields_ = [
        ("call_file", C.c_char * 4096),
        ("own_file", C.c_char * 4096),
        ("call_line", C.c_uint32),
        ("own_line", C.c_uint32),
    ]


class cst_module(C.Structure):
    _fields_ = [
        ("path", C.c_char_p),
        ("build_id", C.c_char_p),
        ("start", C.c_uint64),
        ("end", C.c_uint64),
        ("bias", C.c_uint64),
        ("space", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


cst_tell_fn = C.CFUNCTYPE(None, C.c_void_p, C.c_char_p)

CST_BUILD_ID_SIZE = 129

CST_WORDS_GDB = 0
CST_WORDS_COMMAND = 1


class cst_test_hook(C.Structure):
    _fields_ = [
        ("callee", C.c_uint64),
        ("hook", C.c_uint64),
        ("is_exit", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


CST_TEST_OF_INTEGER = 0
CST_TEST_OF_BOOL = 1
CST_TEST_OF_CHAR = 2
CST_TEST_OF_FLOAT = 3
CST_TEST_OF_ENUM = 4
CST_TEST_OF_POINTER = 5
CST_TEST_OF_TEXT = 6
CST_TEST_OF_OTHER = 7


class cst_test_value(C.Structure):
    _fields_ = [
        ("type", C.c_uint32),
        ("size", C.c_uint32),
        ("is_signed", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


CST_OUTPUT_TEXT = 0
CST_OUTPUT_JSON = 1
CST_OUTPUT_CSV = 2

CST_SORT_TOTAL = 0
CST_SORT_SELF = 1
CST_SORT_CALLS = 2

CST_BY_FUNCTION = 0
CST_BY_CALLSITE = 1
CST_BY_THREAD = 2


class cst_report(C.Structure):
    _fields_ = [
        ("limit", C.c_uint32),
        ("by", C.c_uint32),
        ("output", C.c_uint32),
        ("no_messages", C.c_uint32),
        ("regex", C.c_char_p),
        ("callers", C.c_char_p),
        ("callees", C.c_char_p),
        ("sort", C.c_char_p),
        ("fields", C.c_char_p),
    ]


class cst_graph(C.Structure):
    _fields_ = [
        ("sort", C.c_uint32),
        ("limit", C.c_uint32),
        ("depth", C.c_uint32),
        ("min_share_ppm", C.c_uint32),
        ("output", C.c_uint32),
        ("reserved", C.c_uint32),
        ("function", C.c_char_p),
    ]


class cst_open_call(C.Structure):
    _fields_ = [
        ("cfa", C.c_uint64),
        ("age_ns", C.c_uint64),
        ("addr", C.c_uint64),
        ("function", C.c_char_p),
        ("name", C.c_char_p),
        ("id", C.c_char * 56),
    ]


CST_CALLS_BY_TIME = 0
CST_CALLS_BY_DURATION = 1
CST_CALLS_BY_ID = 2
CST_CALLS_BY_CALLER = 3
CST_CALLS_BY_THREAD = 4


class cst_calls(C.Structure):
    _fields_ = [
        ("sort", C.c_uint32),
        ("limit", C.c_uint32),
        ("output", C.c_uint32),
        ("is_ended", C.c_uint32),
        ("function", C.c_char_p),
        ("under", C.c_char_p),
    ]


CST_DIFFERS_IN_FLOW = 1
CST_DIFFERS_IN_TIME = 2

CST_DIFF_BY_FLOW = 0
CST_DIFF_BY_COUNTS = 1

CST_DIFF_SORT_NONE = 0
CST_DIFF_SORT_CALLS = 1
CST_DIFF_SORT_TOTAL = 2
CST_DIFF_SORT_CHANGE = 3
CST_DIFF_SORT_PERCENT = 4
CST_DIFF_SORT_NAME = 5


class cst_diff(C.Structure):
    _fields_ = [
        ("by", C.c_uint32),
        ("limit", C.c_uint32),
        ("percent", C.c_int32),
        ("output", C.c_uint32),
        ("sort", C.c_uint32),
        ("shows_percent", C.c_uint32),
    ]


CST_PLANNED_REASONS = 16
CST_PLANNED_ID = 44


class cst_planned(C.Structure):
    _fields_ = [
        ("n_patches", C.c_uint32),
        ("n_functions", C.c_uint32),
        ("n_exits", C.c_uint32),
        ("n_missed", C.c_uint32),
        ("n_declined", C.c_uint32 * 16),
        ("is_border", C.c_uint32),
        ("n_inlined", C.c_uint32),
        ("n_lineless", C.c_uint32),
        ("n_stubs", C.c_uint32),
        ("id", C.c_char * 44),
    ]


CST_CALLS_NONE = 0
CST_CALLS_TOO = 1
CST_CALLS_ALONE = 2


class cst_plan_wish(C.Structure):
    _fields_ = [
        ("functions", C.c_char_p),
        ("min_size", C.c_uint64),
        ("is_for_gdb", C.c_uint32),
        ("calls", C.c_uint32),
        ("n_callers", C.c_uint32),
        ("callers", C.POINTER(C.c_char_p)),
    ]


CST_INSTRUCTION_MAX = 15


class cst_hook_slot(C.Structure):
    _fields_ = [
        ("address", C.c_uint64),
        ("is_exit", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


class cst_live_look(C.Structure):
    _fields_ = [
        ("threads", C.POINTER(C.c_uint32)),
        ("n_threads", C.c_uint32),
        ("is_undone", C.c_uint32),
        ("table", C.c_uint64),
        ("folder", C.c_char_p),
    ]


class cst_code_left(C.Structure):
    _fields_ = [
        ("area", C.c_uint64),
        ("function", C.c_uint32),
        ("reserved", C.c_uint32),
    ]


# name: (result, arguments)
PROTOTYPES = {
    "cst_install": (None, []),
    "cst_version": (C.c_char_p, []),
    "cst_abi": (C.c_uint32, []),
    "cst_interrupt": (None, []),
    "cst_progress": (C.c_int, [C.POINTER(C.c_uint64)]),
    "cst_recorder_open": (C.c_int, [C.POINTER(cst_recorder_options),
        C.POINTER(cst_callbacks), C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_recorder_area_path": (C.c_char_p, [C.c_void_p]),
    "cst_recorder_area_path_for": (C.c_int, [C.c_void_p, C.c_uint32,
        C.c_char_p, C.c_uint64, C.POINTER(cst_error)]),
    "cst_recorder_fetch": (C.c_int, [C.c_void_p, C.c_uint64,
        C.POINTER(cst_memory), C.POINTER(cst_error)]),
    "cst_recorder_process": (C.c_int, [C.c_void_p, C.c_uint32, C.c_int,
        C.POINTER(cst_error)]),
    "cst_recorder_exec": (C.c_int, [C.c_void_p, C.POINTER(cst_error)]),
    "cst_recorder_unmapped": (None, [C.c_void_p, C.c_uint64, C.c_uint64]),
    "cst_recorder_debug_file": (None, [C.c_void_p, C.c_char_p, C.c_char_p]),
    "cst_recorder_copy": (None, [C.c_void_p, C.c_char_p]),
    "cst_recorder_live": (C.c_int, [C.c_void_p, C.c_int, C.c_int, C.c_int,
        C.POINTER(cst_look), C.POINTER(cst_choice), C.POINTER(cst_error)]),
    "cst_recorder_fill": (None, [C.c_void_p]),
    "cst_recorder_keep": (None, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.c_uint64]),
    "cst_recorder_what": (None, [C.c_void_p, C.c_int]),
    "cst_recorder_values": (C.c_int, [C.c_void_p, C.POINTER(cst_values),
        C.POINTER(cst_error)]),
    "cst_recorder_patched": (None, [C.c_void_p]),
    "cst_recorder_drawn_ns": (C.c_uint64, [C.c_void_p]),
    "cst_recorder_drain": (C.c_int, [C.c_void_p]),
    "cst_recorder_questions": (C.c_int, [C.c_void_p, C.POINTER(cst_question),
        C.c_int]),
    "cst_recorder_answer": (None, [C.c_void_p, C.c_uint32, C.c_char_p,
        C.c_char_p, C.c_uint32]),
    "cst_recorder_alone": (None, [C.c_void_p]),
    "cst_recorder_place": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_place)]),
    "cst_recorder_pause": (None, [C.c_void_p]),
    "cst_recorder_resume": (None, [C.c_void_p]),
    "cst_recorder_exited": (None, [C.c_void_p]),
    "cst_recorder_sample": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.c_uint32, C.c_uint64, C.POINTER(cst_error)]),
    "cst_recorder_sample_end": (None, [C.c_void_p]),
    "cst_recorder_samples_path": (C.c_char_p, [C.c_void_p]),
    "cst_recorder_sampled": (C.c_uint32, [C.c_void_p]),
    "cst_recorder_seed": (C.c_int, [C.c_void_p, C.c_uint32, C.c_char_p,
        C.POINTER(cst_seed), C.c_int, C.POINTER(cst_error)]),
    "cst_recorder_function": (C.c_uint64, [C.c_void_p, C.c_uint64]),
    "cst_recorder_inject": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.c_uint64, C.c_uint64, C.c_uint64, C.c_uint64, C.c_uint64,
        C.POINTER(cst_error)]),
    "cst_recorder_message": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.c_char_p, C.c_uint32, C.c_char_p, C.c_char_p, C.c_char_p,
        C.POINTER(cst_error)]),
    "cst_recorder_mark": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.c_int, C.c_int, C.POINTER(cst_error)]),
    "cst_recorder_point": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_point), C.POINTER(cst_error)]),
    "cst_recorder_point_counts": (None, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_point_counts)]),
    "cst_recorder_depth": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint32]),
    "cst_recorder_hit": (C.c_int, [C.c_void_p, C.c_uint64, C.c_uint64,
        C.c_uint64]),
    "cst_step_out": (C.c_int, [C.c_int, C.c_uint64, C.c_uint64]),
    "cst_thread_registers": (C.c_int, [C.c_int, C.POINTER(cst_registers)]),
    "cst_thread_set": (C.c_int, [C.c_int, C.POINTER(cst_registers)]),
    "cst_thread_move": (C.c_int, [C.c_int, C.c_uint64, C.c_uint64]),
    "cst_thread_hit_breakpoint": (C.c_int, [C.c_int]),
    "cst_thread_take": (C.c_int, [C.c_int, C.POINTER(C.c_uint64)]),
    "cst_thread_give": (C.c_int, [C.c_int, C.POINTER(C.c_uint64)]),
    "cst_thread_signal": (C.c_int, [C.c_int, C.c_int, C.POINTER(C.c_uint64)]),
    "cst_thread_signalled": (C.c_int, [C.c_int, C.c_uint64,
        C.POINTER(cst_registers)]),
    "cst_recorder_end": (C.c_int, [C.c_void_p, C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_recorder_begin": (C.c_int, [C.c_void_p,
        C.POINTER(cst_recorder_options), C.POINTER(cst_error)]),
    "cst_recorder_trace": (C.c_int, [C.c_void_p, C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_recorder_save": (C.c_int, [C.c_void_p, C.POINTER(cst_error)]),
    "cst_recorder_close": (None, [C.c_void_p]),
    "cst_recorder_status": (None, [C.c_void_p, C.POINTER(cst_status_report)]),
    "cst_flight_offer": (C.c_int, [C.c_uint64, C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_flight_offer_path": (C.c_char_p, [C.c_void_p]),
    "cst_flight_offer_answer": (C.c_int, [C.c_void_p, C.c_uint32]),
    "cst_flight_offer_free": (None, [C.c_void_p]),
    "cst_trace_load": (C.c_int, [C.c_char_p, C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_trace_free": (None, [C.c_void_p]),
    "cst_trace_status": (None, [C.c_void_p, C.POINTER(cst_status_report)]),
    "cst_losses_records": (C.c_uint64, [C.POINTER(cst_losses)]),
    "cst_losses_text": (C.c_int, [C.POINTER(cst_losses), C.c_uint32,
        C.c_char_p, C.c_uint32]),
    "cst_losses_untraced": (C.c_int, [C.POINTER(cst_losses), C.c_uint32,
        C.c_char_p, C.c_uint32]),
    "cst_trace_is_complete": (C.c_int, [C.c_void_p]),
    "cst_trace_choice": (None, [C.c_void_p, C.POINTER(cst_choice)]),
    "cst_trace_command": (C.c_char_p, [C.c_void_p]),
    "cst_trace_function": (C.c_char_p, [C.c_void_p, C.c_uint32]),
    "cst_trace_value_names": (C.c_char_p, [C.c_void_p, C.c_uint32,
        C.POINTER(C.c_char_p)]),
    "cst_trace_thread": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_thread_info)]),
    "cst_trace_call": (C.c_int, [C.c_void_p, C.c_char_p, C.POINTER(cst_call),
        C.POINTER(cst_error)]),
    "cst_trace_way": (C.c_int, [C.c_void_p, C.c_char_p, C.POINTER(cst_way),
        cst_write_fn, C.c_void_p, C.POINTER(cst_error)]),
    "cst_trace_newest": (C.c_int64, [C.c_void_p, C.c_uint32, C.c_uint32,
        C.POINTER(cst_error)]),
    "cst_trace_parting": (C.c_int, [C.c_void_p, C.c_void_p, C.c_uint32,
        C.c_uint32, C.POINTER(cst_parting), C.POINTER(cst_error)]),
    "cst_trace_source": (C.c_int, [C.c_void_p, C.c_char_p,
        C.POINTER(C.c_char_p), C.c_int, C.POINTER(cst_source),
        C.POINTER(cst_error)]),
    "cst_trace_module": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_module)]),
    "cst_trace_rename": (None, [C.c_void_p, C.POINTER(C.c_char_p), C.c_int,
        cst_tell_fn, C.c_void_p]),
    "cst_build_id": (C.c_int, [C.c_char_p, C.c_char_p]),
    "cst_trace_hidden_std": (C.c_uint64, [C.c_void_p]),
    "cst_trace_note": (C.c_int, [C.c_void_p, C.POINTER(cst_choice), C.c_int,
        C.c_int, C.c_char_p, C.c_uint32]),
    "cst_choice_text": (C.c_int, [C.POINTER(cst_choice), C.c_char_p,
        C.c_uint32]),
    "cst_trace_has_function": (C.c_int, [C.c_void_p, C.c_char_p, C.c_int,
        C.c_char_p, C.c_uint32]),
    "cst_trace_has_values": (C.c_int, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.c_uint32]),
    "cst_trace_has_file": (C.c_int, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.c_uint32]),
    "cst_trace_has_module": (C.c_int, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.c_uint32]),
    "cst_file_inlined": (C.c_uint32, [C.c_char_p, C.c_char_p, C.c_char_p,
        C.c_int]),
    "cst_file_inlined_away": (C.c_uint32, [C.c_char_p, C.c_char_p]),
    "cst_trace_inlined": (C.c_uint32, [C.c_void_p, C.c_char_p, C.c_int]),
    "cst_file_has_function": (C.c_int, [C.c_char_p, C.c_char_p, C.c_int,
        C.c_char_p, C.c_uint32]),
    "cst_file_functions": (C.c_int, [C.c_char_p, C.c_char_p, C.c_int,
        C.POINTER(C.c_uint64), C.c_uint32, C.POINTER(cst_error)]),
    "cst_file_called": (C.c_int, [C.c_char_p, C.c_char_p, C.c_int,
        C.POINTER(C.c_uint64), C.c_uint32, C.POINTER(cst_error)]),
    "cst_tester_open": (C.c_int, [C.c_uint32, C.c_char_p,
        C.POINTER(C.c_void_p), C.POINTER(cst_error)]),
    "cst_tester_close": (None, [C.c_void_p]),
    "cst_tester_make": (C.c_int, [C.c_void_p, C.c_char_p,
        C.POINTER(cst_test_hook), C.POINTER(cst_test), C.c_uint32,
        C.POINTER(cst_error)]),
    "cst_tester_value": (C.c_int, [C.c_void_p, C.c_char_p,
        C.POINTER(cst_test_hook), C.POINTER(cst_test_value),
        C.POINTER(cst_error)]),
    "cst_choice_check": (C.c_int, [C.POINTER(cst_choice),
        C.POINTER(cst_error)]),
    "cst_trace_show": (C.c_int64, [C.c_void_p, C.POINTER(cst_look),
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_report_check": (C.c_int, [C.POINTER(cst_report),
        C.POINTER(cst_error)]),
    "cst_trace_info": (C.c_int, [C.c_void_p, C.c_uint32, cst_write_fn,
        C.c_void_p, C.POINTER(cst_error)]),
    "cst_trace_report": (C.c_int64, [C.c_void_p, C.POINTER(cst_report),
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_trace_stacks": (C.c_int64, [C.c_void_p, C.POINTER(cst_choice),
        C.c_int, cst_write_fn, C.c_void_p, C.POINTER(cst_error)]),
    "cst_trace_graph": (C.c_int64, [C.c_void_p, C.POINTER(cst_graph),
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_recorder_stack": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_open_call), C.c_uint32, C.POINTER(cst_error)]),
    "cst_recorder_is_in": (C.c_int, [C.c_void_p, C.c_uint32, C.c_char_p,
        C.c_int, C.POINTER(cst_error)]),
    "cst_recorder_count": (C.c_int64, [C.c_void_p, C.c_char_p, C.c_int,
        C.POINTER(cst_error)]),
    "cst_recorder_here": (C.c_int, [C.c_void_p, C.c_uint32,
        C.POINTER(cst_look), C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_thread_info), C.POINTER(cst_error)]),
    "cst_trace_calls": (C.c_int64, [C.c_void_p, C.POINTER(cst_calls),
        C.POINTER(cst_look), C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_may_replace": (C.c_int, [C.c_char_p, C.c_char_p,
        C.POINTER(cst_error)]),
    "cst_trace_announce": (C.c_int, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.POINTER(cst_choice), C.c_char_p, C.c_uint32]),
    "cst_trace_mixes_threads": (C.c_int, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.POINTER(cst_look), C.POINTER(cst_choice)]),
    "cst_trace_save": (C.c_int64, [C.c_void_p, C.c_char_p, C.c_char_p,
        C.POINTER(cst_look), C.POINTER(cst_choice), C.POINTER(cst_error)]),
    "cst_trace_write": (C.c_int64, [C.c_void_p, C.c_char_p,
        C.POINTER(cst_look), C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_trace_diff": (C.c_int64, [C.c_void_p, C.c_void_p, C.POINTER(cst_diff),
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_trace_expect": (C.c_int64, [C.c_void_p, C.c_char_p, C.c_uint32,
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_trace_golden": (C.c_int, [C.c_void_p, C.c_char_p, C.c_uint32,
        C.POINTER(cst_choice), cst_write_fn, C.c_void_p,
        C.POINTER(cst_error)]),
    "cst_formats": (C.c_char_p, []),
    "cst_plan_file": (C.c_int, [C.c_char_p, C.POINTER(cst_plan_wish),
        C.c_char_p, C.POINTER(cst_planned), C.POINTER(cst_error)]),
    "cst_plan_border": (C.c_int, [C.POINTER(cst_plan_wish),
        C.POINTER(C.c_char_p), C.c_uint32, C.c_char_p, C.POINTER(cst_planned),
        C.POINTER(cst_error)]),
    "cst_plan_takes_long": (C.c_int, [C.c_char_p, C.POINTER(cst_plan_wish)]),
    "cst_folder_make": (C.c_int, [C.c_char_p, C.c_int, C.c_char_p, C.c_uint64,
        C.POINTER(cst_error)]),
    "cst_folder_remove": (None, [C.c_char_p, C.c_int]),
    "cst_folder_share": (None, [C.c_char_p, C.c_uint32]),
    "cst_folder_sweep": (None, []),
    "cst_plan_text": (None, [C.POINTER(cst_planned), C.POINTER(C.c_char_p),
        C.c_uint32, C.c_char_p, C.c_uint64]),
    "cst_plan_wants": (C.c_int, [C.c_char_p, C.c_char_p,
        C.POINTER(cst_error)]),
    "cst_is_launcher": (C.c_int, [C.c_char_p]),
    "cst_plan_reason": (C.c_char_p, [C.c_uint32]),
    "cst_moved_instruction": (C.c_uint32, [C.POINTER(C.c_uint8), C.c_uint32,
        C.c_uint64, C.c_uint64, C.POINTER(C.c_uint8)]),
    "cst_hook_slots": (C.c_int, [C.c_char_p, C.POINTER(cst_hook_slot),
        C.c_uint32]),
    "cst_live_open": (C.c_int, [C.c_uint32, C.POINTER(C.c_void_p),
        C.POINTER(cst_error)]),
    "cst_live_close": (None, [C.c_void_p]),
    "cst_live_obstacle": (C.c_char_p, [C.c_void_p, C.c_char_p]),
    "cst_live_loader_obstacle": (C.c_char_p, [C.c_void_p]),
    "cst_live_unsafe": (C.c_char_p, [C.c_void_p, C.c_uint32]),
    "cst_live_is_in_shim": (C.c_int, [C.c_void_p, C.c_uint32, C.c_uint64]),
    "cst_live_is_return": (C.c_int, [C.c_void_p, C.c_uint64]),
    "cst_live_libc": (C.c_uint64, [C.c_void_p, C.c_char_p]),
    "cst_live_look": (C.c_int, [C.c_void_p, C.POINTER(cst_live_look),
        C.POINTER(C.c_uint64), C.POINTER(cst_code_left), C.c_uint32,
        C.POINTER(cst_error)]),
    "cst_demangle": (None, [C.c_char_p, C.c_char_p, C.c_uint64]),
    "cst_simple_name": (None, [C.c_char_p, C.c_char_p, C.c_uint64]),
}
