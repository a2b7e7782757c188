// SPDX-License-Identifier: MIT
//
// The C++ library calling user code, and user code calling the library: all
// the library's functions are instrumented too.  Prints how often the
// comparisons were called.
#include <algorithm>
#include <cstdio>
#include <map>
#include <vector>

static int n_before;
static int n_less;

struct Key {
	int value;
	bool operator<(const Key &other) const
	{
		n_less++;
		return value < other.value;
	}
};

static bool before(int a, int b)
{
	n_before++;
	return a < b;
}

static void sort_some()
{
	std::vector<int> v;

	for (int i = 0; i < 40; i++)
		v.push_back(i * 7 % 40);
	std::sort(v.begin(), v.end(), before);
}

static void map_some()
{
	std::map<Key, int> m;

	for (int i = 0; i < 5; i++)
		m[Key{i}] = i;
}

int main()
{
	sort_some();
	map_some();
	std::printf("before %d, less %d\n", n_before, n_less);
	return 0;
}
