// SPDX-License-Identifier: MIT
//
// Classes, virtual functions, std::sort with a comparator of our own, and an
// exception that unwinds two calls.  The C++ library's own functions are left
// out of the tree, the comparator that it calls is not.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};

struct Square : Shape {
	explicit Square(double side) : side(side)
	{
		check(side);
	}

	static void check(double side)
	{
		if (side < 0)
			throw std::invalid_argument("a side below zero");
	}

	double area() const override
	{
		return side * side;
	}

	double side;
};

struct Circle : Shape {
	explicit Circle(double radius) : radius(radius)
	{
	}

	double area() const override
	{
		return 3.14159 * radius * radius;
	}

	double radius;
};

using Shapes = std::vector<std::unique_ptr<Shape>>;

static bool is_smaller(const std::unique_ptr<Shape> &a,
		       const std::unique_ptr<Shape> &b)
{
	return a->area() < b->area();
}

static void add_square(Shapes &shapes, double side)
{
	shapes.push_back(std::make_unique<Square>(side));
}

int main()
{
	Shapes shapes;

	add_square(shapes, 3);
	shapes.push_back(std::make_unique<Circle>(1));
	add_square(shapes, 1);
	try {
		add_square(shapes, -1);
	} catch (const std::invalid_argument &error) {
		std::printf("left out: %s\n", error.what());
	}
	std::sort(shapes.begin(), shapes.end(), is_smaller);
	for (const auto &shape : shapes)
		std::printf("%.2f\n", shape->area());
}
