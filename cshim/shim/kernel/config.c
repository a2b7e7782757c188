/* SPDX-License-Identifier: MIT
 *
 * Read without libc's help: getenv() may be the program's own.
 */
#include "kernel/config.h"
#include "kernel/state.h"

extern char **environ __attribute__((visibility("default"), weak));

static char **early;

void config_early(char **environment)
{
	early = environment;
}

char **config_environment(void)
{
	return &environ && environ ? environ : early;
}

/* The value in "NAME=value", or NULL: it is another's. */
static const char *value_of(const char *entry, const char *name)
{
	while (*name && *entry == *name) {
		entry++;
		name++;
	}
	return !*name && *entry == '=' ? entry + 1 : 0;
}

/* 0: it does not fit. */
static int copy_path(char *to, uint64_t size, const char *from)
{
	for (uint64_t i = 0; i < size; i++) {
		to[i] = from[i];
		if (!from[i])
			return i > 0;
	}
	to[0] = 0;
	return 0;
}

const char *config_value(char **environment, const char *name)
{
	const char *value = 0;

	for (char **entry = environment; entry && *entry && !value; entry++)
		value = value_of(*entry, name);
	return value;
}

static int config_find(struct cst_control *control, char **environment,
		       const char *name)
{
	for (char **entry = environment; *entry; entry++) {
		const char *path = value_of(*entry, name);

		if (path && copy_path(control->area_path,
				      sizeof(control->area_path), path)) {
			control->mode = CST_MODE_RING;
			return 1;
		}
	}
	return 0;
}

static int is_own;

int config_is_own(void)
{
	return is_own;
}

void config_read(struct cst_control *control, char **environment)
{
	static int is_read;

	if (is_read || control->mode != CST_MODE_OFF || control->area_path[0] ||
	    !environment)
		return;
	is_read = 1;
	is_own = config_find(control, environment, "CSTRACE_AREA");
	if (is_own)
		return;
	/* A reader is better than none. */
	is_own = config_find(control, environment, "CSTRACE_FILE");
	control->is_file = is_own;
	if (is_own)
		return;
	is_own = config_find(control, environment, "CSTRACE_FLIGHT");
	control->is_file = is_own ? 2 : 0;
}
