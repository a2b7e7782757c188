/* SPDX-License-Identifier: MIT
 *
 * Members of `this`, on request: integers, enums, characters, pointers, texts
 * and floating-point numbers; behind what is not shown; the first four of
 * more; none at all; beside a base class.
 */
#include "tell.h"

#include <cstring>
#include <string>

#ifdef __clang__
/* clang's hooks name functions of it that are nowhere else. */
template class std::basic_string<char>;
#endif

enum class Mood { Calm, Angry = 7 };

UNTRACED static std::string address(const void *p)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%lx", (unsigned long)p);
	return text;
}

struct Account {
	static int n_accounts;
	long cents;
	const char *owner;
	std::string note;
	double rate;
	OWN int add(int more)
	{
		tell("Account::add(this=%s, members={cents=%ld, owner=\"%s\", "
		     "rate=%g}, more=%d) = %ld",
		     address(this).c_str(), cents, owner, rate, more,
		     (cents + more) % 1000);
		cents += more;
		rate += 0.25;
		return (int)(cents % 1000);
	}
	OWN bool is_rich() const
	{
		tell("Account::is_rich(this=%s, members={cents=%ld, "
		     "owner=\"%s\", rate=%g}) = %s",
		     address(this).c_str(), cents, owner, rate,
		     cents > 100 ? "true" : "false");
		return cents > 100;
	}
};
int Account::n_accounts;

struct Many {
	char mark;
	short small;
	Mood mood;
	unsigned mask;
	int fifth;
	OWN int sum(int n) const
	{
		int all = mark + small + (int)mask + fifth + n;

		tell("Many::sum(this=%s, members={mark='%c', small=%d, "
		     "mood=%s, mask=%u}, n=%d) = %d",
		     address(this).c_str(), mark, small,
		     mood == Mood::Calm ? "Calm" : "Angry", mask, n, all);
		return all;
	}
};

struct Empty {
	OWN int get(int n)
	{
		tell("Empty::get(this=%s, n=%d) = %d", address(this).c_str(), n,
		     n * 2);
		return n * 2;
	}
};

struct Base {
	int hidden = 1;
	virtual ~Base() = default;
};

struct Derived : Base {
	int own = 5;
	OWN int twice()
	{
		tell("Derived::twice(this=%s, members={own=%d}) = %d",
		     address(this).c_str(), own, own * 2);
		own++;
		return (own - 1) * 2;
	}
};

UNTRACED int main()
{
	Account account = {90, "ann", "a long note of its own", 1.5};
	Many many = {'m', -3, Mood::Angry, 12, 100};
	Empty empty;
	Derived derived;
	int all = 0;

	for (int i = 0; i < 3; i++) {
		all += account.add(i * 7) + account.is_rich();
		all += many.sum(i) + empty.get(i) + derived.twice();
	}
	return all == -1;
}
