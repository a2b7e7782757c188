/* SPDX-License-Identifier: MIT
 *
 * Makes the shared area, gives its chunks to the writers and gets them back
 * through a lock-free list, and sleeps and wakes with futexes.  Everything that
 * is read here may be overwritten by the traced program at any time.
 */
#include "area/area.h"
#include "area/area_users.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(pthread_mutex_t) <=
		       sizeof(((struct cst_area *)0)->reader_lock),
	       "area layout");

enum { FEWEST_CHUNKS = 64 };

static void futex_wake(uint32_t *word, int n)
{
	syscall(SYS_futex, word, FUTEX_WAKE, n, NULL, NULL, 0);
}

static void futex_wait(uint32_t *word, uint32_t value, uint32_t timeout_us)
{
	struct timespec limit = {
		.tv_sec = timeout_us / 1000000,
		.tv_nsec = (long)(timeout_us % 1000000) * 1000,
	};

	syscall(SYS_futex, word, FUTEX_WAIT, value, &limit, NULL, 0);
}

static int area_lock_init(struct area *a, struct cst_error *err)
{
	pthread_mutex_t *lock = (pthread_mutex_t *)a->head->reader_lock;
	pthread_mutexattr_t attr;
	int failed;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	failed = pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
	if (failed) {
		errno = failed;
		return cst_fail_sys(err, "cannot make the reader's lock");
	}
	return 0;
}

void area_place(struct area *a, uint8_t *base)
{
	a->head = (struct cst_area *)base;
	a->processes = (struct cst_process *)(base + CST_AT_PROCESSES);
	a->threads = (struct cst_thread *)(base + CST_AT_THREADS);
	a->chunks = (struct cst_chunk *)(base + CST_AT_CHUNK_STATES);
	a->mappings = (struct cst_mapping *)(base + CST_AT_MAPPINGS);
	a->text = (const char *)base + CST_AT_TEXT;
	a->copies = (uint32_t *)(base + CST_AT_COPIES);
	a->steps = (struct cst_copy *)(base + CST_AT_STEPS);
	a->hooks = (struct cst_hook *)(base + CST_AT_HOOKS);
	a->sites = (struct cst_site *)(base + CST_AT_SITES);
	a->records = base + CST_AT_CHUNKS;
}

static void area_push(struct area *a, uint32_t i)
{
	uint64_t head = __atomic_load_n(&a->head->free_head, __ATOMIC_RELAXED);
	uint64_t next;

	__atomic_store_n(&a->chunks[i].state, CST_CHUNK_FREE, __ATOMIC_RELAXED);
	do {
		__atomic_store_n(&a->chunks[i].next, (uint32_t)head,
				 __ATOMIC_RELAXED);
		next = ((head >> 32) + 1) << 32 | (i + 1);
		/* Pairs with the acquire of the writer that takes it: the
		 * chunk is zeroed. */
	} while (!__atomic_compare_exchange_n(&a->head->free_head, &head, next,
					      1, __ATOMIC_RELEASE,
					      __ATOMIC_RELAXED));
}

static void area_announce(struct area *a, int n)
{
	__atomic_fetch_add(&a->head->free_seq, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&a->head->n_waiting, __ATOMIC_SEQ_CST))
		futex_wake(&a->head->free_seq, n);
}

static void area_add_chunks(struct area *a, uint32_t n)
{
	uint32_t from = a->n_chunks;

	/* The usual pool is made at once, not by faults under load. */
	if (from + n <= CST_USUAL_CHUNKS)
		madvise(area_chunk(a, from), (size_t)n * CST_CHUNK_SIZE,
			MADV_POPULATE_WRITE);
	a->n_chunks = from + n;
	__atomic_store_n(&a->head->n_chunks, a->n_chunks, __ATOMIC_RELEASE);
	/* The lowest last: it is the first to be taken. */
	for (uint32_t i = a->n_chunks; i > from; i--)
		area_push(a, i - 1);
	area_announce(a, (int)n);
}

/* Returns how many chunks fit into half of the address space that this process
 * may have; the rest is for names, packing and the program that this engine is
 * loaded into. */
static uint32_t chunks_in_reach(uint64_t *limit)
{
	struct rlimit r;
	uint64_t room;

	if (getrlimit(RLIMIT_AS, &r) || r.rlim_cur == RLIM_INFINITY)
		return CST_MAX_CHUNKS;
	*limit = r.rlim_cur;
	room = r.rlim_cur / 2;
	if (room >= CST_AREA_SIZE)
		return CST_MAX_CHUNKS;
	return room > CST_AT_CHUNKS
		       ? (uint32_t)((room - CST_AT_CHUNKS) / CST_CHUNK_SIZE)
		       : 0;
}

