/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "check_near.h"
#include "cstrace/engine.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LENGTH = 63 };

/* What of a name people remember: neither scope nor parameters. */
static void short_name(const char *name, char out[MAX_LENGTH + 1])
{
	size_t end = strcspn(name, "(<"), start = end;

	while (start && (isalnum((unsigned char)name[start - 1]) ||
			 name[start - 1] == '_'))
		start--;
	if (end - start > MAX_LENGTH)
		end = start + MAX_LENGTH;
	for (size_t i = start; i < end; i++)
		out[i - start] = (char)tolower((unsigned char)name[i]);
	out[end - start] = '\0';
}

static unsigned least(unsigned a, unsigned b, unsigned c)
{
	unsigned m = a < b ? a : b;

	return m < c ? m : c;
}

/* How many letters must be changed, put in or taken out. */
static unsigned distance(const char *a, const char *b)
{
	unsigned row[MAX_LENGTH + 2];
	size_t n = strlen(b);

	for (size_t k = 0; k <= n; k++)
		row[k] = (unsigned)k;
	for (size_t i = 0; a[i]; i++) {
		unsigned corner = row[0];

		row[0] = (unsigned)i + 1;
		for (size_t k = 0; k < n; k++) {
			unsigned above = row[k + 1];

			row[k + 1] = least(above + 1, row[k] + 1,
					   corner + (a[i] != b[k]));
			corner = above;
		}
	}
	return row[n];
}

static void put(struct check_near *n, const char *name, unsigned d)
{
	int i = N_NEAR;

	for (int k = 0; k < N_NEAR && n->names[k]; k++)
		if (!strcmp(n->names[k], name))
			return;
	while (i > 0 && (!n->names[i - 1] || n->distances[i - 1] > d))
		i--;
	if (i == N_NEAR)
		return;
	free(n->names[N_NEAR - 1]);
	for (int k = N_NEAR - 1; k > i; k--) {
		n->names[k] = n->names[k - 1];
		n->distances[k] = n->distances[k - 1];
	}
	n->names[i] = strdup(name);
	n->distances[i] = d;
}

void check_near_find(struct check_near *out, const struct check_code *c,
		     const char *name)
{
	char wanted[MAX_LENGTH + 1], found[MAX_LENGTH + 1], full[1024];

	*out = (struct check_near){0};
	if (*name == '^')
		name++;
	short_name(name, wanted);
	if (strlen(wanted) < 2)
		return;
	for (uint32_t i = 0; i < c->n_functions; i++) {
		unsigned d;

		cst_demangle(c->functions[i].name, full, sizeof(full));
		short_name(full, found);
		d = distance(wanted, found);
		if (d <= 1 + strlen(wanted) / 4 ||
		    (*found && strlen(wanted) > 3 && strstr(found, wanted)))
			put(out, full, d);
	}
}

void check_near_release(struct check_near *n)
{
	for (int i = 0; i < N_NEAR; i++)
		free(n->names[i]);
	*n = (struct check_near){0};
}
