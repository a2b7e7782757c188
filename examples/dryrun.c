/* SPDX-License-Identifier: MIT
 *
 * Reminds customers of what they owe.  With -n nothing is sent: a callback at
 * each entry keeps the functions from running that would, and says what it saw.
 */
#include <cstrace/cstrace.h>
#include <stdio.h>
#include <string.h>

/* Its body does not run if a callback says so; it returns 0 then. */
CSTRACE_FUNC_VETO(0, int, send_mail, (const char *to, int owed), (to, owed), {
	printf("mail to %s: you owe %d\n", to, owed);
	return 1;
})

static int remind(const char *who, int owed)
{
	return owed > 0 && send_mail(who, owed);
}

static __attribute__((no_instrument_function)) void
print_value(const struct cstrace_value *v)
{
	if (v->tag == 's')
		printf("%s", (const char *)v->bits);
	else
		printf("%lld", (long long)v->bits);
}

/* What it calls itself is not seen. */
static __attribute__((no_instrument_function)) int
on_enter(const struct cstrace_call *call, void *data)
{
	char name[64];
	const char *function = call->function;

	(void)data;
	if (!function) { /* a call of a hook: its name is in the file */
		cstrace_name(call->callee, name, sizeof(name));
		function = name;
	}
	printf("%*s%s", 2 * (int)call->depth, "", function);
	for (unsigned i = 0; i < call->n_arguments; i++) {
		printf(i ? ", " : " ");
		print_value(&call->arguments[i]);
	}
	printf(call->can_veto ? ": not run\n" : "\n");
	return CSTRACE_VETO;
}

static __attribute__((no_instrument_function)) void
on_exit_of(const struct cstrace_call *call, void *data)
{
	(void)call;
	++*(int *)data;
}

int main(int argc, char **argv)
{
	int is_dry = argc > 1 && !strcmp(argv[1], "-n"), n_calls = 0, n = 0;
	int callbacks[2] = {0, 0};

	if (is_dry) {
		callbacks[0] = cstrace_on_enter(on_enter, NULL);
		callbacks[1] = cstrace_on_exit(on_exit_of, &n_calls);
	}
	n += remind("ann", 12);
	n += remind("bob", 0);
	n += remind("cid", 7);
	if (is_dry) {
		cstrace_off(callbacks[0]);
		cstrace_off(callbacks[1]);
		printf("%d calls\n", n_calls);
	}
	printf("%d reminded\n", n);
	return 0;
}
