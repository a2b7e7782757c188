/* SPDX-License-Identifier: MIT
 *
 * Functions whose names the test replaces in the built file, byte for byte;
 * the last has 100,000 letters.
 */
void escape_sequence_xxxxxxxx(void);
void line_break_xxxxxxxx(void);
void broken_utf8_xxxxxxxx(void);
void turned_around_xxxxxxxx(void);
void quotes_xxxxxxxx(void);

#define TEN(x) x x x x x x x x x x
void longest(void) __asm__(TEN(TEN(TEN(TEN("longername")))));

void escape_sequence_xxxxxxxx(void)
{
}

void line_break_xxxxxxxx(void)
{
}

void broken_utf8_xxxxxxxx(void)
{
}

void turned_around_xxxxxxxx(void)
{
}

void quotes_xxxxxxxx(void)
{
}

void longest(void)
{
}

int main(void)
{
	escape_sequence_xxxxxxxx();
	line_break_xxxxxxxx();
	broken_utf8_xxxxxxxx();
	turned_around_xxxxxxxx();
	quotes_xxxxxxxx();
	longest();
	return 0;
}
