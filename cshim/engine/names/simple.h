/* SPDX-License-Identifier: MIT
 *
 * Simple names: what people call a function, made from its demangled linkage
 * name.  "void std::sort<int*>(int*, int*)" is "std::sort<...>",
 * "app::Shop::order( int)" is "Shop::order": no return type, no parameters, no
 * template arguments, and of what it lies in the innermost alone.  Names that
 * have no parameter list (C, Rust, "app+0x1139") stay as they are.  Any text is
 * safe input: the work is linear in its length and nothing recurses.
 */
#ifndef ENGINE_SIMPLE_H
#define ENGINE_SIMPLE_H

/* Writes the simple name of `name` at out, NUL-terminated and cut at size
 * (at least 8) bytes; returns its length. */
enum { SIMPLE_SIZE = 1024 };
unsigned simple_name(const char *name, char *out, unsigned size);

/* Writes the simple name with its parameters, which tell overloads apart:
 * "Shop::order(int, std::vector<...>) const".  Long parameters are cut. */
unsigned simple_signature(const char *name, char *out, unsigned size);

/* Writes the signature without the qualifiers behind its parameters. */
unsigned simple_parameters(const char *name, char *out, unsigned size);

/* Writes the simple name with all its namespaces, "app::Shop::order". */
unsigned simple_long(const char *name, char *out, unsigned size);

/* Returns the part of a simple_long() name that has one class or namespace more
 * than its simple name: "Shop::Cart::add" of "app::Shop::Cart::add"; all of it
 * where an anonymous namespace stands between. */
const char *simple_scoped(const char *qualified, const char *simple);

/* Returns where the qualified name begins in a demangled one: behind a return
 * type, and behind "virtual thunk to ". */
const char *simple_qualified(const char *name);

#endif
