/* SPDX-License-Identifier: MIT
 *
 * Writes the records of functions, call sites, threads, lanes, modules and of
 * the trace itself, which meta_read.c reads.
 */
#include "file/meta_write.h"
#include "file/writer.h"

#include <sys/utsname.h>

void meta_put_function(struct bytes *out, const struct names *n, uint32_t id)
{
	const struct function *f = &n->functions[id];

	bytes_put_byte(out, 1);
	bytes_put_varint(out, id);
	bytes_put_varint(out, f->addr);
	bytes_put_byte(out, (uint8_t)(f->is_std | f->kind << 1));
	bytes_put_text(out, f->name);
	bytes_put_text(out, f->symbol);
	bytes_put_text(out, f->module);
	bytes_put_text(out, function_is_exception(f) ? f->message : f->file);
	if (!f->values)
		return;
	bytes_put_byte(out, 3);
	bytes_put_varint(out, id);
	bytes_put_text(out, f->values);
}

void meta_put_site(struct bytes *out, const struct names *n, uint32_t id)
{
	const struct call_site *s = &n->sites[id];

	bytes_put_byte(out, 2);
	bytes_put_varint(out, id);
	bytes_put_varint(out, s->function);
	bytes_put_varint(out, s->line);
	bytes_put_text(out, s->file);
}

void meta_put_function_place(struct bytes *out, const struct names *n,
			     uint32_t id)
{
	if (!names_lacks_function(n, id))
		return;
	bytes_put_byte(out, 1);
	bytes_put_varint(out, id);
	bytes_put_varint(out, n->functions[id].space);
}

void meta_put_site_place(struct bytes *out, const struct names *n, uint32_t id)
{
	const struct call_site *s = &n->sites[id];

	if (!names_lacks_site(n, id))
		return;
	bytes_put_byte(out, 2);
	bytes_put_varint(out, id);
	bytes_put_varint(out, s->space);
	bytes_put_varint(out, s->caller);
	bytes_put_varint(out, s->hook);
}

void meta_put_size(struct bytes *out, const struct names *n, uint32_t id)
{
	if (!n->functions[id].size)
		return;
	bytes_put_varint(out, id);
	bytes_put_varint(out, n->functions[id].size);
}

void meta_put_tail(struct bytes *out, const struct names *n, uint32_t id)
{
	if (n->sites[id].is_tail)
		bytes_put_varint(out, id);
}

void meta_put_thread(struct bytes *out, uint32_t index,
		     const struct thread_record *t)
{
	bytes_put_byte(out, 1);
	bytes_put_varint(out, index);
	bytes_put_varint(out, t->process);
	bytes_put_varint(out, t->pid);
	bytes_put_varint(out, t->ordinal);
	bytes_put_varint(out, t->tid);
	bytes_put_text(out, t->name);
}

void meta_put_lane(struct bytes *out, uint32_t index, uint32_t process,
		   uint32_t thread, uint32_t ordinal)
{
	bytes_put_byte(out, 2);
	bytes_put_varint(out, index);
	bytes_put_varint(out, process);
	bytes_put_varint(out, thread);
	bytes_put_varint(out, ordinal);
}

void meta_put_module(struct bytes *out, const struct writer_module *m)
{
	bytes_put_byte(out, 1);
	bytes_put_varint(out, m->space);
	bytes_put_text(out, m->path);
	bytes_put_text(out, *m->build_id ? m->build_id : NULL);
	bytes_put_varint(out, m->start);
	bytes_put_varint(out, m->end);
	bytes_put_varint(out, m->bias);
}

void meta_put_end(struct bytes *out, uint64_t end_ticks,
		  const struct cst_losses *l)
{
	bytes_put_varint(out, end_ticks);
	bytes_put_varint(out, l->n_limit);
	bytes_put_varint(out, l->is_limit_reached);
	bytes_put_varint(out, l->n_full);
	bytes_put_varint(out, l->n_sites);
	bytes_put_varint(out, l->n_threads);
	bytes_put_varint(out, l->n_holes);
	bytes_put_varint(out, l->n_past_begin);
	bytes_put_varint(out, l->n_past_all);
	bytes_put_varint(out, l->n_past_sealed);
	bytes_put_varint(out, l->n_past_exec);
	bytes_put_text(out, l->past_exec);
	bytes_put_varint(out, l->n_ended);
	bytes_put_varint(out, l->n_dropped);
}

void meta_put_meta(struct bytes *out, const struct writer_options *o)
{
	static const struct cst_choice all;
	const struct cst_choice *choice = o->choice ? o->choice : &all;
	struct utsname host;

	bytes_put_text(out, CST_VERSION);
	bytes_put_text(out, uname(&host) < 0 ? NULL : host.nodename);
	bytes_put_text(out, o->command);
	bytes_put_text(out, o->module);
	bytes_put_varint(out, o->start_ticks);
	bytes_put_varint(out, o->start_wall_ns);
	bytes_put_varint(out, o->ns_mult);
	bytes_put_varint(out, o->ns_shift);
	bytes_put_text(out, choice->filter);
	bytes_put_varint(out, choice->depth);
	bytes_put_varint(out, choice->min_ns);
	bytes_put_text(out, choice->from);
	bytes_put_text(out, choice->until);
	bytes_put_text(out, choice->file);
	bytes_put_text(out, choice->module);
}
