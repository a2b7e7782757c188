/* SPDX-License-Identifier: MIT
 *
 * The structs of cstrace.h.
 */
#ifndef CSTRACE_TYPES_H
#define CSTRACE_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* A value that a use has, as the shim takes it over.  tag is an enum cst_value
 * (cstrace/layout.h): 'i' and 'u' integers, 'x' hexadecimal, 'f' a double's
 * bits, 'c' a character, 'b' a truth, 'p' a pointer, 's' a text at the address
 * `bits`, of `size` bytes or, if that is UINT32_MAX, up to its NUL. */
struct cstrace_value {
	uint64_t bits;
	uint32_t tag;
	uint32_t size;
};

/* The place of a use in the source. */
struct cstrace_place {
	const char *name;
	const char *file;
	const char *function;
	const char *values; /* names of the values, with commas between them */
	uint32_t line;
	uint32_t text; /* the shim's */
};

/* A span that is open, or a call of a function that reports itself. */
struct cstrace_span {
	struct cstrace_place *place; /* NULL: nobody watched as it began */
	uint64_t start;		     /* ticks */
	uint64_t kept;		     /* the shim's, as what follows */
	uint32_t kind;
	uint32_t is_recorded;
};

/* What a callback learns of a call. */
struct cstrace_call {
	const void *callee; /* the function; NULL if it reports itself */
	const void *caller; /* its return address */
	/* NULL and 0 if the call comes from a hook: cstrace_name() has the
	 * name. */
	const char *function, *file;
	unsigned line;
	unsigned depth; /* 1: no other call is known to be open */
	/* The arguments that a CSTRACE_FUNC has, and their names with commas in
	 * between. */
	unsigned n_arguments;
	const struct cstrace_value *arguments;
	const char *names;
	/* At the exit: what a CSTRACE_FUNC returns, or NULL; and how long the
	 * call took. */
	const struct cstrace_value *result;
	uint64_t elapsed_ns;
	int can_veto; /* a CSTRACE_FUNC_VETO */
};

/* Returns CSTRACE_GO_ON.  If can_veto is set it may return CSTRACE_VETO: the
 * function's body does not run. */
enum { CSTRACE_GO_ON = 0, CSTRACE_VETO = 1 };
typedef int cstrace_enter_callback(const struct cstrace_call *, void *data);
typedef void cstrace_exit_callback(const struct cstrace_call *, void *data);

/* A call, or a span, that is open (cstrace_backtrace()). */
struct cstrace_open {
	const void *callee, *caller; /* as in struct cstrace_call */
	const char *function, *file; /* likewise; a span's name */
	unsigned line;
	int is_span;
};

/* What the shim offers, behind one symbol (cstrace_shim).  Newer shims have
 * more at the end. */
struct cstrace_shim {
	uint32_t size; /* of this struct in the shim */
	uint32_t reserved;
	int (*begin)(struct cstrace_span *, struct cstrace_place *,
		     uint32_t kind, const void *caller,
		     const struct cstrace_value *, uint32_t n);
	void (*end)(struct cstrace_span *, const struct cstrace_value *,
		    uint32_t n);
	void (*tell)(struct cstrace_place *, uint32_t kind,
		     const struct cstrace_value *, uint32_t n);
	uint64_t (*elapsed)(const struct cstrace_span *);
	int (*on_enter)(cstrace_enter_callback *, void *data);
	int (*on_exit)(cstrace_exit_callback *, void *data);
	int (*off)(int callback);
	int (*keep)(uint32_t what, uint32_t n);
	int (*backtrace)(struct cstrace_open *, int n);
	void (*print_calls)(int fd);
	int (*name)(const void *address, char *name, size_t size);
	void (*span_dump)(int fd);
	int (*control)(uint32_t what);
	int (*set_thread_name)(const char *name);
};

#endif
