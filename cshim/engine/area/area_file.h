/* SPDX-License-Identifier: MIT
 *
 * Areas that were left in a file, by processes that may have ended.  Such an
 * area is a private copy: its tables are loaded when it is opened, each chunk
 * when it is asked for.  Nothing is ever written to the file.
 */
#ifndef ENGINE_AREA_FILE_H
#define ENGINE_AREA_FILE_H

#include "area/area.h"

/* Open the area in fd; the caller keeps fd open until area_free().  `path` is
 * for messages.  CST_BAD_FILE: fd holds no area, one of another layout, or
 * one that was cut short. */
int area_open_file(int fd, const char *path, struct area **out,
		   struct cst_error *err);

/* Report that the area in `path` was cut short; returns CST_BAD_FILE. */
int area_is_short(const char *path, struct cst_error *err);

/* Load the chunk unless it is loaded, until area_give() drops it; does nothing
 * for an area that is shared with a living process. */
void area_copy(struct area *a, uint32_t chunk);

/* Read the time of record i of the chunk from the file, in ticks, without
 * loading the chunk.  A file that is too short sets a->is_short. */
uint64_t area_time(struct area *a, uint32_t chunk, uint32_t i);

#endif
