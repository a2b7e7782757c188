/* SPDX-License-Identifier: MIT
 *
 * A thread that has not run since the last look has the same stack as then.
 */
#include "recorder/sleepers.h"
#include "base/array.h"
#include "base/task_file.h"
#include "recorder/recorder.h"
#include "recorder/sleeping_stack.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOOK_NS = 4000000,
	/* A look at many threads takes long: then they are fewer. */
	REST_FACTOR = 20,
	RAN_SIZE = 64,
};

struct sleeper {
	uint32_t process, tid; /* process: index in the samples' memory */
	uint32_t look;	       /* the last that saw it */
	uint32_t node;	       /* of its stack */
	char ran[RAN_SIZE];    /* how long and how often, as the kernel says */
	uint64_t tick, rest;   /* of the last look; time of no sample yet */
	uint8_t is_known, is_cut; /* node and is_cut are of this sleep */
};

/* ---- what the kernel says of a thread
 * ---------------------------------------- */

/* It waits: neither runs nor is stopped. */
static int is_asleep(uint32_t pid, uint32_t tid)
{
	char text[256];
	const char *end;

	if (!task_file_read(pid, tid, "stat", text, sizeof(text)))
		return 0;
	end = strrchr(text, ')');
	return end && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

/* ---- one thread
 * --------------------------------------------------------------- */

static struct sleeper *sleeper_of(struct sleepers *s, uint32_t process,
				  uint32_t tid)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->all[i].tid == tid && s->all[i].process == process)
			return &s->all[i];
	if (array_room(&s->all, &s->cap, s->n + 1ull) < 0)
		return NULL;
	s->all[s->n] = (struct sleeper){.process = process, .tid = tid};
	return &s->all[s->n++];
}

/* Sets the stack of its sleep; 0: it woke up meanwhile. */
static int find_stack(struct cst_recorder *r, struct sleeper *one, uint32_t pid)
{
	struct sampling *s = &r->sampling;
	struct modules *modules = sampling_modules(r, one->process);
	struct sleeping_place place;
	char ran[RAN_SIZE];
	int is_cut = 0;

	if (!modules || !sleeping_place(pid, one->tid, &place))
		return 0;
	s->sample.n = sleeping_stack(modules, pid, &place, s->sample.frames,
				     CST_SAMPLE_FRAMES, &is_cut);
	if (!task_file_read(pid, one->tid, "schedstat", ran, sizeof(ran)) ||
	    strcmp(ran, one->ran) != 0)
		return 0;
	s->sample.process = one->process;
	s->sample.tid = one->tid;
	s->sample.flags = is_cut ? CST_SAMPLE_CUT : 0;
	one->node = sampling_node(r, &s->sample);
	one->is_cut = (uint8_t)is_cut;
	one->is_known = 1;
	return 1;
}

static void look_at(struct cst_recorder *r, uint32_t process, uint32_t pid,
		    uint32_t tid)
{
	struct sleepers *s = &r->sampling.sleepers;
	struct sleeper *one = sleeper_of(s, process, tid);
	uint64_t now = pauses_skip(&r->pauses, clock_ticks()), weight;
	uint64_t since, period = sampling_period(&r->sampling);
	char ran[RAN_SIZE] = "";

	if (!one)
		return;
	/* The time before a trace's first call is none of it, as soon as that
	 * is known. */
	since = one->tick && now > one->tick ? now - one->tick : 0;
	one->tick = now;
	one->look = s->n_looks;
	task_file_read(pid, tid, "schedstat", ran, sizeof(ran));
	if (strcmp(ran, one->ran) != 0) {
		memcpy(one->ran, ran, sizeof(ran));
		one->is_known = 0;
	}
	if (!is_asleep(pid, tid) ||
	    (!one->is_known && !find_stack(r, one, pid)))
		return;
	one->rest += since;
	weight = one->rest / period;
	one->rest %= period;
	if (weight)
		sampling_count(r, process, tid, one->node, (uint32_t)weight,
			       one->is_cut);
}

/* ---- all of them
 * --------------------------------------------------------------- */

static void look_at_all(struct cst_recorder *r, uint32_t process, uint32_t pid)
{
	char path[64];
	struct dirent *e;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	folder = opendir(path);
	while (folder && (e = readdir(folder))) {
		uint32_t tid = (uint32_t)strtoul(e->d_name, NULL, 10);

		if (tid)
			look_at(r, process, pid, tid);
	}
	if (folder)
		closedir(folder);
}

static void drop_unseen(struct sleepers *s)
{
	for (uint32_t i = s->n; i-- > 0;)
		if (s->all[i].look != s->n_looks)
			s->all[i] = s->all[--s->n];
}

void sleepers_look(struct cst_recorder *r)
{
	struct sleepers *s = &r->sampling.sleepers;
	uint64_t now = clock_monotonic_ns();
	uint32_t pid;

	if (now - s->looked_ns < LOOK_NS ||
	    now - s->looked_ns < REST_FACTOR * s->took_ns)
		return;
	s->n_looks++;
	for (uint32_t i = 0; i < CST_SAMPLED_PROCESSES; i++)
		if (sampling_is_on(r, i, &pid))
			look_at_all(r, i, pid);
	drop_unseen(s);
	s->looked_ns = now;
	now = clock_monotonic_ns() - now;
	/* One that had to open files says nothing of the next. */
	s->took_ns = now < s->last_took_ns ? now : s->last_took_ns;
	s->last_took_ns = now;
}

void sleepers_release(struct sleepers *s)
{
	free(s->all);
	*s = (struct sleepers){0};
}
