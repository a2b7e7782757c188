/* SPDX-License-Identifier: MIT
 *
 * A calculator: recursive descent, a function for each rule of the grammar.
 * The call tree is the parse tree.
 *
 *	./calc '2*(3+4)-5'
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at; /* what is left to read */

static double sum(void);

static void skip_blanks(void)
{
	while (isspace((unsigned char)*at))
		at++;
}

static double number(void)
{
	char *end;
	double value = strtod(at, &end);

	if (end == at) {
		fprintf(stderr, "calc: a number was expected at '%s'\n", at);
		exit(1);
	}
	at = end;
	skip_blanks();
	return value;
}

static int accept(char c)
{
	if (*at != c)
		return 0;
	at++;
	skip_blanks();
	return 1;
}

static double factor(void)
{
	double value;

	if (accept('-'))
		return -factor();
	if (!accept('('))
		return number();
	value = sum();
	accept(')');
	return value;
}

static double product(void)
{
	double value = factor();

	while (*at == '*' || *at == '/') {
		if (accept('*'))
			value *= factor();
		else if (accept('/'))
			value /= factor();
	}
	return value;
}

static double sum(void)
{
	double value = product();

	while (*at == '+' || *at == '-') {
		if (accept('+'))
			value += product();
		else if (accept('-'))
			value -= product();
	}
	return value;
}

int main(int argc, char **argv)
{
	at = argc > 1 ? argv[1] : "2*(3+4)-5";
	skip_blanks();
	printf("%g\n", sum());
	return 0;
}