static uint64_t mapped_size(const struct area *a)
{
	return CST_AT_CHUNKS + (uint64_t)a->max_chunks * CST_CHUNK_SIZE;
}

static int area_map(struct area *a, struct cst_error *err)
{
	uint64_t limit = 0;
	void *base;

	a->max_chunks = chunks_in_reach(&limit);
	if (a->max_chunks < FEWEST_CHUNKS)
		return cst_fail(
			CST_FAILED, err,
			"cannot map the shared memory: the address "
			"space is limited to %llu KiB (ulimit -v), "
			"%llu are needed",
			(unsigned long long)limit >> 10,
			(CST_AT_CHUNKS + FEWEST_CHUNKS * CST_CHUNK_SIZE) >>
				9); /* twice that */
	base = mmap(NULL, mapped_size(a), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_NORESERVE, a->fd, 0);
	if (base == MAP_FAILED)
		return cst_fail_sys(err, "cannot map the shared memory");
	area_place(a, base);
	return 0;
}

int area_new(uint32_t n_chunks, struct area **out, struct cst_error *err)
{
	struct area *a = calloc(1, sizeof(*a));

	if (!a)
		return cst_fail_memory(err);
	a->fd = memfd_create("cstrace", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (a->fd < 0 || ftruncate(a->fd, (off_t)CST_AREA_SIZE) < 0 ||
	    /* The program can open it, too: were it to cut it short, we would
	     * die of SIGBUS. */
	    fcntl(a->fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
		cst_fail_sys(err, "cannot make the shared memory");
		area_free(a);
		return CST_FAILED;
	}
	if (area_map(a, err) < 0) {
		area_free(a);
		return CST_FAILED;
	}
	snprintf(a->path, sizeof(a->path), "/proc/%d/fd/%d", (int)getpid(),
		 a->fd);
	if (area_lock_init(a, err) < 0) {
		area_free(a);
		return CST_FAILED;
	}
	a->since_ticks = area_now_ticks();
	a->head->size = CST_AREA_SIZE;
	a->head->n_sites = CST_FIRST_SITE;
	a->head->has_mappings = 1;
	a->head->layout = CST_LAYOUT;
	a->head->magic = CST_AREA_MAGIC;
	area_add_chunks(a, n_chunks < a->max_chunks ? n_chunks : a->max_chunks);
	*out = a;
	return 0;
}

void area_free(struct area *a)
{
	if (!a)
		return;
	if (a->head)
		munmap(a->head, mapped_size(a));
	if (a->fd >= 0)
		close(a->fd);
	free(a->is_copied);
	free(a);
}

void area_hold(struct area *a)
{
	pthread_mutex_lock((pthread_mutex_t *)a->head->reader_lock);
}

void area_end(struct area *a)
{
	__atomic_store_n(&a->head->is_ended, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_add(&a->head->free_seq, 1, __ATOMIC_SEQ_CST);
	futex_wake(&a->head->free_seq, INT_MAX);
	futex_wake(&a->head->sync_done, INT_MAX);
}

void area_grow(struct area *a)
{
	uint32_t room = a->max_chunks - a->n_chunks;
	uint32_t n = a->n_chunks > FEWEST_CHUNKS ? a->n_chunks : FEWEST_CHUNKS;

	if (room)
		area_add_chunks(a, n < room ? n : room);
}

int area_fill(struct area *a, uint32_t most)
{
	uint32_t room = most > a->n_chunks ? most - a->n_chunks : 0;

	if (room)
		area_add_chunks(a, room < FEWEST_CHUNKS ? room : FEWEST_CHUNKS);
	return room > FEWEST_CHUNKS;
}

/* Drops the copy of a chunk of a file (area_copy()). */
static void let_go(struct area *a, uint32_t chunk)
{
	if (!a->is_copied || !a->is_copied[chunk])
		return;
	a->is_copied[chunk] = 0;
	madvise(area_chunk(a, chunk), CST_CHUNK_SIZE, MADV_DONTNEED);
}

void area_give(struct area *a, uint32_t chunk)
{
	if (a->is_past) {
		a->chunks[chunk].state = CST_CHUNK_FREE;
		let_go(a, chunk);
		return;
	}
	memset(area_chunk(a, chunk), 0, CST_CHUNK_SIZE);
	area_push(a, chunk);
	if (++a->n_given >= a->n_chunks / 8)
		area_wake(a);
}

void area_wake(struct area *a)
{
	if (a->n_given)
		area_announce(a, (int)a->n_given);
	a->n_given = 0;
}

int area_is_starved(const struct area *a)
{
	return __atomic_load_n(&a->head->n_waiting, __ATOMIC_SEQ_CST) &&
	       !(uint32_t)__atomic_load_n(&a->head->free_head,
					  __ATOMIC_SEQ_CST);
}

uint64_t area_bytes(const struct area *a)
{
	struct stat st;

	return fstat(a->fd, &st) < 0 ? 0 : (uint64_t)st.st_blocks * 512;
}

uint32_t area_find_process(const struct area *a, uint32_t pid, uint32_t first)
{
	uint32_t n = __atomic_load_n(&a->head->n_processes, __ATOMIC_ACQUIRE);

	if (n > CST_MAX_PROCESSES)
		n = CST_MAX_PROCESSES;
	while (n-- > first)
		if (__atomic_load_n(&a->processes[n].pid, __ATOMIC_ACQUIRE) ==
		    pid)
			return n;
	return UINT32_MAX;
}

uint32_t area_expect(struct area *a, uint32_t pid, uint32_t first)
{
	uint32_t i = area_find_process(a, pid, first);

	if (i != UINT32_MAX)
		return i;
	i = __atomic_load_n(&a->head->n_processes, __ATOMIC_RELAXED);
	do {
		if (i >= CST_MAX_PROCESSES)
			return UINT32_MAX;
	} while (!__atomic_compare_exchange_n(&a->head->n_processes, &i, i + 1,
					      1, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	a->processes[i].is_expected = 1;
	/* Pairs with the acquire of process_register(). */
	__atomic_store_n(&a->processes[i].pid, pid, __ATOMIC_RELEASE);
	return i;
}

int area_has_execed(const struct area *a, uint32_t process)
{
	uint32_t n = __atomic_load_n(&a->head->n_processes, __ATOMIC_ACQUIRE);

	for (uint32_t i = process + 1; i < n && i < CST_MAX_PROCESSES; i++)
		if (a->processes[i].pid == a->processes[process].pid)
			return 1;
	return 0;
}

int area_thread_has_ended(const struct area *a, uint32_t thread)
{
	uint32_t tid =
		__atomic_load_n(&a->threads[thread].tid, __ATOMIC_ACQUIRE);
	uint32_t process =
		__atomic_load_n(&a->threads[thread].process, __ATOMIC_RELAXED);
	uint32_t pid;

	if (!tid || process >= CST_MAX_PROCESSES)
		return 0;
	pid = __atomic_load_n(&a->processes[process].pid, __ATOMIC_ACQUIRE);
	if (!pid)
		return 0;
	if (a->is_elsewhere)
		return __atomic_load_n(&a->threads[thread].is_ended,
				       __ATOMIC_ACQUIRE) ||
		       area_has_execed(a, process);
	return (syscall(SYS_tgkill, pid, tid, 0) < 0 && errno == ESRCH) ||
	       area_has_execed(a, process);
}

uint32_t area_add_site(struct area *a, const struct cst_site *site)
{
	uint32_t i = __atomic_fetch_add(&a->head->n_sites, 1, __ATOMIC_RELAXED);

	if (i >= CST_MAX_SITES)
		return 0;
	a->sites[i] = *site;
	__atomic_store_n(&a->sites[i].kind, site->kind, __ATOMIC_RELEASE);
	return i;
}

/* Does a hook wait for a look at its site, and has come since the last time? */
static int has_new_sites(struct area *a)
{
	uint32_t n = __atomic_load_n(&a->head->n_sites, __ATOMIC_SEQ_CST);
	uint32_t before = a->n_sites_seen;

	a->n_sites_seen = n;
	return n != before &&
	       __atomic_load_n(&a->head->n_copy_waiting, __ATOMIC_SEQ_CST);
}

void area_sleep(struct area *a, uint32_t timeout_us)
{
	__atomic_store_n(&a->head->reader_sleeps, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&a->head->sync_asked, __ATOMIC_SEQ_CST) ==
		    a->head->sync_done &&
	    !area_is_starved(a) && !has_new_sites(a))
		futex_wait(&a->head->reader_sleeps, 1, timeout_us);
	__atomic_store_n(&a->head->reader_sleeps, 0, __ATOMIC_SEQ_CST);
}

void area_end_sleep(struct area *a)
{
	__atomic_store_n(&a->head->reader_sleeps, 0, __ATOMIC_SEQ_CST);
	futex_wake(&a->head->reader_sleeps, 1);
}

void area_answer(struct area *a, uint32_t ticket)
{
	if (a->head->sync_done == ticket)
		return;
	__atomic_store_n(&a->head->sync_done, ticket, __ATOMIC_SEQ_CST);
	futex_wake(&a->head->sync_done, INT_MAX);
}
