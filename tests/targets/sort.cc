/* SPDX-License-Identifier: MIT
 *
 * User code below the C++ library: a comparator that std::sort calls, a
 * lambda, methods and an operator.
 */
#include <algorithm>
#include <cstdio>
#include <vector>

struct Money {
	int cents;
	bool operator<(const Money &other) const
	{
		return cents < other.cents;
	}
};

namespace shop
{
class Till
{
      public:
	void put(int cents)
	{
		all.push_back(Money{cents});
	}
	int highest();

      private:
	std::vector<Money> all;
};

int Till::highest()
{
	std::sort(all.begin(), all.end());
	return all.back().cents;
}
} // namespace shop

template <typename T> T twice(T value)
{
	return value + value;
}

int main()
{
	shop::Till till;
	auto fill = [&till](int cents) { till.put(cents); };

	fill(30);
	fill(10);
	fill(20);
	printf("%d\n", twice(till.highest()));
	return 0;
}
