/* SPDX-License-Identifier: MIT
 *
 * The files whose code a process has loaded, and what each is for us.
 */
#ifndef ENGINE_REMOTE_MODULES_H
#define ENGINE_REMOTE_MODULES_H

#include <stdint.h>
#include <sys/types.h>

#include "elf/maps.h"

enum module_kind {
	MODULE_OWN, /* the program, or a library that knows no locks of
		     * libc's */
	MODULE_LIBC,
	MODULE_LOADER,
	MODULE_UNWINDER,  /* libgcc */
	MODULE_ALLOCATOR, /* its malloc() is the process's */
	MODULE_SHIM,
	MODULE_SAMPLER,
	MODULE_NONE, /* code of no file */
};

struct remote_module {
	uint64_t start, end; /* of the mapping with code */
	uint64_t offset;     /* of start in the file */
	uint64_t bias;
	char *path;
	enum module_kind kind;
	int is_program;
};

struct remote_modules {
	struct remote_module *all;
	uint32_t n, cap;
	struct maps maps;
};

/* Reads those of the process.  Returns 0 or an enum cst_status; release m in
 * any case. */
int remote_modules_init(struct remote_modules *m, pid_t pid,
			struct cst_error *err);
void remote_modules_release(struct remote_modules *m);

/* Returns the module with code at pc, or NULL. */
const struct remote_module *remote_modules_at(const struct remote_modules *m,
					      uint64_t pc);
/* Returns the first of that kind, or NULL. */
const struct remote_module *remote_modules_first(const struct remote_modules *m,
						 enum module_kind kind);

/* Returns the address in the process of a function, or with is_data a variable,
 * that a module exports; 0: it does not. */
uint64_t remote_module_symbol(const struct remote_module *m, const char *name,
			      int is_data);
/* Returns that of a function of libc's, or 0. */
uint64_t remote_modules_libc(const struct remote_modules *m, const char *name);

#endif
