/* SPDX-License-Identifier: MIT
 *
 * See own_names.c.
 */
int longjmp(const char *from, int n);
int swapcontext(const char *from, const char *to);
int clone(const char *from, int n, int flags);

int longjmp(const char *from, int n)
{
	return *from + n;
}

int swapcontext(const char *from, const char *to)
{
	return *from + *to;
}

int clone(const char *from, int n, int flags)
{
	return *from + n + (flags != 0x100);
}
