# SPDX-License-Identifier: MIT
#
# The trace file and everything that reads it.
ENGINE_FILE_SRC := arena.c names.c number.c utf8.c filter.c row.c
