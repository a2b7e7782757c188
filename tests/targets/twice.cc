// SPDX-License-Identifier: MIT
//
// Functions with hooks that say by cstrace.h that they are called: of classes,
// of templates, left by an exception, without a name.
#include <cstrace/cstrace.h>
#include <stdexcept>

namespace shop
{

struct Till {
	Till()
	{
		CSTRACE_FUNCTION;
	}

	template <class T> T sum(T a)
	{
		CSTRACE_FUNCTION;
		if (a > 2)
			throw std::runtime_error("much");
		return a + 1;
	}

	int operator()(int x)
	{
		CSTRACE_FUNCTION;
		return x;
	}
};

} // namespace shop

int main()
{
	CSTRACE_FUNCTION;
	shop::Till till;
	auto same = [](int a) {
		CSTRACE_FUNCTION;
		return a;
	};

	till.sum(1);
	try {
		till.sum(3);
	} catch (std::exception &) {
	}
	return till(0) + same(0);
}
