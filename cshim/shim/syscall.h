/* SPDX-License-Identifier: MIT
 *
 * System calls straight to the kernel: libc's wrappers set errno, may be the
 * program's own, and are points of cancellation.  Negative errno on failure.
 */
#ifndef SHIM_SYSCALL_H
#define SHIM_SYSCALL_H

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include "arch.h"

static inline int sys_open(const char *path, int flags)
{
	return (int)syscall6(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline int sys_open_mode(const char *path, int flags, int mode)
{
	return (int)syscall6(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0,
			     0);
}

static inline void sys_unlink(const char *path)
{
	syscall6(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static inline int sys_ftruncate(int fd, long size)
{
	return (int)syscall6(SYS_ftruncate, fd, size, 0, 0, 0, 0);
}

static inline long sys_pwrite(int fd, const void *buf, size_t len, long offset)
{
	return syscall6(SYS_pwrite64, fd, (long)buf, (long)len, offset, 0, 0);
}

static inline int sys_kill(uint32_t pid, int signo)
{
	return (int)syscall6(SYS_kill, (long)pid, signo, 0, 0, 0, 0);
}

static inline void sys_close(int fd)
{
	syscall6(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_lseek(int fd, long offset, int whence)
{
	return syscall6(SYS_lseek, fd, offset, whence, 0, 0, 0);
}

static inline long sys_pread(int fd, void *buf, size_t len, long offset)
{
	return syscall6(SYS_pread64, fd, (long)buf, (long)len, offset, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t len)
{
	return syscall6(SYS_read, fd, (long)buf, (long)len, 0, 0, 0);
}

/* The address, or negative errno: the last page holds no mapping. */
static inline long sys_mmap(uint64_t addr, size_t len, int prot, int flags,
			    int fd)
{
	return syscall6(SYS_mmap, (long)addr, (long)len, prot, flags, fd, 0);
}

static inline long sys_mmap_at(uint64_t addr, size_t len, int prot, int flags,
			       int fd, uint64_t offset)
{
	return syscall6(SYS_mmap, (long)addr, (long)len, prot, flags, fd,
			(long)offset);
}

/* Make a mapping longer where it is. */
static inline long sys_mremap(uint64_t addr, size_t old_len, size_t len)
{
	return syscall6(SYS_mremap, (long)addr, (long)old_len, (long)len, 0, 0,
			0);
}

/* The soft limit; RLIM_INFINITY also where it cannot be told. */
static inline uint64_t sys_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	syscall6(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);
	return limit.rlim_cur;
}

static inline void sys_munmap(uint64_t addr, size_t len)
{
	if (len)
		syscall6(SYS_munmap, (long)addr, (long)len, 0, 0, 0, 0);
}

static inline int sys_madvise(void *addr, size_t len, int advice)
{
	return (int)syscall6(SYS_madvise, (long)addr, (long)len, advice, 0, 0,
			     0);
}

static inline uint32_t sys_getpid(void)
{
	return (uint32_t)syscall6(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline uint32_t sys_getppid(void)
{
	return (uint32_t)syscall6(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_tgkill(uint32_t pid, uint32_t tid, int signo)
{
	return (int)syscall6(SYS_tgkill, (long)pid, (long)tid, signo, 0, 0, 0);
}

static inline uint32_t sys_gettid(void)
{
	return (uint32_t)syscall6(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline void sys_thread_name(char name[16])
{
	syscall6(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
}

static inline uint64_t sys_clock_ns(int clock)
{
	struct timespec now = {0, 0};

	syscall6(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t sys_monotonic_ms(void)
{
	return sys_clock_ns(CLOCK_MONOTONIC) / 1000000;
}

/* Shared futexes unless op has FUTEX_PRIVATE_FLAG; no timeout with ms 0. */
static inline int sys_futex_wait(uint32_t *word, int op, uint32_t value,
				 uint32_t ms)
{
	struct timespec limit = {ms / 1000, (long)(ms % 1000) * 1000000};

	return (int)syscall6(SYS_futex, (long)word, op, value,
			     ms ? (long)&limit : 0, 0, 0);
}

static inline void sys_futex_wake(uint32_t *word, int op, int n)
{
	syscall6(SYS_futex, (long)word, op, n, 0, 0, 0);
}

/* Block every signal, also those that libc keeps for itself. */
static inline uint64_t signals_block(void)
{
	uint64_t all = ~0ull, before = 0;

	syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)&before,
		 sizeof(all), 0, 0);
	return before;
}

static inline void signals_restore(uint64_t before)
{
	syscall6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&before, 0,
		 sizeof(before), 0, 0);
}

#endif
