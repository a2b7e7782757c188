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

class Drawing
{
      public:
	void add_square(double side)
	{
		shapes.push_back(std::make_unique<Square>(side));
	}

	void add_circle(double radius)
	{
		shapes.push_back(std::make_unique<Circle>(radius));
	}

	std::vector<const Shape *> by_area() const;

      private:
	std::vector<std::unique_ptr<Shape>> shapes;
};

static bool is_smaller(const Shape *a, const Shape *b)
{
	return a->area() < b->area();
}

std::vector<const Shape *> Drawing::by_area() const
{
	std::vector<const Shape *> sorted;

	for (const auto &shape : shapes)
		sorted.push_back(shape.get());
	std::sort(sorted.begin(), sorted.end(), is_smaller);
	return sorted;
}

int main()
{
	Drawing drawing;

	drawing.add_square(3);
	drawing.add_circle(1);
	drawing.add_square(1);
	try {
		drawing.add_square(-1);
	} catch (const std::invalid_argument &error) {
		std::printf("left out: %s\n", error.what());
	}
	for (const Shape *shape : drawing.by_area())
		std::printf("%.2f\n", shape->area());
}
