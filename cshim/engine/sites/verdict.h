/* SPDX-License-Identifier: MIT
 *
 * Which sites are muted, and what the hooks know of sites.
 */
#ifndef ENGINE_VERDICT_H
#define ENGINE_VERDICT_H

#include "sites/sites.h"

/* Returns whether no calls of the function are wanted. */
int verdict_is_muted(struct sites *s, uint32_t function);

/* Mutes site `number`, or lets its hook make records. */
void verdict_mute(struct sites *s, uint32_t number, int muted);

/* Mute, or let make records, all sites of one function, or all that there
 * are. */
void verdict_function(struct sites *s, uint32_t function);
void verdict_all(struct sites *s);

/* Tells the hooks what was found out of the sites that are known: their names,
 * and so whether they are muted, are no question any more. */
void verdict_publish(struct sites *s);

#endif
