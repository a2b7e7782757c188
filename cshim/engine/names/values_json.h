/* SPDX-License-Identifier: MIT
 *
 * Values as JSON.
 */
#ifndef ENGINE_VALUES_JSON_H
#define ENGINE_VALUES_JSON_H

#include "names/values.h"

/* Appends a value to out as JSON: a struct is an object, an array is
 * {"size":5,"head":[1,2,3]}; what is not known is text, "<optimized out>". */
void value_put_json(struct bytes *out, const struct value *v);
/* Appends {"file":"a.txt","n":3} for n bytes of values. */
void values_put_json(struct bytes *out, const void *data, uint32_t n,
		     const char *names);

#endif
