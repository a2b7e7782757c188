/* SPDX-License-Identifier: MIT
 *
 * Coroutines that go on in another thread: two threads take turns with three
 * coroutines, whose stacks lie side by side, the lowest first.  With IS_UNSEEN
 * what they begin with has no hooks, so that no call says where a stack begins.
 * With IS_UNSEEN 2 the threads have none either: what is seen of them first is
 * on a coroutine's stack.
 */
#include "expect.h"
#include <pthread.h>
#include <ucontext.h>

enum { N = 3, TURNS = 40, STACK = 32768 };

static ucontext_t contexts[N], homes[N];
static char stacks[N][STACK] __attribute__((aligned(4096)));
static const char *const names[N] = {"co0", "co1", "co2"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

NOINLINE static void leaf(const char *s, int d)
{
	expect_on(s, d, "leaf");
}

NOINLINE static void yield(const char *s, int d, int i)
{
	expect_on(s, d, "yield");
	swapcontext(&contexts[i], &homes[i]);
	leaf(s, d + 1);
}

NOINLINE static void work(const char *s, int d, int i, int n)
{
	expect_on(s, d, "work");
	yield(s, d + 1, i);
	if (n)
		work(s, d + 1, i, n - 1);
	yield(s, d + 1, i);
}

#if IS_UNSEEN
#define BEGINS QUIET
#else
#define BEGINS
#endif
#if IS_UNSEEN == 2
#define RESUMES QUIET
#else
#define RESUMES
#endif

BEGINS static void body(int i)
{
	int d = 0;

	if (!IS_UNSEEN)
		expect_on(names[i], d++, "body");
	for (;;)
		work(names[i], d, i, i + 1);
}

RESUMES NOINLINE static void resume(int d, int i)
{
	if (IS_UNSEEN < 2)
		expect(d++, "resume");
	swapcontext(&homes[i], &contexts[i]);
	leaf("", d);
}

RESUMES NOINLINE static void *thread(void *arg)
{
	int self = arg != NULL, d = 0;

	if (IS_UNSEEN < 2)
		expect(d++, "thread");
	pthread_mutex_lock(&lock);
	while (turn < TURNS) {
		if ((turn & 1) == self) {
			resume(d, turn % N);
			turn++;
			pthread_cond_signal(&turned);
		} else {
			pthread_cond_wait(&turned, &lock);
		}
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	expect(0, "main");
	for (int i = 0; i < N; i++) {
		getcontext(&contexts[i]);
		contexts[i].uc_stack.ss_sp = stacks[N - 1 - i];
		contexts[i].uc_stack.ss_size = STACK;
		makecontext(&contexts[i], (void (*)(void))body, 1, i);
	}
	pthread_create(&a, NULL, thread, NULL);
	pthread_create(&b, NULL, thread, &b);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
