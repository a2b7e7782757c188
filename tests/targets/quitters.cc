// SPDX-License-Identifier: MIT
//
// Threads that are ended in the middle of their calls: by themselves, by
// another one, and where a caller catches that and has to throw it on.
#include <cxxabi.h>
#include <pthread.h>
#include <semaphore.h>

namespace office
{

static volatile int coats;

static void take_coat()
{
	coats = coats + 1;
}

struct Coat {
	Coat()
	{
	}
	~Coat()
	{
		take_coat();
	}
};

enum { QUITS = 1, IS_SENT_HOME, IS_MISSED };

static sem_t is_waiting, work_to_come;

static void quit(int)
{
	Coat coat;

	pthread_exit(nullptr);
}

static void wait_for_work(int)
{
	Coat coat;

	sem_post(&is_waiting);
	sem_wait(&work_to_come);
}

static void work(int how)
{
	Coat coat;

	if (how == QUITS)
		quit(how);
	else
		wait_for_work(how);
}

static void miss(int how)
{
	try {
		work(how);
	} catch (const abi::__forced_unwind &) {
		take_coat();
		throw;
	}
}

static void *begin(void *how)
{
	Coat coat;
	int n = *static_cast<int *>(how);

	if (n == IS_MISSED)
		miss(n);
	else
		work(n);
	return nullptr;
}

} // namespace office

int main()
{
	using namespace office;

	sem_init(&is_waiting, 0, 0);
	sem_init(&work_to_come, 0, 0);
	for (int how = QUITS; how <= IS_MISSED; how++) {
		pthread_t thread;

		pthread_create(&thread, nullptr, begin, &how);
		if (how != QUITS) {
			sem_wait(&is_waiting);
			pthread_cancel(thread);
		}
		pthread_join(thread, nullptr);
	}
	return 0;
}
