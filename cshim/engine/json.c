/* SPDX-License-Identifier: MIT */
#include "json.h"
#include "utf8.h"

static void put_escaped(struct bytes *out, const char *text)
{
	static const char hex[] = "0123456789abcdef";
	char escape[6] = "\\u00xx";
	int len = utf8_length(text);
	unsigned char c = (unsigned char)*text;

	if (c == '"' || c == '\\') {
		bytes_put_byte(out, '\\');
		bytes_put_byte(out, c);
	} else if (c < 0x20 || c == 0x7f) {
		escape[4] = hex[c >> 4];
		escape[5] = hex[c & 15];
		bytes_put(out, escape, sizeof(escape));
	} else if (len) {
		bytes_put(out, text, (size_t)len);
	} else {
		bytes_put(out, "\\ufffd", 6);
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
