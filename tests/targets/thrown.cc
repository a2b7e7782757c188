// SPDX-License-Identifier: MIT
//
// Exceptions of all kinds: the library's, classes of the program's own with and
// without a what() of theirs, no class at all, through the library, from one
// thread to another, and by a destructor while another one is on its way.
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shop
{

struct OutOfStock : std::runtime_error {
	using runtime_error::runtime_error;
};

struct Other {
	virtual ~Other() = default;
	long number = 1;
};

struct Late : Other, virtual std::logic_error {
	Late() : std::logic_error("too late")
	{
	}
	const char *what() const noexcept override
	{
		std::puts("asked");
		return "never";
	}
};

struct Silent : std::exception {
	const char *what() const noexcept override
	{
		std::puts("asked");
		return "never";
	}
};

/* Makes its text when it is asked, by calls of its own, and recovers from an
 * exception of its own meanwhile. */
class Unpaid : public Other, public std::exception
{
      public:
	explicit Unpaid(int cents) : cents_(cents)
	{
	}
	const char *what() const noexcept override
	{
		try {
			parse("nothing");
		} catch (const std::invalid_argument &) {
			text_ = amount() + " to pay";
		}
		return text_.c_str();
	}

      private:
	static int parse(const std::string &text)
	{
		return std::stoi(text);
	}
	std::string amount() const
	{
		return std::to_string(cents_ / 100) + " euros";
	}

	int cents_;
	mutable std::string text_;
};

struct Guard {
	~Guard()
	{
		try {
			throw 5L;
		} catch (long) {
		}
	}
};

static void reserve(int n)
{
	if (n == 0)
		throw OutOfStock("no stock of candle");
	if (n == 1)
		throw Late();
	if (n == 2)
		throw Silent();
	if (n == 3)
		throw std::string(1000, 'x');
	if (n == 4)
		throw std::runtime_error(std::string(1000, 'x'));
	if (n == 5)
		throw Unpaid(1200);
}

static void guarded()
{
	Guard guard;

	reserve(0);
}

static void out_of_range()
{
	std::vector<int> none;

	none.at(7);
}

static std::exception_ptr kept;

static void work()
{
	try {
		reserve(0);
	} catch (...) {
		kept = std::current_exception();
	}
}

static void hand_over()
{
	std::thread(work).join();
	std::rethrow_exception(kept);
}

template <class Function> static void attempt(Function function)
{
	try {
		function();
	} catch (...) {
	}
}

} // namespace shop

int main()
{
	using namespace shop;

	for (int i = 0; i < 6; i++)
		attempt([i] { reserve(i); });
	attempt(guarded);
	attempt(out_of_range);
	attempt(hand_over);
	try {
		throw nullptr;
	} catch (const char *) {
	}
	return 0;
}
