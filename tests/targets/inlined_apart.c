/* SPDX-License-Identifier: MIT
 *
 * With optimization an inlined function's last instructions lie apart, and
 * begin with no statement.
 */
struct node {
	double value;
	int key, next;
};

struct table {
	char kind;
	unsigned char size;
	unsigned mask;
	struct node *nodes;
};

static const double absent = 0.5;

__attribute__((noinline)) const double *generic(struct table *t, const int *key)
{
	return *key < 9 ? &t->nodes[0].value : &absent;
}

static inline const double *find(struct table *t, int key, char kind)
{
	struct node *n = &t->nodes[key & ((1 << t->size) - 1)];
	for (;;) { /* check whether the key is somewhere in the chain */
		if (n->key == key && kind == 4) {
			return &n->value; /* that's it */
		} else {
			int next = n->next;
			if (next == 0)
				return &absent; /* not found */
			n += next;
		}
	}
}

__attribute__((noinline)) const double *get(struct table *t, int key, char kind)
{
	if (kind == 4)
		return find(t, key, kind);
	else {
		int copy = key;
		return generic(t, &copy);
	}
}

int main(void)
{
	struct node nodes[4] = {{1, 4, 1}, {2, 8, 0}, {3, 2, 1}, {4, 3, 0}};
	struct table t = {4, 2, 3, nodes};
	double sum = 0;

	for (int key = 1; key < 14; key++)
		sum += *get(&t, key, key & 8 ? 3 : 4);
	return sum < 0;
}
