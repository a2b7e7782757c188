// SPDX-License-Identifier: MIT
//
// oracle SEED CALLS LOG: a program that decides by dice what to call next,
// and writes down on its own, in LOG, what it called: a line "DEPTH FUNCTION
// LINE" for each call in order of entry, LINE being that of the call.  Among
// the calls are recursion, small functions that get inlined, callbacks,
// exceptions and longjmp() over frames.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>

#define UNTRACED __attribute__((no_instrument_function))
#define NOTE note(depth, __func__, line)
#define CALL(function) function(depth + 1, __LINE__)
#define CALL_ANY pick()(depth + 1, __LINE__)

using Function = void (*)(int depth, int line);

struct Entry {
	int depth, line;
	const char *name;
};

static Entry *entries;
static int n_entries, n_wanted;
static unsigned dice;
static int n_tries;	  // catchers on the stack
static jmp_buf *landing;  // of the innermost jumper
static int compare_depth; // of comparisons under way

UNTRACED static void note(int depth, const char *name, int line)
{
	entries[n_entries++] = Entry{depth, line, name};
}

UNTRACED static unsigned roll(unsigned sides)
{
	dice = dice * 1664525 + 1013904223;
	return (dice >> 16) % sides;
}

UNTRACED static Function pick();

static inline void small(int depth, int line)
{
	NOTE;
}

static void leaf(int depth, int line)
{
	NOTE;
}

static void several(int depth, int line)
{
	NOTE;
	CALL(small);
	for (unsigned i = roll(3) + 1; i; i--)
		CALL_ANY;
	CALL(small);
}

static void deep(int depth, int line)
{
	NOTE;
	if (roll(5))
		CALL(deep);
	else
		CALL_ANY;
	CALL(leaf);
}

static void thrower(int depth, int line)
{
	NOTE;
	if (n_tries)
		throw depth;
	CALL(leaf);
}

static void catcher(int depth, int line)
{
	jmp_buf *landing_here = landing;
	int n_tries_here = n_tries;

	NOTE;
	try {
		n_tries++;
		CALL_ANY;
	} catch (int) {
		CALL(small);
	}
	n_tries = n_tries_here;
	landing = landing_here;
	CALL(leaf);
}

static void leaper(int depth, int line)
{
	NOTE;
	if (landing)
		longjmp(*landing, 1);
	CALL(leaf);
}

static void jumper(int depth, int line)
{
	jmp_buf here;
	jmp_buf *volatile landing_here = landing;
	volatile int n_tries_here = n_tries;

	NOTE;
	landing = &here;
	if (setjmp(here) == 0)
		CALL_ANY;
	else
		CALL(small);
	n_tries = n_tries_here;
	landing = landing_here;
	CALL(leaf);
}

// The C library calls it: that call has no line.
static int compare(const void *a, const void *b)
{
	note(compare_depth, __func__, 0);
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static void sorter(int depth, int line)
{
	int values[4];

	NOTE;
	for (int &value : values)
		value = static_cast<int>(roll(100));
	compare_depth = depth + 1;
	qsort(values, 4, sizeof(values[0]), compare);
}

static Function pick()
{
	static const Function all[] = {
		leaf,	 leaf,	 several, several, several, several, deep,
		thrower, leaper, catcher, catcher, jumper,  jumper,  sorter,
	};

	return n_entries < n_wanted ? all[roll(sizeof(all) / sizeof(*all))]
				    : leaf;
}

UNTRACED static int save(const char *path)
{
	FILE *log = fopen(path, "w");

	if (!log)
		return 1;
	for (int i = 0; i < n_entries; i++)
		fprintf(log, "%d %s %d\n", entries[i].depth, entries[i].name,
			entries[i].line);
	return fclose(log) != 0;
}

// Not atoi(): the header's inline one is instrumented like all else.
UNTRACED static int number(const char *text)
{
	return static_cast<int>(strtol(text, nullptr, 10));
}

int main(int argc, char **argv)
{
	int depth = 0;

	if (argc != 4)
		return 2;
	dice = static_cast<unsigned>(number(argv[1]));
	n_wanted = number(argv[2]);
	// What is on the stack when the number is reached adds a little.
	entries = static_cast<Entry *>(calloc(
		static_cast<size_t>(n_wanted) * 2 + 4096, sizeof(Entry)));
	note(depth, "main", 0);
	while (n_entries < n_wanted)
		CALL(several);
	return save(argv[3]);
}
