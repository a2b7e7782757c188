/* SPDX-License-Identifier: MIT
 *
 * Takes samples out of their memory.  Where their code is from is found at
 * once, as long as the process is there; what a function is called, when the
 * recorder's other names are.
 */
#include "recorder/sampling.h"
#include "file/writer_samples.h"
#include "recorder/interrupt_cost.h"
#include "recorder/recorder.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	LOOK_AGAIN_NS = 100000000, /* at the maps, for code that came since */
	USUAL_HZ = 997,
	SLEEPERS_US = 4000, /* between two looks at who waits */
	MAX_LINE = 4096,
};

/* ---- processes ----------------------------------------------------------- */

/* An exec'ed program has the pid of the one before. */
static uint32_t first_of_pid(const struct sampling *s, uint32_t index,
			     uint32_t pid)
{
	for (uint32_t i = index; i-- > 0;)
		if (s->area->head->processes[i].pid == pid &&
		    s->processes[i].process != UINT32_MAX)
			return s->processes[i].process + 1;
	return 0;
}

/* What the process itself has read of its maps, at its begin. */
static void take_maps(struct modules *modules, uint32_t pid,
		      const struct cst_sampled_process *p)
{
	uint32_t n = __atomic_load_n(&p->maps_size, __ATOMIC_ACQUIRE);
	char line[MAX_LINE], none[1] = "";
	uint64_t start, end;

	if (n > sizeof(p->maps))
		n = sizeof(p->maps);
	for (uint32_t at = 0; at < n;) {
		uint32_t length = 0;

		while (at + length < n && p->maps[at + length] != '\n' &&
		       length < MAX_LINE - 1) {
			line[length] = p->maps[at + length];
			length++;
		}
		line[length] = '\0';
		at += length + 1;
		modules_map(modules, pid, line, none, &start, &end);
	}
}

static void look(struct cst_recorder *r, struct sampled *known, uint32_t pid)
{
	known->looked_ns = clock_monotonic_ns();
	modules_refresh(spaces_of(&r->sites.spaces, known->process)->modules,
			pid, NULL);
}

/* NULL: no room for it. */
static struct sampled *process_of(struct cst_recorder *r, uint32_t index)
{
	struct sampling *s = &r->sampling;
	struct cst_sampled_process *p = &s->area->head->processes[index];
	struct sampled *known = &s->processes[index];
	uint32_t pid = __atomic_load_n(&p->pid, __ATOMIC_ACQUIRE);
	struct modules *modules;

	if (known->process != UINT32_MAX)
		return known;
	if (!pid)
		return NULL;
	known->process = area_expect(r->area, pid, first_of_pid(s, index, pid));
	if (known->process == UINT32_MAX)
		return NULL;
	known->begin_ns = clock_monotonic_ns();
	modules = spaces_of(&r->sites.spaces, known->process)->modules;
	take_maps(modules, pid, p);
	if (!p->maps_size) /* a fork child */
		look(r, known, pid);
	return known;
}

/* ---- places and nodes ---------------------------------------------------- */

static uint32_t unknown_function(struct cst_recorder *r, int is_vdso)
{
	uint32_t *known = &r->sampling.unknown[is_vdso != 0];
	uint32_t id;

	if (*known)
		return *known - 1;
	id = names_add_function(r->names, 0);
	if (id == UINT32_MAX)
		return id;
	names_set_function(r->names, id, is_vdso ? "[vdso]" : "[unknown]", NULL,
			   NULL, NULL);
	*known = id + 1;
	return id;
}

/* The kernel's code in the process, which is in no file. */
static void find_vdso(struct sampled *known, uint32_t pid)
{
	char line[MAX_LINE];
	FILE *f;

	snprintf(line, sizeof(line), "/proc/%u/maps", pid);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%" SCNx64 "-%" SCNx64, &known->vdso_start,
			       &known->vdso_end);
	if (f)
		fclose(f);
}

static uint32_t code_of_no_file(struct cst_recorder *r, struct sampled *p,
				uint32_t pid, uint64_t addr)
{
	if (!p->vdso_end)
		find_vdso(p, pid);
	return unknown_function(r, addr >= p->vdso_start && addr < p->vdso_end);
}

