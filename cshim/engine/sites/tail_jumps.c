/* SPDX-License-Identifier: MIT
 *
 * Reads functions' code for where they jump to, and callers' for what they
 * call.
 */
#include "sites/tail_jumps.h"
#include "base/array.h"
#include "elf/insn.h"
#include "sites/sites.h"

#include <stdlib.h>
#include <string.h>

enum {
	INSN_BYTES = 16,
	CODE_MAX = 1 << 20, /* of a function; what lies behind is not read */
};

void tail_jumps_release(struct tail_jumps *t)
{
	hashmap_release(&t->pairs);
	hashmap_release(&t->direct);
	free(t->all);
	*t = (struct tail_jumps){0};
}

/* The jumps of a function that are looked at. */
struct jumps {
	struct modules *modules;
	uint64_t start, target;
	uint64_t to, elsewhere; /* where the code goes on behind the last */
	uint32_t n_to, n_elsewhere;
};

static uint64_t function_start(struct modules *m, uint64_t pc)
{
	struct code code;

	modules_code(m, pc, &code);
	return code.function;
}

static void take_jump(struct jumps *j, const struct insn *i, uint64_t next)
{
	if (i->kind == INSN_JUMP_INDIRECT) {
		j->n_elsewhere++;
		j->elsewhere = next;
	} else if (i->target == j->target) {
		j->n_to++;
		j->to = next;
	} else if (function_start(j->modules, i->target) != j->start &&
		   function_start(j->modules, i->target) != i->target) {
		j->n_elsewhere++; /* by the linkage table, to another file */
		j->elsewhere = next;
	}
}

/* Reads up to INSN_BYTES: there are less before a segment's end. */
static uint64_t read_bytes(struct modules *m, uint64_t at, uint8_t *bytes)
{
	uint64_t n = INSN_BYTES;

	while (n && !modules_bytes(m, at, bytes, n))
		n--;
	return n;
}

/* Finds the jumps of the function that starts there. */
static void find_jumps(struct jumps *j)
{
	uint8_t bytes[INSN_BYTES];
	uint64_t at = j->start;
	struct insn i;

	for (; at < j->start + CODE_MAX; at += i.length) {
		uint64_t n = read_bytes(j->modules, at, bytes);

		if (!n || !insn_decode(&i, bytes, n, at))
			return;
		if (i.kind == INSN_PLAIN || i.kind == INSN_NOP)
			continue;
		if (function_start(j->modules, at) != j->start)
			return;
		if (i.kind == INSN_BRANCH || i.kind == INSN_JUMP ||
		    i.kind == INSN_JUMP_INDIRECT)
			take_jump(j, &i, at + i.length);
	}
}

static struct tail_pair learn(struct sites *s, uint32_t end, uint32_t entry)
{
	const struct cst_site *from = &s->area->sites[end];
	struct jumps j = {
		.modules = spaces_of(&s->spaces, from->process)->modules,
		.start = from->callee,
		.target = s->area->sites[entry].callee,
	};

	find_jumps(&j);
	return (struct tail_pair){
		.call_site = UINT32_MAX,
		.is_certain = j.n_to != 0,
		.from = j.n_to == 1			    ? j.to
			: j.n_to == 0 && j.n_elsewhere == 1 ? j.elsewhere
							    : 0,
	};
}

static struct tail_pair *pair(struct sites *s, uint32_t end, uint32_t entry)
{
	struct tail_jumps *t = &s->tail_jumps;
	uint64_t key = (uint64_t)end << 32 | entry;
	uint32_t *known = hashmap_get(&t->pairs, key);

	if (known)
		return &t->all[*known];
	if (array_room(&t->all, &t->cap, t->n + 1ull) < 0 ||
	    hashmap_put(&t->pairs, key, t->n) < 0)
		return NULL;
	t->all[t->n] = learn(s, end, entry);
	return &t->all[t->n++];
}

/* Is it an entry of the linkage table: a jump to another file's function, whose
 * address is in a slot? */
static int is_linkage(struct modules *m, uint64_t at)
{
	static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
	uint8_t bytes[INSN_BYTES];
	uint32_t begin;
	struct insn i;

	if (!modules_bytes(m, at, bytes, sizeof(bytes)))
		return 0;
	begin = memcmp(bytes, endbr64, sizeof(endbr64)) ? 0 : sizeof(endbr64);
	return insn_decode(&i, bytes + begin, sizeof(bytes) - begin,
			   at + begin) &&
	       i.kind == INSN_JUMP_INDIRECT && i.is_slot;
}

/* Does the call that the entry was made by always lead to its function? */
static int find_direct(struct sites *s, uint32_t entry)
{
	const struct cst_site *site = &s->area->sites[entry];
	struct modules *m = spaces_of(&s->spaces, site->process)->modules;
	uint64_t target = modules_called(m, site->caller);

	return target && (target == site->callee || is_linkage(m, target));
}

static int is_direct(struct sites *s, uint32_t entry)
{
	uint32_t *known = hashmap_get(&s->tail_jumps.direct, entry);
	int found;

	if (known)
		return (int)*known;
	found = find_direct(s, entry);
	hashmap_put(&s->tail_jumps.direct, entry, (uint32_t)found);
	return found;
}

int tail_jumps_lead(struct sites *s, uint32_t end, uint32_t entry,
		    uint32_t first)
{
	const struct tail_pair *p = pair(s, end, entry);

	if (!p)
		return 0;
	if (p->is_certain)
		return 1;
	return first && s->all[first].function != s->all[entry].function &&
	       is_direct(s, first);
}

uint32_t tail_jumps_call_site(struct sites *s, uint32_t end, uint32_t entry)
{
	struct tail_pair *p = pair(s, end, entry);
	struct space *space;

	if (!p || p->call_site != UINT32_MAX)
		return p ? p->call_site : UINT32_MAX;
	p->call_site = names_add_site(s->names, s->all[entry].function);
	if (p->call_site == UINT32_MAX)
		return UINT32_MAX;
	names_set_tail(s->names, p->call_site);
	if (!p->from)
		return p->call_site;
	space = spaces_of(&s->spaces, s->area->sites[end].process);
	names_place_site(s->names, p->call_site, space->number, p->from, 0);
	questions_add(&s->questions, CST_ASK_LINE, space, p->from - 1,
		      p->call_site, 0);
	return p->call_site;
}
