/* SPDX-License-Identifier: MIT
 *
 * A plugin for convert.c: turns each letter into the one 13 places on.
 */
void convert(char *text);

static char rotate(char c, char first)
{
	return (char)(first + (c - first + 13) % 26);
}

static char letter(char c)
{
	if (c >= 'a' && c <= 'z')
		return rotate(c, 'a');
	if (c >= 'A' && c <= 'Z')
		return rotate(c, 'A');
	return c;
}

void convert(char *text)
{
	for (; *text; text++)
		*text = letter(*text);
}