/* 0: out of memory; else the number + 1. */
static uint32_t place_of(struct cst_recorder *r, struct sampled *p,
			 uint32_t pid, uint64_t addr)
{
	struct sampling *s = &r->sampling;
	uint32_t *known = hashmap_get(&p->places, addr ? addr : 1);
	struct modules *modules;
	uint32_t function;

	if (known)
		return *known;
	modules = spaces_of(&r->sites.spaces, p->process)->modules;
	if (!modules_has(modules, addr) &&
	    clock_monotonic_ns() - p->looked_ns > LOOK_AGAIN_NS)
		look(r, p, pid);
	function = sites_function_with(&r->sites, p->process, addr);
	if (function == UINT32_MAX)
		function = code_of_no_file(r, p, pid, addr);
	if (function == UINT32_MAX ||
	    hashmap_put(&p->places, addr ? addr : 1, s->n_places + 1) < 0)
		return 0;
	writer_place(r->writer, s->n_places, function, addr);
	return ++s->n_places;
}

/* 0: out of memory. */
static uint32_t node_of(struct cst_recorder *r, uint32_t parent, uint32_t place)
{
	struct sampling *s = &r->sampling;
	uint64_t key = (uint64_t)parent << 32 | place;
	uint32_t *known = hashmap_get(&s->nodes, key);

	if (known)
		return *known;
	if (hashmap_put(&s->nodes, key, s->n_nodes + 1) < 0)
		return 0;
	s->n_nodes++;
	writer_node(r->writer, s->n_nodes, parent, place - 1);
	return s->n_nodes;
}

uint32_t sampling_node(struct cst_recorder *r, const struct sample *sample)
{
	struct sampled *p = process_of(r, sample->process);
	uint32_t pid = r->sampling.area->head->processes[sample->process].pid;
	uint32_t node = 0;

	for (uint32_t i = p ? sample->n : 0; i-- > 0;) {
		uint32_t place = place_of(r, p, pid, sample->frames[i]);

		if (place)
			node = node_of(r, node, place);
	}
	return node;
}

static void put_sample(struct cst_recorder *r, uint32_t index, uint32_t tid,
		       struct writer_sample *out)
{
	uint32_t pid = r->sampling.area->head->processes[index].pid;
	struct sampled *p = process_of(r, index);
	struct thread *t;

	t = p ? threads_of_tid(&r->threads, &r->calls, p->process, pid, tid, "")
	      : NULL;
	if (!t)
		return;
	r->has_begun = 1;
	out->thread = t->index;
	writer_sample(r->writer, out);
	r->sampling.n_samples += out->weight;
	r->sampling.n_taken++;
}

static void take_sample(struct cst_recorder *r, const struct sample *sample)
{
	struct writer_sample out = {
		.tick = pauses_skip(&r->pauses, sample->tick),
		.weight = sample->weight,
		.is_cut = (sample->flags & CST_SAMPLE_CUT) != 0,
	};

	if (sample->tick < r->calls.begin_ticks)
		return;
	out.node = sampling_node(r, sample);
	put_sample(r, sample->process, sample->tid, &out);
}

/* ---- for who waits ------------------------------------------------------- */

void sampling_count(struct cst_recorder *r, uint32_t index, uint32_t tid,
		    uint32_t node, uint32_t weight, int is_cut)
{
	struct writer_sample out = {
		.tick = pauses_skip(&r->pauses, clock_ticks()),
		.weight = weight,
		.node = node,
		.is_cut = (uint8_t)is_cut,
	};

	put_sample(r, index, tid, &out);
}

/* Its pid may be that of a program that it has exec'ed since. */
int sampling_is_on(struct cst_recorder *r, uint32_t index, uint32_t *pid)
{
	const struct sampling *s = &r->sampling;
	const struct cst_samples *head = s->area->head;
	uint32_t n = sample_area_processes(s->area);
	const struct sampled *p = &s->processes[index];

	if (index >= n || p->process == UINT32_MAX)
		return 0;
	*pid = head->processes[index].pid;
	for (uint32_t i = index + 1; i < n; i++)
		if (head->processes[i].pid == *pid)
			return 0;
	return __atomic_load_n(&head->is_on, __ATOMIC_RELAXED) &&
	       !__atomic_load_n(&head->processes[index].is_ended,
				__ATOMIC_RELAXED) &&
	       (!s->for_ns || clock_monotonic_ns() - p->begin_ns < s->for_ns);
}

struct modules *sampling_modules(struct cst_recorder *r, uint32_t index)
{
	struct sampled *p = process_of(r, index);

	return p ? spaces_of(&r->sites.spaces, p->process)->modules : NULL;
}

uint64_t sampling_period(const struct sampling *s)
{
	uint32_t mult, shift;
	uint64_t ns = 1000000000ull / s->area->head->hz;

	clock_rate(&mult, &shift);
	return mult ? (uint64_t)(((unsigned __int128)ns << shift) / mult) : ns;
}

