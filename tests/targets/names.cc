// SPDX-License-Identifier: MIT
//
// Names that the linker knows in one way only: namespaces with and without a
// name, templates, overloads, operators, lambdas, static functions.

namespace geometry
{

struct Point {
	int x, y;

	Point(int x, int y) : x(x), y(y)
	{
	}
	~Point()
	{
	}
	int dot(const Point &other) const
	{
		return x * other.x + y * other.y;
	}
	Point operator+(const Point &other) const
	{
		return Point(x + other.x, y + other.y);
	}
	static int zero()
	{
		return 0;
	}
};

} // namespace geometry

namespace
{

int hidden(int n)
{
	return n + 1;
}

} // namespace

static int file_local(int n)
{
	return n + 2;
}

static int file_local(char c)
{
	return c + 3;
}

template <typename T> T largest(T a, T b)
{
	return a < b ? b : a;
}

template <int N> struct Counter {
	virtual int count(int n)
	{
		return n + N;
	}
};

int main()
{
	geometry::Point a(1, 2), b(3, 4);
	geometry::Point sum = a + b;
	int n = sum.dot(b) + geometry::Point::zero();
	auto lambda = [n](int m) { return n + m; };

	n += hidden(1);
	n += file_local(2);
	n += file_local('a');
	n += largest<int>(1, 2);
	n += static_cast<int>(largest<double>(1, 2));
	n += Counter<7>().count(1);
	n += lambda(3);
	return n == 0;
}
