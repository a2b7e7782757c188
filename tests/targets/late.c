/* SPDX-License-Identifier: MIT
 *
 * Waits before its first call with hooks, and behind it.
 */
#include <unistd.h>

enum { WAIT_US = 200000 };

static __attribute__((noinline)) void late(void)
{
	usleep(WAIT_US);
}

__attribute__((no_instrument_function)) int main(void)
{
	usleep(WAIT_US);
	late();
	usleep(WAIT_US);
	return 0;
}
