/* SPDX-License-Identifier: MIT
 *
 * Libraries that the program opens while it runs.
 */
#ifndef SHIM_OPENED_H
#define SHIM_OPENED_H

/* Has the dynamic linker report them, if they are to be patched; as the program
 * starts, behind patches_begin(). */
void opened_begin(void);

/* Reports that the program calls dlopen(): a refusal is written if what is
 * opened cannot be seen. */
void opened_later(void);

#endif
