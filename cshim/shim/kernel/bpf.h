/* SPDX-License-Identifier: MIT
 *
 * Interprets seccomp filters, to find out what one would answer to a system
 * call: classic BPF, as far as the kernel lets filters use it.
 */
#ifndef SHIM_BPF_H
#define SHIM_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* Returns what the filter of n instructions returns for data, SECCOMP_RET_...;
 * for code that the kernel would refuse as a filter, SECCOMP_RET_ALLOW. */
uint32_t bpf_run(const struct sock_filter *code, uint32_t n,
		 const struct seccomp_data *data);

#endif
