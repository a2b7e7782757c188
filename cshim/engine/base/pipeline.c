/* SPDX-License-Identifier: MIT
 *
 * Passes blocks from a thread that fills them to the caller, through a ring of
 * four, with one lock and one condition.  If no thread can be started the
 * caller fills them itself.
 */
#include "base/pipeline.h"
#include "base/worker.h"

#include <pthread.h>
#include <stdlib.h>

struct pipeline {
	pipeline_fill_fn fill;
	void *arg;
	struct bytes blocks[PUMP_BLOCKS];
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n_filled, n_taken; /* blocks so far */
	int has_thread;
	int is_held;  /* the block behind the taken ones is the caller's */
	int status;   /* of the last fill: 1 while going on */
	int is_ended; /* nobody will take more */
	struct cst_error err;
};

static void pipeline_init(struct pipeline *p, pipeline_fill_fn fill, void *arg)
{
	*p = (struct pipeline){.fill = fill,
			       .arg = arg,
			       .status = 1,
			       .lock = PTHREAD_MUTEX_INITIALIZER,
			       .changed = PTHREAD_COND_INITIALIZER};
}

/* Wait for an empty block. NULL: the other side does not want any. */
static struct bytes *pipeline_empty(struct pipeline *p)
{
	int is_ended;

	pthread_mutex_lock(&p->lock);
	while (p->n_filled - p->n_taken == PUMP_BLOCKS && !p->is_ended)
		pthread_cond_wait(&p->changed, &p->lock);
	is_ended = p->is_ended;
	pthread_mutex_unlock(&p->lock);
	return is_ended ? NULL : &p->blocks[p->n_filled % PUMP_BLOCKS];
}

static void *pipeline_thread(void *arg)
{
	struct pipeline *p = arg;
	struct bytes *b;
	int status = 1;

	while (status == 1 && (b = pipeline_empty(p))) {
		b->len = 0;
		status = p->fill(p->arg, b, &p->err);
		pthread_mutex_lock(&p->lock);
		p->status = status;
		if (status >= 0)
			p->n_filled++;
		pthread_cond_signal(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

/* Without a thread the blocks are filled when they are asked for. */
static void pipeline_start(struct pipeline *p)
{
	p->has_thread = !worker_start(&p->thread, pipeline_thread, p);
}

static void pipeline_release(struct pipeline *p)
{
	pthread_mutex_lock(&p->lock);
	p->is_ended = 1;
	pthread_cond_signal(&p->changed);
	pthread_mutex_unlock(&p->lock);
	if (p->has_thread)
		pthread_join(p->thread, NULL);
	for (int i = 0; i < PUMP_BLOCKS; i++)
		bytes_release(&p->blocks[i]);
}

struct pipeline *pipeline_new(pipeline_fill_fn fill, void *arg)
{
	struct pipeline *p = malloc(sizeof(*p));

	if (!p)
		return NULL;
	pipeline_init(p, fill, arg);
	pipeline_start(p);
	return p;
}

void pipeline_free(struct pipeline *p)
{
	if (!p)
		return;
	pipeline_release(p);
	free(p);
}

/* A block in the caller's own thread, always the first one. */
static struct bytes *pipeline_fill_here(struct pipeline *p)
{
	struct bytes *b = &p->blocks[0];

	if (p->status != 1)
		return NULL;
	b->len = 0;
	p->status = p->fill(p->arg, b, &p->err);
	p->n_filled = 1;
	p->is_held = 1;
	return p->status < 0 ? NULL : b;
}

/* Give the last block back and wait for a full one. */
static struct bytes *pipeline_full(struct pipeline *p)
{
	struct bytes *b = NULL;

	pthread_mutex_lock(&p->lock);
	if (p->is_held) {
		p->n_taken++;
		pthread_cond_signal(&p->changed);
	}
	while (p->n_filled == p->n_taken && p->status == 1)
		pthread_cond_wait(&p->changed, &p->lock);
	if (p->n_filled != p->n_taken)
		b = &p->blocks[p->n_taken % PUMP_BLOCKS];
	p->is_held = b != NULL;
	pthread_mutex_unlock(&p->lock);
	return b;
}

int pipeline_next(struct pipeline *p, const struct bytes **out,
		  struct cst_error *err)
{
	*out = p->has_thread ? pipeline_full(p) : pipeline_fill_here(p);
	if (*out)
		return 1;
	if (p->status < 0 && err)
		*err = p->err;
	return p->status < 0 ? p->status : 0;
}

int pipeline_run(pipeline_fill_fn fill, void *fill_arg, cst_write_fn write,
		 void *write_arg, struct cst_error *err)
{
	const struct bytes *b;
	struct pipeline p;
	int got, status = 0;

	pipeline_init(&p, fill, fill_arg);
	got = pipeline_next(&p, &b, err);
	if (got == 1 && p.status == 1)
		pipeline_start(&p);
	while (got == 1) {
		if (b->len)
			status =
				write(write_arg, (const char *)b->data, b->len);
		if (status < 0)
			break;
		got = pipeline_next(&p, &b, err);
	}
	pipeline_release(&p);
	return status < 0 ? status : got;
}
