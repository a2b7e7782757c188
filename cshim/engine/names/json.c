/* SPDX-License-Identifier: MIT
 *
 * Appends text to JSON: escapes it and replaces what is not UTF-8.
 */
#include "names/json.h"
#include "base/utf8.h"

static void put_unit(struct bytes *out, uint32_t c)
{
	static const char hex[] = "0123456789abcdef";
	char escape[6] = {'\\',
			  'u',
			  hex[c >> 12 & 15],
			  hex[c >> 8 & 15],
			  hex[c >> 4 & 15],
			  hex[c & 15]};

	bytes_put(out, escape, sizeof(escape));
}

/* Some terminals obey the controls above ASCII, too. */
static void put_escaped(struct bytes *out, const char *text)
{
	uint32_t c;
	int len = utf8_decode(text, &c);

	if (!len) {
		put_unit(out, 0xfffd);
	} else if (c == '"' || c == '\\') {
		bytes_put_byte(out, '\\');
		bytes_put_byte(out, (uint8_t)c);
	} else if (utf8_printable(text)) {
		bytes_put(out, text, (size_t)len);
	} else if (c < 0x10000) {
		put_unit(out, c);
	} else { /* as UTF-16 has it */
		put_unit(out, 0xd800 + ((c - 0x10000) >> 10));
		put_unit(out, 0xdc00 + (c & 0x3ff));
	}
}

void json_put_text(struct bytes *out, const char *text)
{
	while (*text) {
		int len = utf8_length(text);

		put_escaped(out, text);
		text += len ? len : 1;
	}
}

void json_put_string(struct bytes *out, const char *text)
{
	if (!text) {
		bytes_put(out, "null", 4);
		return;
	}
	bytes_put_byte(out, '"');
	json_put_text(out, text);
	bytes_put_byte(out, '"');
}
