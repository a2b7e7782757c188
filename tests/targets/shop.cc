// SPDX-License-Identifier: MIT
//
// A shop with a counter, as C++ programs are written: classes and templates of
// the standard library, virtual calls, lambdas, overloads, threads, exceptions
// thrown through several calls.  The names of its calls are long in full
// and the library's own calls stand between the user's.
//
//   shop [CLERKS [ORDERS]]	2 clerks and 6 orders if not given
//
// What it prints does not depend on the order in which the clerks work as long
// as the bread lasts (20 orders).
#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace shop
{

struct OutOfStock : std::runtime_error {
	OutOfStock(const std::string &item, int wanted)
	    : std::runtime_error("no stock of " + item), wanted(wanted)
	{
	}
	int wanted;
};

// ---- prices ---------------------------------------------------------------

class Price
{
      public:
	explicit Price(long cents = 0) : cents_(cents)
	{
	}
	Price operator+(const Price &other) const
	{
		return Price(cents_ + other.cents_);
	}
	bool operator<(const Price &other) const
	{
		return cents_ < other.cents_;
	}
	explicit operator long() const
	{
		return cents_;
	}

      private:
	long cents_;
};

class Discount
{
      public:
	virtual ~Discount()
	{
	}
	virtual Price apply(Price price) const = 0;
};

class NoDiscount : public Discount
{
      public:
	Price apply(Price price) const override
	{
		return price;
	}
};

class Percent : public Discount
{
      public:
	explicit Percent(int percent) : percent_(percent)
	{
	}
	Price apply(Price price) const override
	{
		return Price(static_cast<long>(price) * (100 - percent_) / 100);
	}

      private:
	int percent_;
};

// ---- goods ----------------------------------------------------------------

struct Item {
	std::string name;
	int stock;
	Price price;
};

class Shelf
{
      public:
	void add(const std::string &name, int stock, Price price)
	{
		items_[name] = std::make_unique<Item>(Item{name, stock, price});
	}
	Item &find(const std::string &name)
	{
		return *items_.at(name);
	}
	void take(const std::string &name, int n)
	{
		Item &item = find(name);
		if (item.stock < n)
			throw OutOfStock(name, n);
		item.stock -= n;
	}
	std::vector<const Item *> cheapest_first() const
	{
		std::vector<const Item *> found;
		for (const auto &pair : items_)
			found.push_back(pair.second.get());
		std::sort(found.begin(), found.end(), is_cheaper);
		return found;
	}

      private:
	static bool is_cheaper(const Item *a, const Item *b)
	{
		return a->price < b->price;
	}
	std::map<std::string, std::unique_ptr<Item>> items_;
};

// ---- orders ---------------------------------------------------------------

struct Line {
	std::string item;
	int n;
};

class Order
{
      public:
	explicit Order(int number) : number_(number)
	{
	}
	Order &add(const std::string &item)
	{
		return add(item, 1);
	}
	Order &add(const std::string &item, int n)
	{
		lines_.push_back(Line{item, n});
		return *this;
	}
	template <typename F> void each(F visit) const
	{
		std::for_each(lines_.begin(), lines_.end(), visit);
	}
	int number() const
	{
		return number_;
	}

      private:
	int number_;
	std::vector<Line> lines_;
};

template <typename T> class Queue
{
      public:
	void put(T value)
	{
		std::lock_guard<std::mutex> lock(mutex_);
		values_.push_back(std::move(value));
		filled_.notify_one();
	}
	bool take(T &out)
	{
		std::unique_lock<std::mutex> lock(mutex_);
		filled_.wait(lock,
			     [this] { return is_closed_ || !values_.empty(); });
		if (values_.empty())
			return false;
		out = std::move(values_.front());
		values_.pop_front();
		return true;
	}
	void close()
	{
		std::lock_guard<std::mutex> lock(mutex_);
		is_closed_ = true;
		filled_.notify_all();
	}

      private:
	std::mutex mutex_;
	std::condition_variable filled_;
	std::deque<T> values_;
	bool is_closed_ = false;
};

// ---- the shop -------------------------------------------------------------

class Shop
{
      public:
	Shop()
	{
		shelf_.add("apple", 40, Price(35));
		shelf_.add("bread", 12, Price(240));
		shelf_.add("candle", 0, Price(120));
		discount_ = std::make_unique<NoDiscount>();
	}
	void sale(int percent)
	{
		discount_ = std::make_unique<Percent>(percent);
	}
	Price total(const Order &order)
	{
		Price sum;
		order.each([&](const Line &line) {
			for (int i = 0; i < line.n; i++)
				sum = sum + shelf_.find(line.item).price;
		});
		return discount_->apply(sum);
	}
	void serve(const Order &order)
	{
		std::lock_guard<std::mutex> lock(mutex_);
		try {
			pack(order);
			earned_ = earned_ + total(order);
		} catch (const OutOfStock &e) {
			refuse(order, e.what());
		}
	}
	void serve(const std::vector<Order> &orders)
	{
		for (const Order &order : orders)
			serve(order);
	}
	void print()
	{
		for (const Item *item : shelf_.cheapest_first())
			std::printf("%s %d\n", item->name.c_str(), item->stock);
		std::printf("earned %ld, refused %zu\n",
			    static_cast<long>(earned_), refused_.size());
	}

      private:
	void pack(const Order &order)
	{
		order.each([this](const Line &line) {
			shelf_.take(line.item, line.n);
		});
	}
	void refuse(const Order &order, const std::string &why)
	{
		refused_.emplace(order.number(), why);
	}

	Shelf shelf_;
	std::unique_ptr<Discount> discount_;
	std::mutex mutex_;
	Price earned_;
	std::map<int, std::string> refused_;
};

class Clerk
{
      public:
	Clerk(Shop &shop, Queue<Order> &queue) : shop_(shop), queue_(queue)
	{
	}
	void operator()()
	{
		Order order(0);

		while (queue_.take(order))
			shop_.serve(order);
	}

      private:
	Shop &shop_;
	Queue<Order> &queue_;
};

Order make_order(int number)
{
	Order order(number);

	order.add("apple", number % 3 + 1);
	if (number % 2)
		order.add("bread");
	if (number % 5 == 4)
		order.add("candle");
	return order;
}

} // namespace shop

int main(int argc, char **argv)
{
	int n_clerks = argc > 1 ? std::atoi(argv[1]) : 2;
	int n_orders = argc > 2 ? std::atoi(argv[2]) : 6;
	shop::Shop shop;
	shop::Queue<shop::Order> queue;
	std::vector<std::thread> clerks;

	shop.sale(10);
	for (int i = 0; i < n_clerks; i++)
		clerks.emplace_back(shop::Clerk(shop, queue));
	for (int i = 0; i < n_orders; i++)
		queue.put(shop::make_order(i));
	queue.close();
	for (std::thread &clerk : clerks)
		clerk.join();
	shop.serve(std::vector<shop::Order>{shop::make_order(n_orders)});
	shop.print();
	return 0;
}
