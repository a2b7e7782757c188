// SPDX-License-Identifier: MIT
//
// flood_std N THREADS: N calls of add() by each thread, and some of the
// library's in each.
#include <cstdlib>
#include <thread>
#include <vector>

static void add(std::vector<int> &all, int n)
{
	all.push_back(n);
	if (all.size() > 100)
		all.clear();
}

static void work(int n)
{
	std::vector<int> all;

	for (int i = 0; i < n; i++)
		add(all, i);
}

int main(int argc, char **argv)
{
	std::vector<std::thread> threads;

	if (argc < 3)
		return 1;
	for (int i = 0; i < atoi(argv[2]); i++)
		threads.emplace_back(work, atoi(argv[1]));
	for (std::thread &t : threads)
		t.join();
	return 0;
}
