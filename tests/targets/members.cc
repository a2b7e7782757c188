/* SPDX-License-Identifier: MIT
 *
 * Methods of a class with members of all kinds, of one that has none to show,
 * and of one with a base.
 */
#include <cstdio>
#include <string>

class Stack
{
	static int made;
	int n = 0;
	unsigned bit : 3;
	const char *name;
	std::string text = "text";
	double load = 0.5;
	char mark = 'a';
	int fifth = 5;

      public:
	explicit Stack(const char *a) : bit(1), name(a)
	{
	}
	virtual ~Stack()
	{
	}
	__attribute__((noinline)) int push(int x)
	{
		n++;
		load += x;
		mark++;
		return n + fifth + (int)bit;
	}
	__attribute__((noinline)) int size() const
	{
		return n + made;
	}
};
int Stack::made;

struct Empty {
	__attribute__((noinline)) int get(int a)
	{
		__asm__ volatile("" ::: "memory");
		return a;
	}
};

struct Derived : Empty {
	int own = 3;
	__attribute__((noinline)) int sum(int a) const
	{
		return own + a;
	}
};

int main()
{
	Stack stack("first");
	Empty empty;
	Derived derived;

	stack.push(1);
	stack.push(2);
	printf("%d %d %d\n", stack.size(), empty.get(3), derived.sum(4));
	return 0;
}
