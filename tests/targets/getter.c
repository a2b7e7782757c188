/* SPDX-License-Identifier: MIT
 * Without optimization a function that is too short for a patch at its end. */
struct item {
	int price;
};

int price(struct item *item)
{
	return item->price;
}

int main(void)
{
	struct item item = {43};
	int sum = 0;

	for (int i = 0; i < 3; i++)
		sum += price(&item);
	return sum != 129;
}
