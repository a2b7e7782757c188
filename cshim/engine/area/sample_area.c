/* SPDX-License-Identifier: MIT
 *
 * A lane's words may be overwritten by the program at any time: each is read
 * once, and every number is checked.
 */
#include "area/sample_area.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int sample_area_new(uint32_t hz, uint32_t clock, struct sample_area **out,
		    struct cst_error *err)
{
	struct sample_area *a = calloc(1, sizeof(*a));
	void *base;

	if (!a)
		return cst_fail_memory(err);
	a->fd = memfd_create("cstrace-samples", MFD_CLOEXEC);
	if (a->fd < 0 || ftruncate(a->fd, sizeof(*a->head)) < 0) {
		sample_area_free(a);
		return cst_fail_sys(err, "cannot make memory for samples");
	}
	base = mmap(NULL, sizeof(*a->head), PROT_READ | PROT_WRITE, MAP_SHARED,
		    a->fd, 0);
	if (base == MAP_FAILED) {
		sample_area_free(a);
		return cst_fail_sys(err, "cannot map memory for samples");
	}
	a->head = base;
	a->head->magic = CST_SAMPLES_MAGIC;
	a->head->size = sizeof(*a->head);
	a->head->hz = hz;
	a->head->clock = clock;
	snprintf(a->path, sizeof(a->path), "/proc/%d/fd/%d", (int)getpid(),
		 a->fd);
	*out = a;
	return 0;
}

void sample_area_free(struct sample_area *a)
{
	if (!a)
		return;
	if (a->head)
		munmap(a->head, sizeof(*a->head));
	if (a->fd >= 0)
		close(a->fd);
	free(a);
}

static uint64_t word_at(const struct cst_lane *l, uint64_t at)
{
	return __atomic_load_n(&l->words[at % CST_LANE_WORDS],
			       __ATOMIC_RELAXED);
}

/* 1: read; 0: nothing waits. */
static int lane_read(struct cst_lane *l, struct sample *out)
{
	uint64_t tail = l->tail, head, first;

	/* Pairs with the writer's release: what lies before it is complete. */
	head = __atomic_load_n(&l->head, __ATOMIC_ACQUIRE);
	if (head - tail < CST_SAMPLE_HEAD)
		return 0;
	first = word_at(l, tail);
	out->n = first & 0xffff;
	out->flags = first >> 16 & 0xffff;
	out->weight = (uint32_t)(first >> 32);
	if (out->n > CST_SAMPLE_FRAMES ||
	    head - tail < (uint64_t)CST_SAMPLE_HEAD + out->n ||
	    head - tail > CST_LANE_WORDS) {
		__atomic_store_n(&l->tail, head, __ATOMIC_RELEASE);
		return 0; /* nonsense */
	}
	out->tick = word_at(l, tail + 1);
	for (uint32_t i = 0; i < out->n; i++)
		out->frames[i] = word_at(l, tail + CST_SAMPLE_HEAD + i);
	/* Pairs with the writer's acquire: it may write there again. */
	__atomic_store_n(&l->tail, tail + CST_SAMPLE_HEAD + out->n,
			 __ATOMIC_RELEASE);
	return 1;
}

/* Its thread has ended, and all is read. */
static void lane_recycle(struct cst_lane *l)
{
	l->head = l->tail = 0;
	l->process = 0;
	__atomic_store_n(&l->is_ended, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&l->tid, 0, __ATOMIC_RELEASE);
}

int sample_area_next(struct sample_area *a, uint32_t *lane, struct sample *out)
{
	for (; *lane < CST_SAMPLE_LANES; ++*lane) {
		struct cst_lane *l = &a->head->lanes[*lane];
		uint32_t tid = __atomic_load_n(&l->tid, __ATOMIC_ACQUIRE);
		uint32_t process =
			__atomic_load_n(&l->process, __ATOMIC_ACQUIRE);
		uint32_t is_ended =
			__atomic_load_n(&l->is_ended, __ATOMIC_ACQUIRE);

		if (!tid || !process || process > CST_SAMPLED_PROCESSES)
			continue;
		out->tid = tid;
		out->process = process - 1;
		if (lane_read(l, out))
			return 1;
		if (is_ended)
			lane_recycle(l);
	}
	return 0;
}

uint64_t sample_area_lost(const struct sample_area *a)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < CST_SAMPLE_LANES; i++)
		n += __atomic_load_n(&a->head->lanes[i].n_lost,
				     __ATOMIC_RELAXED);
	return n;
}

uint32_t sample_area_processes(const struct sample_area *a)
{
	uint32_t n = __atomic_load_n(&a->head->n_processes, __ATOMIC_ACQUIRE);

	return n < CST_SAMPLED_PROCESSES ? n : CST_SAMPLED_PROCESSES;
}
