# SPDX-License-Identifier: MIT
#
# The object files of the traced process: symbols, call frames, inline tables.
ENGINE_MODULE_SRC := modules.c hints.c maps.c object.c elffile.c debugfile.c zsections.c \
	symtab.c cfi.c inlines.c lines.c ranges.c demangle.c
