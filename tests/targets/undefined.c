/* SPDX-License-Identifier: MIT
 *
 * Does what a sanitizer ends it for.
 */
static volatile int sink;

static int shift(int by)
{
	return 1 << by;
}

int main(int argc, char **argv)
{
	(void)argv;
	for (int i = 0; i < 20; i++)
		sink = shift(i);
	return shift(100 * argc);
}
