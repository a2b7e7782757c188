// SPDX-License-Identifier: MIT
//
// Functions that begin with a vector register's clearing, for what is inlined.
#include <cstdio>
#include <vector>

__attribute__((noinline)) static std::size_t many(int n, const char *text)
{
	std::vector<int> all;

	for (int i = 0; i < n; i++)
		all.push_back(text[0] + i);
	return all.size() + all.front();
}

__attribute__((noinline)) static double scaled(double first, int n)
{
	std::vector<double> all;

	for (int i = 0; i < n; i++)
		all.push_back(first * i);
	return all.back();
}

__attribute__((noipa)) double unused([[maybe_unused]] double first, int n)
{
	std::vector<double> all;

	for (int i = 0; i < n; i++)
		all.push_back(i);
	return all.back();
}

struct Shape {
	std::vector<int> corners, sides;

	__attribute__((noinline)) explicit Shape(int n)
	{
		corners.push_back(n);
		sides.push_back(n + 1);
	}
	__attribute__((noinline)) int sum() const
	{
		return corners.back() + sides.back();
	}
};

int main(int count, char **)
{
	const char *volatile text = "abc";
	Shape shape(count + 3);

	std::printf("%zu %g %g %d\n", many(count + 2, text),
		    scaled(count + 0.5, count + 6),
		    unused(count + 1.5, count + 6), shape.sum());
	return 0;
}
