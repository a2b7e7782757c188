/* SPDX-License-Identifier: MIT
 *
 * Debug sections that zstd has packed.  libelf unpacks zlib's, but as a rule
 * (before 0.189, or built without it) not these.
 */
#ifndef ENGINE_ZSECTIONS_H
#define ENGINE_ZSECTIONS_H

#include <libelf.h>
#include <stdint.h>

/* What they were unpacked to: of the Elf, until it is closed. */
struct zsections {
	void **all;
	uint32_t n, cap;
	int is_done;
};

/* Put the unpacked bytes of the sections that names and lines are read from
 * in the packed ones' place.  What cannot be unpacked stays as it is: libdw
 * passes it over. */
void zsections_unpack(struct zsections *z, Elf *elf);
/* After elf_end(). */
void zsections_release(struct zsections *z);

#endif
