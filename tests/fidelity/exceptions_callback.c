/* SPDX-License-Identifier: MIT
 *
 * Exceptions, then callbacks (parts/callbacks.cc).  As a plugin, that brings
 * the library of C++ for itself: nobody else sees its unwinder.
 */
#include "expect.h"
#include <dlfcn.h>
#include <stdio.h>

#if IS_PLUGIN
#define RUN run_plugin
QUIET static void run_plugin(int d)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);
	void (*run_there)(int);
	void *plugin;

	strcpy(path + n, ".callbacks.so");
	plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	run_there = (void (*)(int))dlsym(plugin, "run");
	run_there(d);
	dlclose(plugin);
}
#else
void run(int d);
#define RUN run
#endif

int main(void)
{
	expect(0, "main");
	for (int i = 0; i < 3; i++)
		RUN(1);
	return 0;
}
