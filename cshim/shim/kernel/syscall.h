/* SPDX-License-Identifier: MIT
 *
 * System calls straight to the kernel: libc's wrappers set errno, may be the
 * program's own, and are points of cancellation.  They return a negative errno
 * on failure, also if the program's sandbox forbids the call (syscall_gate.h).
 */
#ifndef SHIM_SYSCALL_H
#define SHIM_SYSCALL_H

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include "kernel/arch.h"
#include "kernel/syscall_gate.h"

static inline int sys_open(const char *path, int flags)
{
	return (int)gate_call(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
}

static inline int sys_open_mode(const char *path, int flags, int mode)
{
	return (int)gate_call(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0,
			      0);
}

/* Returns whether there is a file that this process may execute. */
static inline int sys_can_run(const char *path)
{
	return gate_call(SYS_faccessat, AT_FDCWD, (long)path, 1 /* X_OK */, 0,
			 0, 0) == 0;
}

static inline void sys_unlink(const char *path)
{
	gate_call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

static inline int sys_ftruncate(int fd, long size)
{
	return (int)gate_call(SYS_ftruncate, fd, size, 0, 0, 0, 0);
}

static inline long sys_pwrite(int fd, const void *buf, size_t len, long offset)
{
	return gate_call(SYS_pwrite64, fd, (long)buf, (long)len, offset, 0, 0);
}

static inline long sys_write(int fd, const void *buf, size_t len)
{
	return gate_call(SYS_write, fd, (long)buf, (long)len, 0, 0, 0);
}

static inline int sys_kill(uint32_t pid, int signo)
{
	return (int)gate_call(SYS_kill, (long)pid, signo, 0, 0, 0, 0);
}

static inline int sys_memfd(const char *name)
{
	return (int)gate_call(SYS_memfd_create, (long)name, 1 /* CLOEXEC */, 0,
			      0, 0, 0);
}

static inline int sys_flock(int fd, int operation)
{
	return (int)gate_call(SYS_flock, fd, operation, 0, 0, 0, 0);
}

static inline void sys_close(int fd)
{
	gate_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_lseek(int fd, long offset, int whence)
{
	return gate_call(SYS_lseek, fd, offset, whence, 0, 0, 0);
}

static inline long sys_pread(int fd, void *buf, size_t len, long offset)
{
	return gate_call(SYS_pread64, fd, (long)buf, (long)len, offset, 0, 0);
}

static inline long sys_read(int fd, void *buf, size_t len)
{
	return gate_call(SYS_read, fd, (long)buf, (long)len, 0, 0, 0);
}

/* Returns the address, or a negative errno: the last page holds no mapping. */
static inline long sys_mmap(uint64_t addr, size_t len, int prot, int flags,
			    int fd)
{
	return gate_call(SYS_mmap, (long)addr, (long)len, prot, flags, fd, 0);
}

static inline long sys_mmap_at(uint64_t addr, size_t len, int prot, int flags,
			       int fd, uint64_t offset)
{
	return gate_call(SYS_mmap, (long)addr, (long)len, prot, flags, fd,
			 (long)offset);
}

/* Enlarges a mapping where it is.  Returns its address, or a negative errno. */
static inline long sys_mremap(uint64_t addr, size_t old_len, size_t len)
{
	return gate_call(SYS_mremap, (long)addr, (long)old_len, (long)len, 0, 0,
			 0);
}

/* Returns the soft limit; RLIM_INFINITY also if it cannot be read. */
static inline uint64_t sys_limit(int resource)
{
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};

	gate_call(SYS_getrlimit, resource, (long)&limit, 0, 0, 0, 0);
	return limit.rlim_cur;
}

static inline void sys_munmap(uint64_t addr, size_t len)
{
	if (len)
		gate_call(SYS_munmap, (long)addr, (long)len, 0, 0, 0, 0);
}

static inline int sys_madvise(void *addr, size_t len, int advice)
{
	return (int)gate_call(SYS_madvise, (long)addr, (long)len, advice, 0, 0,
			      0);
}

/* Returns the kernel's number of the calling thread, which libc puts into a
 * mutex that is locked.  It is for sandboxes that forbid to ask; and wrong in
 * threads that the program has cloned without libc. */
static inline uint32_t libcs_tid(void)
{
	pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	int tid;

	pthread_mutex_lock(&mutex);
	tid = mutex.__data.__owner;
	pthread_mutex_unlock(&mutex);
	return (uint32_t)tid;
}

/* Returns the process's number.  Where a sandbox forbids to ask it is that of
 * the calling thread, which is equal in the first thread of a process. */
static inline uint32_t sys_getpid(void)
{
	long pid = gate_call(SYS_getpid, 0, 0, 0, 0, 0, 0);

	return pid < 0 ? libcs_tid() : (uint32_t)pid;
}

static inline uint32_t sys_getppid(void)
{
	return (uint32_t)gate_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_tgkill(uint32_t pid, uint32_t tid, int signo)
{
	return (int)gate_call(SYS_tgkill, (long)pid, (long)tid, signo, 0, 0, 0);
}

static inline uint32_t sys_gettid(void)
{
	long tid = gate_call(SYS_gettid, 0, 0, 0, 0, 0, 0);

	return tid < 0 ? libcs_tid() : (uint32_t)tid;
}

static inline void sys_thread_name(char name[16])
{
	gate_call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
}

/* At most 15 bytes and a NUL. */
static inline int sys_set_thread_name(const char name[16])
{
	return (int)gate_call(SYS_prctl, PR_SET_NAME, (long)name, 0, 0, 0, 0);
}

/* Returns the clock's time in ns, or 0 if it cannot be read. */
static inline uint64_t sys_clock_ns(int clock)
{
	struct timespec now = {0, 0};

	gate_call(SYS_clock_gettime, clock, (long)&now, 0, 0, 0, 0);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t sys_monotonic_ms(void)
{
	uint64_t ns = sys_clock_ns(CLOCK_MONOTONIC);

	/* A tick of a processor of 2 GHz is half a ns; others are not far
	 * from that. */
	return ns ? ns / 1000000 : clock_ticks() >> 21;
}

/* Waits for a wake-up of the futex while *word is `value`, at most ms (0:
 * without a limit). Futexes are shared unless op has FUTEX_PRIVATE_FLAG. */
static inline int sys_futex_wait(uint32_t *word, int op, uint32_t value,
				 uint32_t ms)
{
	struct timespec limit = {ms / 1000, (long)(ms % 1000) * 1000000};

	int status = (int)gate_call(SYS_futex, (long)word, op, value,
				    ms ? (long)&limit : 0, 0, 0);

	if (status < 0) /* perhaps forbidden: then this is all the waiting */
		cpu_relax();
	return status;
}

static inline void sys_futex_wake(uint32_t *word, int op, int n)
{
	gate_call(SYS_futex, (long)word, op, n, 0, 0, 0);
}

#endif
