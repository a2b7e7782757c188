/* SPDX-License-Identifier: MIT
 *
 * What a timer's interrupt costs on this machine: a microsecond or three on
 * most, ten times as much in many virtual machines.
 */
#ifndef ENGINE_INTERRUPT_COST_H
#define ENGINE_INTERRUPT_COST_H

#include <stdint.h>

/* Measures it for two milliseconds, on the calling thread.  Returns ns of a
 * perf event's interrupt and the signal that it sends; 0: the kernel grants no
 * such events. */
uint64_t interrupt_cost_ns(void);

/* Returns how many samples each interrupt has to be, so that hz samples a
 * second cost at most a fiftieth of a program's time; 0: there would be fewer
 * interrupts than the kernel has ticks. */
uint32_t interrupt_samples(uint64_t cost_ns, uint32_t hz);

#endif