uint32_t sampling_rest_us(const struct sampling *s, uint32_t usual)
{
	int has_sleepers = s->area && s->area->head->is_on &&
			   s->area->head->clock == CST_SAMPLE_WALL;

	return has_sleepers && usual > SLEEPERS_US ? SLEEPERS_US : usual;
}

/* ---- the whole ----------------------------------------------------------- */

static void tell_how(struct cst_recorder *r)
{
	struct sampling *s = &r->sampling;
	const struct cst_samples *head = s->area->head;
	uint32_t source = __atomic_load_n(&head->source, __ATOMIC_RELAXED);
	uint64_t lost = sample_area_lost(s->area);

	if (s->reported_source != source + 1) {
		struct writer_sampling how = {head->hz, head->clock, source};

		writer_sampling(r->writer, &how);
		s->reported_source = source + 1;
	}
	if (lost != s->n_lost)
		writer_samples_lost(r->writer, lost);
	s->n_lost = lost;
}

uint32_t sampling_round(struct cst_recorder *r)
{
	struct sampling *s = &r->sampling;
	uint32_t lane = 0, n = 0;

	if (!s->area)
		return 0;
	/* Short programs may have ended before their first sample is read. */
	for (uint32_t i = sample_area_processes(s->area); i-- > 0;)
		process_of(r, i);
	while (sample_area_next(s->area, &lane, &s->sample)) {
		if (r->writer)
			take_sample(r, &s->sample);
		n++;
	}
	if (r->writer && s->area->head->clock == CST_SAMPLE_WALL)
		sleepers_look(r);
	if (r->writer)
		tell_how(r);
	return n;
}

void sampling_forget(struct sampling *s)
{
	for (uint32_t i = 0; i < CST_SAMPLED_PROCESSES; i++)
		hashmap_release(&s->processes[i].places);
	hashmap_release(&s->nodes);
	sleepers_release(&s->sleepers);
	s->n_places = s->n_nodes = 0;
	s->n_samples = s->n_taken = s->n_lost = 0;
	s->reported_source = 0;
}

void sampling_release(struct sampling *s)
{
	sampling_forget(s);
	sample_area_free(s->area);
	*s = (struct sampling){0};
}

/* Where interrupts are expensive, a perf event comes for several samples at
 * once, or the kernel's own ticks take them.  Who wants more of them than usual
 * gets them. */
static void set_source(struct cst_samples *head, uint32_t source)
{
	uint32_t each = 1;

	if (source == CST_SAMPLE_UNKNOWN && head->hz <= USUAL_HZ)
		each = interrupt_samples(interrupt_cost_ns(), head->hz);
	head->source = each ? source : CST_SAMPLE_TIMERS;
	head->each = each ? each : 1;
}

int cst_recorder_sample(struct cst_recorder *r, uint32_t hz, uint32_t clock,
			uint32_t source, uint64_t for_ns, struct cst_error *err)
{
	uint32_t mult, shift;
	int status;

	if (!hz || hz > CST_SAMPLE_MAX_HZ)
		return cst_fail(CST_BAD_INPUT, err,
				"samples are taken 1 to %u times a second",
				CST_SAMPLE_MAX_HZ);
	pthread_mutex_lock(&r->lock);
	if (r->sampling.area) {
		r->sampling.area->head->hz = hz;
		r->sampling.area->head->clock = clock;
		r->sampling.reported_source = 0;
		status = 0;
	} else {
		status = sample_area_new(hz, clock, &r->sampling.area, err);
		for (uint32_t i = 0; i < CST_SAMPLED_PROCESSES; i++)
			r->sampling.processes[i].process = UINT32_MAX;
	}
	clock_rate(&mult, &shift);
	r->sampling.for_ns = for_ns;
	if (status == 0) {
		struct cst_samples *head = r->sampling.area->head;

		set_source(head, source);
		head->for_ticks =
			(uint64_t)(((unsigned __int128)for_ns << shift) /
				   (mult ? mult : 1));
		head->is_on = 1;
	}
	pthread_mutex_unlock(&r->lock);
	return status;
}

void cst_recorder_sample_end(struct cst_recorder *r)
{
	pthread_mutex_lock(&r->lock);
	if (r->sampling.area)
		__atomic_store_n(&r->sampling.area->head->is_on, 0,
				 __ATOMIC_RELAXED);
	pthread_mutex_unlock(&r->lock);
}

const char *cst_recorder_samples_path(const struct cst_recorder *r)
{
	return r->sampling.area ? r->sampling.area->path : "";
}

uint32_t cst_recorder_sampled(const struct cst_recorder *r)
{
	return r->sampling.area ? sample_area_processes(r->sampling.area) : 0;
}
