/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What is typed behind an option, as numbers, words, times and sizes.
 */
#include "option_values.h"
#include "cstrace/engine.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int value_number(const char *text, uint64_t max, uint64_t *out)
{
	char *end;
	unsigned long long n;

	if (*text < '0' || *text > '9')
		return CST_BAD_INPUT;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || n > max)
		return CST_BAD_INPUT;
	*out = n;
	return 0;
}

int value_word(const char *text, const char *const *words)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(text, words[i]))
			return i;
	return -1;
}

int value_time(const char *text, uint64_t *out)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double n;

	if (!strcmp(text, "0")) {
		*out = 0;
		return 0;
	}
	if (*text < '0' || *text > '9')
		return CST_BAD_INPUT;
	n = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(end, units[i].name) && n * units[i].ns < 1e18) {
			*out = (uint64_t)(n * units[i].ns + 0.5);
			return 0;
		}
	return CST_BAD_INPUT;
}

int value_size(const char *text, uint64_t *out)
{
	static const char units[] = "KMGT";
	const char *unit;
	char *end;
	double n;

	if (*text < '0' || *text > '9')
		return CST_BAD_INPUT;
	n = strtod(text, &end);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit)
		n *= (double)(1ull << 10 * (unit - units + 1));
	if (end[unit != NULL] || n < 1 || n >= 1e18)
		return CST_BAD_INPUT;
	*out = (uint64_t)n;
	return 0;
}
