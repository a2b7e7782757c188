/* SPDX-License-Identifier: MIT
 *
 * Lines of /proc/self/maps go into the area as they are: the reader knows how
 * to read them.  Here only which addresses they cover is kept, to know when to
 * look again.  The build-id of the object goes with them: by the time the area
 * is read, another file may stand in its place.
 */
#include "core/mappings.h"
#include "core/area.h"
#include "kernel/buildid.h"
#include "kernel/maps.h"

enum { MAX_KNOWN = 2048 };

/* An executable mapping that was logged. */
struct known {
	uint64_t start, end, offset, inode;
	uint64_t is_there; /* it was, when the maps were last read */
};

static struct known known[MAX_KNOWN];
static uint32_t n_known;
static uint64_t hopeless; /* page of a caller in no mapping */

/* ---- telling --------------------------------------------------------------
 */

static uint32_t length_of(const char *text)
{
	uint32_t n = 0;

	while (text[n])
		n++;
	return n;
}

static int64_t text_add(const char *text)
{
	return area_text(text, length_of(text) + 1, CST_TEXT_SIZE);
}

/* `first` is the object's first byte; 0: it is not mapped. */
static void tell(const char *line, uint64_t first)
{
	static char build_id[BUILD_ID_TEXT];
	int64_t text = text_add(line), id = -1, index;
	struct cst_mapping *m;

	if (text < 0)
		return;
	if (first)
		buildid_read(first, build_id);
	if (first && *build_id)
		id = text_add(build_id);
	index = area_draw(&area->n_mappings, 0, CST_MAX_MAPPINGS);
	if (index < 0 ||
	    area_reserve(area_mapping((uint32_t)index), sizeof(*m)))
		return;
	m = area_mapping((uint32_t)index);
	m->text = (uint32_t)text;
	m->object = (uint32_t)(id + 1);
	m->process = (uint16_t)(state_page.process - 1);
	m->n_sites = __atomic_load_n(&area->n_sites, __ATOMIC_RELAXED);
	/* Pairs with the reader's acquire: the text is there, too. */
	__atomic_store_n(&m->is_complete, 1, __ATOMIC_RELEASE);
}

/* ---- what is known ---------------------------------------------------------
 */

/* What a new mapping takes the place of is of no more use. */
static void forget_within(uint64_t start, uint64_t end)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n_known; i++) {
		if (known[i].start < end && start < known[i].end)
			site_table_retire(known[i].start, known[i].end);
		else
			known[kept++] = known[i];
	}
	n_known = kept;
}

/* *head is the last mapping of an object's beginning: its others follow it. */
static void learn(const char *line, struct known *head)
{
	struct maps_entry e;
	struct known k;
	int is_code = maps_parse(line, &e);

	k = (struct known){e.start, e.end, e.offset, e.inode, 1};
	if (!k.offset)
		*head = k;
	if (!is_code)
		return;
	for (uint32_t i = 0; i < n_known; i++) {
		if (known[i].start == k.start && known[i].end == k.end &&
		    known[i].offset == k.offset && known[i].inode == k.inode) {
			known[i].is_there = 1;
			return;
		}
	}
	forget_within(k.start, k.end);
	if (n_known == MAX_KNOWN)
		return;
	known[n_known++] = k;
	if (k.inode) /* else what has no name anyway */
		tell(line, head->inode == k.inode ? head->start : 0);
}

static struct maps maps;

static void look(void)
{
	struct known head = {0};
	char *line;

	if (maps_open(&maps) < 0)
		return;
	while ((line = maps_next(&maps)))
		learn(line, &head);
	maps_close(&maps);
}

static int is_known(uint64_t addr)
{
	for (uint32_t i = 0; i < n_known; i++)
		if (addr >= known[i].start && addr < known[i].end)
			return 1;
	return 0;
}

void mappings_begin(void)
{
	if (!area->has_mappings)
		return;
	/* A fork may have caught another thread in the middle of its work. */
	n_known = 0;
	look();
}

void mappings_cover(struct site_key k)
{
	if (!area->has_mappings || n_known == MAX_KNOWN)
		return;
	if (is_known(k.callee) &&
	    (k.hook <= CST_PATCHED_LAST || is_known(k.hook)) &&
	    (is_known(k.caller) || k.caller >> 12 == hopeless))
		return;
	look();
	if (!is_known(k.caller))
		hopeless = k.caller >> 12;
}

void mappings_retire(void)
{
	uint32_t kept = 0;

	if (!area || !area->has_mappings)
		return;
	for (uint32_t i = 0; i < n_known; i++)
		known[i].is_there = 0;
	look();
	for (uint32_t i = 0; i < n_known; i++) {
		if (known[i].is_there)
			known[kept++] = known[i];
		else
			site_table_retire(known[i].start, known[i].end);
	}
	n_known = kept;
}

/* ---- stacks ----------------------------------------------------------------
 */

static int ends_with(const char *text, const char *end)
{
	uint32_t n = length_of(text), k = length_of(end);

	if (n < k)
		return 0;
	for (uint32_t i = 0; i < k; i++)
		if (text[n - k + i] != end[i])
			return 0;
	return 1;
}

/* Nothing else may come to lie in the memory that the main thread's stack can
 * grow into. */
static uint64_t main_low(const struct maps_entry *stack, uint64_t before)
{
	uint64_t limit = sys_limit(RLIMIT_STACK);
	uint64_t low = limit < stack->end ? stack->end - limit : 0;

	if (low < before)
		low = before;
	return low < stack->start ? low : stack->start;
}

/* Is there no access to the mapping of this line? */
static int is_guard(const char *line)
{
	while (*line && *line != ' ')
		line++;
	return line[0] == ' ' && line[1] == '-' && line[2] == '-' &&
	       line[3] == '-';
}

/* Is it the stack's line?  libc puts a guard below a thread's stack: without
 * one, nobody knows where it ends. */
static int is_stack(const char *line, const struct maps_entry *at,
		    uint64_t guards_end, uint64_t within)
{
	if (!within)
		return ends_with(line, "[stack]");
	return within >= at->start && within < at->end &&
	       guards_end == at->start;
}

int mappings_stack(uint64_t within, uint64_t *low, uint64_t *high)
{
	uint64_t before = 0, guards_end = 0;
	struct maps_entry at = {0};
	char *line;

	*low = *high = 0;
	if (maps_open(&maps) < 0)
		return -1;
	while (!*high && (line = maps_next(&maps))) {
		maps_parse(line, &at);
		if (is_stack(line, &at, guards_end, within)) {
			*low = within ? at.start : main_low(&at, before);
			*high = at.end;
		}
		if (is_guard(line))
			guards_end = at.end;
		before = at.end;
	}
	maps_close(&maps);
	return *high ? 0 : -1;
}
