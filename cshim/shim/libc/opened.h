/* SPDX-License-Identifier: MIT
 *
 * Libraries that the program opens while it runs.
 */
#ifndef SHIM_OPENED_H
#define SHIM_OPENED_H

/* Reports that the program calls dlopen(): a refusal is written if what is
 * opened cannot be seen. */
void opened_later(void);

#endif
