/* SPDX-License-Identifier: MIT
 *
 * Libraries that bind past the preload.
 */
#ifndef SHIM_DEEPBIND_H
#define SHIM_DEEPBIND_H

/* Leads the hooks of those to ours where no gdb does it, as the program starts
 * and behind control_begin(). */
void redirect_begin(void);

#endif
