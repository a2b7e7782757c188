/* SPDX-License-Identifier: MIT
 *
 * libFuzzer's way into what a user has written to be expected.
 */
#include "golden/golden.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	struct golden g;
	struct cst_error err;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (golden_parse(&g, "expected.txt", text, &err) == 0)
		for (uint32_t i = 0; i < g.n_patterns; i++)
			golden_matches(&g.patterns[i], "std::f(int)");
	golden_release(&g);
	free(text);
	return 0;
}
