# SPDX-License-Identifier: MIT
#
# The trace file and everything that reads it.
ENGINE_FILE_SRC := $(addprefix cshim/engine/, \
	arena.c names.c simple.c twins.c number.c utf8.c regexes.c wording.c filter.c row.c bytes.c block.c \
	index.c records.c settle.c decode.c callers.c locate.c keys.c totals.c fields.c \
	column.c lane.c pack.c unpack.c spool.c heldfile.c flight.c carry.c \
	writer.c writer_lanes.c loader.c contents.c \
	walk.c span.c answer.c view.c fold.c fold_node.c fold_live.c \
	window.c pump.c callid.c chosen.c text.c jsonl.c report.c \
	origin.c joint.c places.c tally.c parting.c parting_text.c diff.c \
	golden.c golden_options.c golden_rows.c position.c mismatch.c matcher.c expect.c golden_make.c shapes.c \
	symbolfile.c rename.c sink.c copy.c info.c untraced.c trace.c)

# The formats that a trace is saved in.
ENGINE_FILE_SRC += $(addprefix cshim/engine/, \
	formats.c ours.c announce.c json.c pieces.c nest.c tracks.c pairs.c stacks.c graph.c sheet.c calltree.c calltree_put.c \
	chrome.c speedscope.c folded.c callgrind.c dot.c otlp.c \
	html.c html_calls.c html_data.c html_page.c html_sums.c html_tour.c \
	steps.c folder.c folder_mark.c uftrace.c uftrace_names.c \
	ctf.c ctf_metadata.c ctf_stream.c ctf_dump.c)
