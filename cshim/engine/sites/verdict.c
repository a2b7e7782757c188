/* SPDX-License-Identifier: MIT
 *
 * Decides for each site whether its records are wanted, and writes that, and
 * what else is known of it, where the hooks look.
 */
#include "sites/verdict.h"
#include "sites/copies.h"

int verdict_is_muted(struct sites *s, uint32_t function)
{
	uint32_t bytes = s->names->functions[function].size;

	if (bytes && bytes < s->keep_bytes)
		return 1;
	return s->mute && filter_excludes(s->mute, s->names, function);
}

/* Tells the hooks, which heed it where calls of some depth only are wanted. */
static void have_news(struct sites *s)
{
	__atomic_fetch_add(&s->area->head->n_judged, 1, __ATOMIC_RELEASE);
}

static void site_publish(struct sites *s, uint32_t number)
{
	const struct site *site = &s->all[number];
	struct cst_site *raw = &s->area->sites[number];
	uint8_t frame = site->is_cfa_of_fp ? CST_CFA_OF_FP : CST_CFA_OF_SP;

	if (site->is_near || site->cfa_offset < 8 || site->cfa_offset % 8 ||
	    site->cfa_offset / 8 > UINT16_MAX)
		frame = CST_CFA_UNKNOWN;
	else
		__atomic_store_n(&raw->cfa_words,
				 (uint16_t)(site->cfa_offset / 8),
				 __ATOMIC_RELAXED);
	if (s->places[number].is_inlined)
		frame |= CST_INLINED;
	__atomic_store_n(&raw->frame, frame, __ATOMIC_RELEASE);
}

void verdict_publish(struct sites *s)
{
	if (s->n_published == s->n)
		return;
	for (; s->n_published < s->n; s->n_published++)
		if (s->all[s->n_published].kind == CST_ENTER)
			site_publish(s, s->n_published);
	have_news(s);
}

void verdict_mute(struct sites *s, uint32_t number, int muted)
{
	if (s->all[number].is_own)
		s->all[number].is_excluded = muted != 0;
	else
		s->all[number].is_muted = muted != 0;
	if (!muted && !s->all[number].is_own) {
		copies_judge(s, number);
		return;
	}
	/* No fence: a hook that sees it late makes a record more, which is
	 * dropped here. */
	if (muted)
		__atomic_store_n(&s->area->head->has_verdicts, 1,
				 __ATOMIC_RELAXED);
	__atomic_store_n(&s->area->sites[number].verdict,
			 (uint8_t)(muted ? CST_MUTED : CST_RECORDED),
			 __ATOMIC_RELAXED);
}

void verdict_function(struct sites *s, uint32_t function)
{
	int muted = verdict_is_muted(s, function);

	for (uint32_t i = s->first_of_function[function]; i;
	     i = s->places[i].next_of_function)
		verdict_mute(s, i, muted);
}

void verdict_all(struct sites *s)
{
	for (uint32_t i = 0; i < s->names->n_functions; i++) {
		if (i < s->cap_functions)
			verdict_function(s, i);
	}
	have_news(s);
}
