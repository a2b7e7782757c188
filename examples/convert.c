/* SPDX-License-Identifier: MIT
 *
 * Sends a text through plugins, each a shared library that is opened, called
 * and closed again: convert TEXT PLUGIN.so...
 */
#include <dlfcn.h>
#include <stdio.h>

typedef void convert_fn(char *text);

static int use_plugin(const char *path, char *text)
{
	void *plugin = dlopen(path, RTLD_NOW);
	convert_fn *convert;

	if (!plugin) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	convert = (convert_fn *)dlsym(plugin, "convert");
	if (convert)
		convert(text);
	dlclose(plugin);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	for (int i = 2; i < argc; i++)
		if (use_plugin(argv[i], argv[1]))
			return 1;
	puts(argv[1]);
	return 0;
}
