/* SPDX-License-Identifier: MIT
 *
 * Optimized, push() begins with an instruction of four bytes, and the next line
 * begins behind it.
 */
struct stack {
	long a, b;
	long *top;
};

__attribute__((noinline)) void push(struct stack *s, long n)
{
	long *top = s->top;

	top[0] = n;
	top[1] = 19;
	s->top = top + 2;
	s->a = s->a * 7 + (n ^ 0x1234567);
	s->b -= n;
}

int main(void)
{
	long room[64];
	struct stack s = {0, 0, room};

	for (int i = 0; i < 9; i++)
		push(&s, i);
	return s.b == -36 ? 3 : 4;
}
