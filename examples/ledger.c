/* SPDX-License-Identifier: MIT
 *
 * Money moves between accounts, and none may be lost: after each order the
 * books are checked.  One kind of order breaks them, and nothing crashes.
 */
#include <stdio.h>

struct account {
	const char *owner;
	int cents;
};

static struct account accounts[] = {
	{"ann", 10000}, {"bob", 5000}, {"cat", 2500}};

enum { ANN, BOB, CAT, N_ACCOUNTS, SUM = 17500 };

static void take(int account, int cents)
{
	accounts[account].cents -= cents;
}

static void give(int account, int cents)
{
	accounts[account].cents += cents;
}

static void transfer(int from, int to, int cents)
{
	take(from, cents);
	give(to, cents);
}

/* The bug: of an odd number of cents, one is given to nobody. */
static void share(int from, int cents)
{
	take(from, cents);
	give(BOB, cents / 2);
	give(CAT, cents / 2);
}

static void check_books(void)
{
	int sum = 0;

	for (int i = 0; i < N_ACCOUNTS; i++)
		sum += accounts[i].cents;
	if (sum != SUM)
		printf("%d cents are missing\n", SUM - sum);
}

int main(void)
{
	transfer(ANN, BOB, 1000);
	check_books();
	share(ANN, 400);
	check_books();
	transfer(BOB, CAT, 250);
	check_books();
	share(BOB, 333);
	check_books();
	transfer(CAT, ANN, 50);
	check_books();
	return 0;
}
