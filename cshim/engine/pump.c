/* SPDX-License-Identifier: MIT */
#include "pump.h"

#include <pthread.h>
#include <signal.h>

struct pump {
	pump_fill_fn fill;
	void *arg;
	struct bytes blocks[PUMP_BLOCKS];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned n_filled, n_written; /* blocks so far */
	int status;		      /* of the last fill: 1 while going on */
	int is_ended;		      /* by the writing side */
	struct cst_error err;
};

/* Wait for an empty block. NULL: the other side does not want any. */
static struct bytes *pump_empty(struct pump *p)
{
	int is_ended;

	pthread_mutex_lock(&p->lock);
	while (p->n_filled - p->n_written == PUMP_BLOCKS && !p->is_ended)
		pthread_cond_wait(&p->changed, &p->lock);
	is_ended = p->is_ended;
	pthread_mutex_unlock(&p->lock);
	return is_ended ? NULL : &p->blocks[p->n_filled % PUMP_BLOCKS];
}

static void *pump_thread(void *arg)
{
	struct pump *p = arg;
	struct bytes *b;
	int status = 1;

	while (status == 1 && (b = pump_empty(p))) {
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

/* Wait for a full block. NULL: there will be none. */
static struct bytes *pump_full(struct pump *p)
{
	struct bytes *b = NULL;

	pthread_mutex_lock(&p->lock);
	while (p->n_filled == p->n_written && p->status == 1)
		pthread_cond_wait(&p->changed, &p->lock);
	if (p->n_filled != p->n_written)
		b = &p->blocks[p->n_written % PUMP_BLOCKS];
	pthread_mutex_unlock(&p->lock);
	return b;
}

static int pump_drain(struct pump *p, cst_write_fn write, void *arg)
{
	struct bytes *b;
	int status = 0;

	while (status == 0 && (b = pump_full(p))) {
		if (b->len)
			status = write(arg, (const char *)b->data, b->len);
		pthread_mutex_lock(&p->lock);
		p->n_written++;
		p->is_ended = status < 0;
		pthread_cond_signal(&p->changed);
		pthread_mutex_unlock(&p->lock);
	}
	return status < 0 ? status : 0;
}

/* gdb's signals are for gdb's threads. */
static int pump_start(struct pump *p, pthread_t *out)
{
	sigset_t all, old;
	int failed;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	failed = pthread_create(out, NULL, pump_thread, p);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return failed ? -1 : 0;
}

/* Without a second thread: one after the other. */
static int pump_alone(struct pump *p, cst_write_fn write, void *arg)
{
	struct bytes *b = &p->blocks[0];
	int status = 0;

	while (status == 0) {
		if (b->len)
			status = write(arg, (const char *)b->data, b->len);
		if (status < 0 || p->status != 1)
			break;
		b->len = 0;
		p->status = p->fill(p->arg, b, &p->err);
		if (p->status < 0)
			break;
	}
	return status < 0 ? status : 0;
}

int pump_run(pump_fill_fn fill, void *fill_arg, cst_write_fn write,
	     void *write_arg, struct cst_error *err)
{
	struct pump p = {.fill = fill,
			 .arg = fill_arg,
			 .lock = PTHREAD_MUTEX_INITIALIZER,
			 .changed = PTHREAD_COND_INITIALIZER};
	pthread_t thread;
	int status = 0;

	p.status = fill(fill_arg, &p.blocks[0], &p.err);
	p.n_filled = p.status >= 0;
	if (p.status == 1 && pump_start(&p, &thread) == 0) {
		status = pump_drain(&p, write, write_arg);
		pthread_join(thread, NULL);
	} else if (p.status >= 0) {
		status = pump_alone(&p, write, write_arg);
	}
	for (int i = 0; i < PUMP_BLOCKS; i++)
		bytes_release(&p.blocks[i]);
	if (status < 0)
		return status;
	if (p.status < 0 && err)
		*err = p.err;
	return p.status < 0 ? p.status : 0;
}
