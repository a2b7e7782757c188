# SPDX-License-Identifier: MIT
#
# The rooms of the engine, from the ground up: what each is for, which rooms it may
# use, and its sources.  tools/layers reads this table and holds the code to it.

ENGINE_ROOMS := base elf process area names plan args sites file calls trace rows report diff golden formats recorder api

# base: memory, text, numbers, threads: what any C program wants.
base_USES :=
base_SRC := arena.c array.c bytes.c column.c error.c hashmap.c io.c io_count.c \
	number.c outfile.c pairs.c pipeline.c progress.c ranges.c regex.c \
	task_file.c temp_folder.c utf8.c worker.c

# elf: object files: symbols, call frames, inline tables, lines, instructions.
elf_USES := base
elf_SRC := cfi.c debug_hints.c debugfile.c dynsym.c elffile.c folders.c forms.c hook_slots.c inline_scopes.c \
	inlines.c insn.c lines.c maps.c modules.c object.c slots.c stubs.c symbolfile.c symtab.c table_jump.c \
	zsections.c

# process: a process that runs already: its files, where its threads stand.
process_USES := elf base
process_SRC := live.c live_code.c obstacle.c remote_modules.c safe_place.c

# area: the shared memory that the shim writes and a reader empties.
area_USES := base
area_SRC := area.c area_file.c area_users.c clock.c reader.c sample_area.c

# names: functions and call sites, and how their names are written.
names_USES := base
names_SRC := async_spans.c demangle.c filter.c json.c marks.c names.c near.c sheet.c simple.c \
	twins.c values.c values_json.c values_text.c where.c where_parse.c wording.c

# plan: how a program that was not built for it is changed to report its calls.
plan_USES := elf names base
plan_SRC := assemble.c border.c choose.c file_inlined.c frame_bytes.c frame_cursor.c frame_writer.c frames.c \
	functions.c hooks.c image.c imports.c landing.c own_stubs.c place_entries.c place_exits.c placement.c plan.c \
	plan_cache.c plan_id.c plan_make.c references.c source_rows.c sweep.c tables.c trampoline.c

# args: which bytes a hook copies to have a function's arguments and result.
args_USES := elf names base
args_SRC := abi.c args.c code.c compute.c decode.c flow.c flow_numbers.c \
	flow_operands.c instance.c items.c moved.c place.c result.c \
	stores.c tester.c tests.c types.c

# sites: an address of a site becomes a function and a place.
sites_USES := area args plan elf names base
sites_SRC := address_space.c ahead.c copies.c own_place.c points.c questions.c sites.c \
	tail_jumps.c thrown.c verdict.c

# file: the trace file: blocks of packed calls, written.
file_USES := names base
file_SRC := block.c cache_file.c flight.c flight_open.c index.c lane_block.c \
	meta_write.c ours.c pack.c spool.c unpack.c writer.c writer_lanes.c \
	writer_samples.c

# calls: records become calls: nesting, lanes, jumps, forks.
calls_USES := sites args file area elf names base
calls_SRC := callstack.c enter_slow.c exceptions.c fast_path.c find_lane.c \
	fork.c jumps.c log_points.c match_exit.c own_words.c record_text.c sigstack.c \
	stack.c tails.c threads.c

# trace: a trace file read: walked, filtered, located.
trace_USES := file elf names base
trace_SRC := answer.c async_times.c call_paths.c call_source.c callers.c callid.c clamp.c decode.c \
	file_functions.c finish.c loader.c locate.c meta_read.c recompress.c \
	sample_calls.c samples.c site_caller.c sources.c span.c symbolize.c \
	thread_choice.c trace.c view.c walk.c way.c \
	window.c

# rows: a call becomes a row; equal rows become one.
rows_USES := trace names base
rows_SRC := fold.c fold_live.c fold_node.c losses_text.c row.c wall.c

# report: tables over a trace, in text.
report_USES := rows trace elf names base
report_SRC := call_list.c calltree.c calltree_put.c fields.c info.c messages.c \
	report.c report_keys.c report_rows.c sample_report.c sample_stacks.c

# diff: two traces held against each other.
diff_USES := rows trace names base
diff_SRC := counts.c diff.c divergence.c divergence_text.c match_functions.c \
	match_lines.c

# golden: expected trees.
golden_USES := diff rows trace file names base
golden_SRC := expect.c golden.c golden_make.c golden_options.c golden_rows.c \
	matcher.c mismatch.c position.c subtrees.c

# formats: a file a format that a trace is saved in.
formats_USES := report rows trace names base
formats_SRC := announce.c callgrind.c chrome.c ctf.c ctf_dump.c \
	ctf_metadata.c ctf_stream.c dot.c enter_exit.c exporter.c folded.c folder.c \
	folder_manifest.c formats.c graph.c html.c html_calls.c html_data.c \
	html_page.c html_sums.c html_tour.c jsonl.c otlp.c pprof.c site_text.c speedscope.c \
	text.c thread_ids.c uftrace.c uftrace_names.c

# recorder: the reader thread, the live view, a recording's life.
recorder_USES := calls rows sites args file trace area elf names base
recorder_SRC := drain.c interrupt_cost.c live.c message.c one_trace.c outlet.c pending.c process_ends.c \
	corearea.c flight_offer.c handover.c mirror.c rawarea.c recorder.c sampling.c screen.c sleepers.c \
	sleeping_stack.c standing.c step_out.c tally.c \
	thread_ends.c trail.c

# api: the public functions that only dispatch.
api_USES := recorder formats golden diff report rows trace calls file sites args plan names area elf base
api_SRC := dispatch.c install.c plans.c
