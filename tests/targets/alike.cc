// SPDX-License-Identifier: MIT
//
// Functions whose names are parts of others', which are called before them.
#include <cstdio>

namespace
{

struct Sum {
	int n;

	Sum operator++()
	{
		n++;
		return *this;
	}
	Sum operator+(const Sum &other) const
	{
		return Sum{n + other.n};
	}
};

int order_of(int n)
{
	return n + 1;
}

int order(int n)
{
	return order_of(n) + 1;
}

int never()
{
	return 0;
}

} // namespace

int (*const kept)() = never;

int main()
{
	Sum sum{1};
	int n = order_of(1);

	++sum;
	sum = sum + Sum{order(n)};
	std::printf("%d\n", sum.n);
	return 0;
}
