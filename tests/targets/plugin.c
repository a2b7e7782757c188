/* SPDX-License-Identifier: MIT
 *
 * A library that host.c opens and closes.  PLUGIN names its function.
 */
#ifndef PLUGIN
#define PLUGIN first
#endif

static volatile int seen;

static void PLUGIN(int n)
{
	seen = n;
}

int plugin_run(int n)
{
	PLUGIN(n);
	return n + 1;
}
