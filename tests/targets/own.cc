// SPDX-License-Identifier: MIT
//
// C++ with cstrace.h: values of its types, methods, exceptions, a class that a
// callback watches.  Prints what its callbacks see.
#include <cstrace/cstrace.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

enum class Colour : unsigned char { red = 1, green };

struct Point {
	int x, y;
};

class Shop
{
      public:
	CSTRACE_FUNC(int, price, (const std::string &what, int n), (what, n),
		     { return this->base + n + static_cast<int>(what.size()); })
	CSTRACE_FUNC_VOID(open, (Colour colour, Point at), (colour, at), {
		CSTRACE_SPAN("opening", "by", std::string_view("me and you", 2),
			     "at", at, "shop", this);
		cstrace_log("open %d", static_cast<int>(colour));
	})
	int fail(int n);
	Shop &light(int n)
	{
		CSTRACE_FUNCTION;
		CSTRACE_SPAN("light");
		base += n;
		return *this;
	}

      private:
	int base = 100;
};

CSTRACE_FUNC(int, Shop::fail, (int n), (n), {
	if (n == 0)
		throw std::runtime_error("no more");
	return this->fail(n - 1);
})

template <class T> T plus(T a, T b)
{
	CSTRACE_FUNCTION;
	return a + b;
}

static CSTRACE_FUNC_VETO(std::string("none"), std::string, name, (), (),
			 { return "a name"; })

	static
	__attribute__((no_instrument_function)) void put(const cstrace_value &v,
							 FILE *out)
{
	if (v.tag == 's')
		fprintf(out, "\"%.*s\"",
			v.size == UINT32_MAX ? 1000 : static_cast<int>(v.size),
			reinterpret_cast<const char *>(v.bits));
	else if (v.tag == 'i')
		fprintf(out, "%lld", static_cast<long long>(v.bits));
	else if (v.tag == 'u')
		fprintf(out, "%llu", static_cast<unsigned long long>(v.bits));
	else
		fprintf(out, "%c", static_cast<char>(v.tag));
}

static __attribute__((no_instrument_function)) int
on_enter(const cstrace_call *call, void *data)
{
	FILE *out = static_cast<FILE *>(data);

	fprintf(out, "%*s%s(", 2 * (static_cast<int>(call->depth) - 1), "",
		call->function ? call->function : "?");
	for (unsigned i = 0; i < call->n_arguments; i++) {
		fputs(i ? ", " : "", out);
		put(call->arguments[i], out);
	}
	fprintf(out, ")\n");
	return call->can_veto ? CSTRACE_VETO : CSTRACE_GO_ON;
}

static __attribute__((no_instrument_function)) void
on_exit_of(const cstrace_call *call, void *data)
{
	FILE *out = static_cast<FILE *>(data);

	if (!call->result)
		return;
	fprintf(out, "%*s= ", 2 * (static_cast<int>(call->depth) - 1), "");
	put(*call->result, out);
	fputc('\n', out);
}

int main()
{
	Shop shop;
	int in, out;

	in = cstrace_on_enter(on_enter, stdout);
	out = cstrace_on_exit(on_exit_of, stdout);
	shop.open(Colour::green, Point{1, 2});
	shop.light(0).price("apple", 3);
	try {
		shop.fail(2);
	} catch (const std::runtime_error &) {
		plus<long>(1, 2);
	}
	plus<unsigned>(1, 2);
	printf("%s\n", name().c_str());
	cstrace_off(in);
	cstrace_off(out);
	printf("%s\n", name().c_str());
	return 0;
}
