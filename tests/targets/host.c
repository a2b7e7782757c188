/* SPDX-License-Identifier: MIT
 *
 * host PLUGIN...: calls a linked library, then opens each plugin, calls it
 * and closes it again.
 */
#include <dlfcn.h>
#include <stdio.h>

int shared_add(int a, int b);

static int run_plugin(const char *path)
{
	void *plugin = dlopen(path, RTLD_NOW);
	int (*run)(int);
	int n;

	if (!plugin)
		return -1;
	run = (int (*)(int))dlsym(plugin, "plugin_run");
	n = run(1);
	dlclose(plugin);
	return n;
}

int main(int argc, char **argv)
{
	int sum = shared_add(1, 2);

	for (int i = 1; i < argc; i++)
		sum += run_plugin(argv[i]);
	printf("sum %d\n", sum);
	return 0;
}
