/* SPDX-License-Identifier: MIT
 *
 * Members whose names have a comma's neighbours in them.
 */
struct Cents {
	int n;

	bool operator==(const Cents &c) const
	{
		return n == c.n;
	}
	int operator()(int k) const
	{
		return n + k;
	}
	int operator[](int k) const
	{
		return n * k;
	}
	operator int() const
	{
		return n;
	}
};

template <typename T> struct Box {
	T held;

	int put(const T &c, int k)
	{
		held = c;
		return k;
	}
};

static int has_words(int n, char **words)
{
	return n && words[0];
}

int main(int argc, char **argv)
{
	Cents one{1}, two{2};
	Box<Cents> box{one};

	return !has_words(argc, argv) || one == two || one(3) != 4 ||
	       one[4] != 4 || int(one) != 1 || box.put(two, 5) != 5;
}
