/* SPDX-License-Identifier: MIT
 *
 * With a bug: the last order takes it to a crash in a function that is right,
 * called with what another one got wrong before.  gdb's backtrace shows only
 * who is still there; the tree shows who was, and is gone.
 */
#include <stdio.h>
#include <string.h>

struct item {
	const char *name;
	int n;
	struct item *substitute; /* what to sell when there is none left */
};

static struct item items[] = {
	{"apple", 2, NULL},
	{"pear", 1, NULL},
	{"plum", 0, NULL},
};

enum { N_ITEMS = sizeof(items) / sizeof(items[0]) };

static struct item *item_find(const char *name)
{
	for (int i = 0; i < N_ITEMS; i++)
		if (!strcmp(items[i].name, name))
			return &items[i];
	return NULL;
}

/* The bug: nobody looks whether the substitute is in the list. */
static void item_replace(struct item *item, const char *name)
{
	item->substitute = item_find(name);
}

static void item_sell(struct item *item)
{
	if (!item->n)
		item = item->substitute;
	item->n--;
}

static void order(const char *name)
{
	struct item *item = item_find(name);

	if (item)
		item_sell(item);
	printf("sold: %s\n", name);
}

static void season_begin(void)
{
	item_replace(item_find("apple"), "pear");
	item_replace(item_find("plum"), "peach");
}

int main(void)
{
	season_begin();
	order("apple");
	order("pear");
	order("plum");
	return 0;
}
