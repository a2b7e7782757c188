/* SPDX-License-Identifier: MIT
 *
 * CSTRACE_FLIGHT=SIZE: the newest records stay in memory, without a reader; a
 * core file has them.
 */
#ifndef SHIM_FLIGHT_H
#define SHIM_FLIGHT_H

#include <stdint.h>

/* Makes the memory for a flight of that size ("512K", "16M", "1G"); is_read: a
 * debugger reads it while this process stands still.  Returns its descriptor,
 * ready to be mapped, or a negative errno. */
int flight_open(const char *size, int is_read);

/* Waits for what the hooks are to copy, if the area is one whose launcher finds
 * that out (CSTRACE_AHEAD=PATH is where it is).  Called when the process has
 * logged its mappings, before its first record. */
void flight_wait_ahead(void);

/* Lets a debugger that reads the flight say what hooks are to copy, before the
 * first record.  Called outside of all locks, with signals as the program has
 * them. */
void flight_begin(void);

/* Returns the index + 1 of a chunk that is zeroed: a new one, or once all were
 * used the oldest full one; 0: there is none, or a debugger must read first. */
uint32_t flight_chunk(void);

/* Lets the debugger read what is there, if there is one: at once, or (must is
 * 0) if it has not done so for some time.  Called outside of all locks, with
 * signals as the program has them.  Returns 1 if a chunk may be claimed now, 0
 * if that would be as before. */
int flight_ask(int must);

#endif
