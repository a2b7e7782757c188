/* SPDX-License-Identifier: MIT
 *
 * A library that a program opens: opens.c.
 */
int late_work(int n);

int late_work(int n)
{
	return 2 * n;
}
