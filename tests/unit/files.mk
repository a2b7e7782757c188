# SPDX-License-Identifier: MIT
#
# The unit tests by the engine's rooms: each is linked with its room and with
# those that this one may use, and with no other.

UNIT_TESTS :=
# $(call room,ROOM,TESTS)
room = $(eval UNIT_TESTS += $2)$(foreach t,$2,$(eval $t_ROOM := $1))

$(call room,base,test_array test_regex test_processor)
$(call room,elf,test_modules test_frames test_inlines)
$(call room,area,test_clock test_reader)
$(call room,names,test_names test_demangle test_values test_where)
$(call room,plan,test_moved_instruction)
$(call room,args,test_damaged)
$(call room,sites,test_simple test_args)
$(call room,file,test_cache_file test_value_blocks)
$(call room,calls,test_callstack test_sigstack)
$(call room,trace,test_view test_window)
$(call room,rows,test_row test_fold)
$(call room,diff,test_diff)
$(call room,golden,test_expect)
$(call room,formats,test_clamp)
$(call room,recorder,test_thread_ends test_interrupts test_step_out test_outlet test_fork_child test_mirror)
$(call room,api,test_recorder test_fast_path test_filter test_writer test_trace \
	test_report test_graph test_badfile test_hostile test_memory \
	test_own_words)

# Its allocations fail when it wants them to.
test_memory_LIBS := -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc

# A frame is told by what matters of it.
test_callstack_CFLAGS := -Wno-missing-field-initializers
test_alternate_CFLAGS := -Wno-missing-field-initializers

# Traced by the shim that it links.
test_recorder_CFLAGS := -finstrument-functions
test_recorder_LIBS = $(BUILD)/libcstrace.so -Wl,-rpath,'$$ORIGIN/../..'
