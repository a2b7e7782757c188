/* SPDX-License-Identifier: MIT
 *
 * Counts words in a hash table.  It is slow, and the report tells why: the
 * hash looks at a word's first letter only, so most words end up in a few
 * long chains.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N_CHAINS = 256, N_WORDS = 20000, N_DIFFERENT = 1000, WORD_SIZE = 8 };

struct word {
	struct word *next;
	char text[WORD_SIZE];
	int n;
};

static struct word *chains[N_CHAINS];

static unsigned hash(const char *text)
{
	return (unsigned char)text[0];
}

static int is_same(const struct word *word, const char *text)
{
	return !strcmp(word->text, text);
}

static struct word *find(const char *text)
{
	struct word *word = chains[hash(text)];

	while (word && !is_same(word, text))
		word = word->next;
	return word;
}

static void add(const char *text)
{
	struct word *word = calloc(1, sizeof(*word));

	if (!word)
		exit(1);
	strcpy(word->text, text);
	word->n = 1;
	word->next = chains[hash(text)];
	chains[hash(text)] = word;
}

static void count(const char *text)
{
	struct word *word = find(text);

	if (word)
		word->n++;
	else
		add(text);
}

/* "b17" and the like. */
static void make_word(int i, char *text)
{
	int n = i * 7919 % N_DIFFERENT;

	snprintf(text, WORD_SIZE, "%c%d", 'a' + n % 4, n);
}

int main(void)
{
	char text[WORD_SIZE];

	for (int i = 0; i < N_WORDS; i++) {
		make_word(i, text);
		count(text);
	}
	printf("%d times b17\n", find("b17")->n);
	return 0;
}
