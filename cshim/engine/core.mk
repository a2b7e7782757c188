ENGINE_CORE_SRC := \
	cshim/engine/addrmap.c \
	cshim/engine/area.c \
	cshim/engine/callstack.c \
	cshim/engine/clock.c \
	cshim/engine/crew.c \
	cshim/engine/engine.c \
	cshim/engine/error.c \
	cshim/engine/live.c \
	cshim/engine/reader.c \
	cshim/engine/recorder.c \
	cshim/engine/recording.c \
	cshim/engine/round.c \
	cshim/engine/sites.c
