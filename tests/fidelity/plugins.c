/* SPDX-License-Identifier: MIT
 *
 * Plugins opened and closed again and again, with RTLD_LOCAL, RTLD_DEEPBIND
 * (which binds past the preload) and dlmopen; each one comes to where another
 * one was; their constructors and destructors too.
 */
#include "expect.h"
#include <dlfcn.h>
#include <stdio.h>

typedef void run_fn(int d, void (*back)(int));

NOINLINE static void back(int d)
{
	expect(d, "back");
}

QUIET static void *open_path(const char *name, int how)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	sprintf(path + n, ".%s.so", name);
	return how < 0 ? dlmopen(LM_ID_NEWLM, path, RTLD_NOW)
		       : dlopen(path, how);
}

NOINLINE static void use(int d, const char *name, int how)
{
	void *plugin;
	run_fn *run;

	expect(d, "use");
	plugin = open_path(name, how);
	run = (run_fn *)dlsym(plugin, "run");
	run(d + 1, back);
	run(d + 1, back);
	dlclose(plugin);
}

int main(void)
{
	static const int ways[] = {RTLD_LAZY, RTLD_NOW,
				   RTLD_LAZY | RTLD_DEEPBIND,
				   RTLD_NOW | RTLD_DEEPBIND, -1};

	expect(0, "main");
	for (int i = 0; i < 15; i++) {
		use(1, "a", ways[i % 5]);
		use(1, "b", ways[i % 5]);
	}
	return 0;
}
