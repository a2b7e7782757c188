/* SPDX-License-Identifier: MIT
 *
 * Lines of /proc/self/maps go into the area as they are: the reader knows how
 * to read them.  Here only which addresses they cover is kept, to know when to
 * look again.  The build-id of the object goes with them: by the time the area
 * is read, another file may stand in its place.
 */
#include "core/mappings.h"
#include "core/area.h"
#include "core/process.h"
#include "kernel/buildid.h"
#include "kernel/syscall.h"

enum { MAX_KNOWN = 2048, BUFFER_SIZE = 8192 };

/* An executable mapping that was told of. */
struct known {
	uint64_t start, end, offset, inode;
	uint64_t is_there; /* it was, when the maps were last read */
};

static struct known known[MAX_KNOWN];
static uint32_t n_known;
static uint64_t hopeless; /* page of a caller in no mapping */

/* ---- reading the maps -----------------------------------------------------
 */

struct lines {
	int fd;
	uint32_t at, size; /* in the buffer */
	char buffer[BUFFER_SIZE];
};

static void lines_fill(struct lines *l)
{
	uint32_t kept = l->size - l->at;
	long n;

	for (uint32_t i = 0; i < kept; i++)
		l->buffer[i] = l->buffer[l->at + i];
	l->at = 0;
	l->size = kept;
	n = sys_read(l->fd, l->buffer + kept, BUFFER_SIZE - kept);
	if (n > 0)
		l->size += (uint32_t)n;
}

static uint32_t lines_end(const struct lines *l)
{
	uint32_t i = l->at;

	while (i < l->size && l->buffer[i] != '\n')
		i++;
	return i;
}

/* The next line, NUL-ended; NULL: there is none. */
static char *lines_next(struct lines *l)
{
	uint32_t end = lines_end(l);
	char *line;

	if (end == l->size) {
		lines_fill(l);
		end = lines_end(l);
	}
	if (end == l->size)
		return 0;
	line = l->buffer + l->at;
	l->buffer[end] = 0;
	l->at = end + 1;
	return line;
}

static uint64_t number(const char **text, uint64_t base)
{
	uint64_t value = 0;

	for (;; (*text)++) {
		char c = **text;

		if (c >= '0' && c <= '9')
			value = value * base + (uint64_t)(c - '0');
		else if (base == 16 && c >= 'a' && c <= 'f')
			value = value * base + (uint64_t)(c - 'a' + 10);
		else
			return value;
	}
}

static const char *behind(const char *text, char c)
{
	while (*text && *text != c)
		text++;
	while (*text == c)
		text++;
	return text;
}

/* "start-end rwxp offset device inode  path".  1: it is executable. */
static int parse(const char *line, struct known *out)
{
	int is_code;

	out->start = number(&line, 16);
	if (*line++ != '-')
		return 0;
	out->end = number(&line, 16);
	for (int i = 0; i < 3; i++) /* the space, r and w */
		if (!*line++)
			return 0;
	is_code = *line == 'x';
	line = behind(line, ' ');
	out->offset = number(&line, 16);
	line = behind(behind(line, ' '), ' ');
	out->inode = number(&line, 10);
	out->is_there = 1;
	return is_code;
}

/* ---- telling --------------------------------------------------------------
 */

static uint32_t length_of(const char *text)
{
	uint32_t n = 0;

	while (text[n])
		n++;
	return n;
}

/* Where the text is put, or -1: there is no room. */
static int64_t text_add(const char *text)
{
	uint32_t size = length_of(text) + 1;
	uint32_t at = __atomic_load_n(&area->n_text, __ATOMIC_RELAXED);
	char *to;

	do {
		if (at > CST_TEXT_SIZE || CST_TEXT_SIZE - at < size)
			return -1;
	} while (!__atomic_compare_exchange_n(&area->n_text, &at, at + size, 0,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	to = (char *)area_at(CST_AT_TEXT) + at;
	if (area_reserve(to, size))
		return -1;
	for (uint32_t i = 0; i < size; i++)
		to[i] = text[i];
	return at;
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
	__atomic_store_n(&m->is_whole, 1, __ATOMIC_RELEASE);
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
	struct known k = {0};
	int is_code = parse(line, &k);

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

static void look(void)
{
	static struct lines lines;
	struct known head = {0};
	char *line;

	lines.at = lines.size = 0;
	lines.fd = sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (lines.fd < 0)
		return;
	while ((line = lines_next(&lines)))
		learn(line, &head);
	sys_close(lines.fd);
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

void mappings_cover(const struct site_key *k)
{
	if (!area->has_mappings || n_known == MAX_KNOWN)
		return;
	if (is_known(k->callee) && is_known(k->hook) &&
	    (is_known(k->caller) || k->caller >> 12 == hopeless))
		return;
	look();
	if (!is_known(k->caller))
		hopeless = k->caller >> 12;
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
