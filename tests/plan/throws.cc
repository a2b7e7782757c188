// SPDX-License-Identifier: MIT
//
// Exceptions through functions that a plan patches, and virtual calls.

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct noisy {
	explicit noisy(int n) : n(n)
	{
	}
	NOINLINE ~noisy()
	{
		total += n;
	}
	int n;
	static int total;
};
int noisy::total;

NOINLINE int thrower(int n)
{
	noisy here(n);

	if (n % 3 == 0)
		throw std::runtime_error("three " + std::to_string(n));
	if (n % 5 == 0)
		throw n;
	return n * 2;
}

NOINLINE int passer(int n)
{
	noisy first(1), second(2);

	return thrower(n) + 1;
}

NOINLINE int catcher(int n)
{
	try {
		return passer(n);
	} catch (const std::runtime_error &e) {
		return static_cast<int>(std::string(e.what()).size());
	} catch (int thrown) {
		try {
			return passer(thrown + 1);
		} catch (...) {
			return -1;
		}
	}
}

struct shape {
	virtual ~shape() = default;
	virtual double area() const = 0;
	virtual double twice() const
	{
		return area() * 2;
	}
};

struct square : shape {
	explicit square(double side) : side(side)
	{
	}
	double area() const override
	{
		return side * side;
	}
	double side;
};

struct circle : shape {
	double area() const override
	{
		return 3;
	}
	double twice() const override
	{
		return shape::twice() + 1;
	}
};

NOINLINE double ask(const shape &s)
{
	return s.twice();
}

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	long sum = 0;
	double areas = 0;

	for (int i = 1; i < 200; i++)
		sum += catcher(i);
	for (int i = 0; i < 10; i++) {
		if (i % 2)
			shapes.push_back(std::make_unique<square>(i));
		else
			shapes.push_back(std::make_unique<circle>());
		areas += ask(*shapes.back());
	}
	std::printf("%ld %d %.1f\n", sum, noisy::total, areas);
	return 0;
}
