# SPDX-License-Identifier: MIT
ENGINE_CORE_SRC := \
	addrmap.c \
	alternate.c \
	area.c \
	area_file.c \
	callstack.c \
	clock.c \
	crew.c \
	engine.c \
	entry.c \
	error.c \
	exceptions.c \
	exits.c \
	fork.c \
	gone.c \
	lives.c \
	holders.c \
	lanes.c \
	mark.c \
	outlet.c screen.c live.c \
	plain.c \
	questions.c \
	rawarea.c \
	reader.c \
	recorder.c \
	recording.c \
	round.c \
	scopes.c \
	sites.c \
	space.c \
	stepout.c \
	worker.c
