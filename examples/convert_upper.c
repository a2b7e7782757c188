/* SPDX-License-Identifier: MIT
 *
 * A plugin for convert.c: small letters become capitals.
 */
void convert(char *text);

static char letter(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

void convert(char *text)
{
	for (; *text; text++)
		*text = letter(*text);
}
