/* SPDX-License-Identifier: MIT
 *
 * What a seccomp filter would say of a system call: classic BPF, as far as the
 * kernel lets filters have it.
 */
#ifndef SHIM_BPF_H
#define SHIM_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* SECCOMP_RET_...; what the kernel would refuse as a filter allows all. */
uint32_t bpf_run(const struct sock_filter *code, uint32_t n,
		 const struct seccomp_data *data);

#endif
