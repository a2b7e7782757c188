/* SPDX-License-Identifier: MIT
 *
 * Threads and a child whose names are hard for what saves them: quotes, markup,
 * control characters, what is not UTF-8.
 */
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static char *names[] = {"q\"u\\o'<&>", "\x1b[31m\xff\xc3", "a;b c\n\r\t\x01",
			"\xe2\x80\xae\xe2\x81\xa6x"};

static int leaf(int n)
{
	return n + 1;
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < 20; i++)
		leaf(i);
	return NULL;
}

int main(void)
{
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, work, names[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	if (!fork()) {
		prctl(PR_SET_NAME, "child\"\xfe");
		leaf(1);
		_exit(0);
	}
	wait(NULL);
	return 0;
}
