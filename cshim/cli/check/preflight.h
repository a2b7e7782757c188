/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A warning before a program runs that cannot be recorded: the verdict of
 * `cstrace check`, as far as it costs no time.
 */
#ifndef CLI_PREFLIGHT_H
#define CLI_PREFLIGHT_H

#include <stddef.h>

/* Prints in one line on standard error why calls of the program at path will
 * not be recorded; name is what the user called it, patching what to say where
 * only hooks are missing.  Returns 1 if it printed that, else 0.  What such a
 * program runs in turn may be recorded all the same.
 */
int preflight_tell(const char *path, const char *name, const char *patching);

/* What preflight_hooks() finds. */
enum preflight_hooks {
	PREFLIGHT_HOOKS,   /* the program has hooks, or a library of its */
	PREFLIGHT_NONE,	   /* it is dynamic, and neither has */
	PREFLIGHT_UNKNOWN, /* it is no such program */
};

/* Returns whether the program at path has hooks, or says something by
 * cstrace.h.
 */
enum preflight_hooks preflight_hooks(const char *path);

/* Returns whether the program or library at path has hooks of its own, or says
 * something by cstrace.h. */
int preflight_is_hooked(const char *path);

/* Why a static program cannot be patched, and what to do. */
#define PREFLIGHT_NO_LOADER "what patches a program comes by the dynamic linker"
#define PREFLIGHT_STATIC_MEND                                          \
	"link it dynamically, compile it with -finstrument-functions " \
	"and link libcstrace.a into it (-lcstrace), or take samples "  \
	"(cstrace sample -p)"

/* Returns whether the program at path is static: nothing can be loaded into
 * it. */
int preflight_is_static(const char *path);

/* Returns whether the program at path is a script. */
int preflight_is_script(const char *path);
/* The like, and what runs it: the name of the program, without folders, or
 * INTERPRETER.  name: size bytes. */
int preflight_interpreter(const char *path, char *name, size_t size);

#endif
