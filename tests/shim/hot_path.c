/* SPDX-License-Identifier: MIT
 *
 * What the hooks are made of, by objdump's account: nothing but plain
 * instructions, and jumps to the shim's own slow functions.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "cstrace/cstrace.h"

enum { MAX_TEXT = 1 << 22 };

static char text[MAX_TEXT];

/* The shim's disassembly, or one function's. */
static void disassemble(const char *function)
{
	char command[1024];
	size_t n;
	Dl_info info;
	FILE *pipe;

	/* Used by name, or the linker leaves the library out. */
	assert_int_not_equal(cstrace_version[0], 0);
	assert_int_not_equal(
		dladdr(dlsym(RTLD_DEFAULT, "cstrace_state"), &info), 0);
	snprintf(command, sizeof(command),
		 "objdump -d --no-show-raw-insn %s%s '%s'",
		 function ? "--disassemble=" : "", function ? function : "",
		 info.dli_fname);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(text, 1, sizeof(text) - 1, pipe);
	text[n] = '\0';
	assert_int_equal(pclose(pipe), 0);
	assert_non_null(strstr(text, function ? function : "Disassembly"));
}

static void check_jump(const char *line, const char *function)
{
	const char *target = strchr(line, '<');

	assert_non_null(target);
	if (strncmp(target + 1, function, strlen(function)) == 0 ||
	    strncmp(target, "<cstrace.event_s", 16) == 0)
		return;
	fail_msg("leads elsewhere: %s", line);
}

static void check_line(const char *line, const char *function)
{
	static const char *const saved[] = {"%rbx", "%ebx", "%r12",
					    "%r13", "%r14", "%r15"};
	const char *code = strrchr(line, '\t');

	if (!code)
		return;
	code++;
	if (strncmp(code, "call", 4) == 0 || strncmp(code, "syscall", 7) == 0 ||
	    strncmp(code, "lock", 4) == 0 || strncmp(code, "int", 3) == 0)
		fail_msg("has no place in a hook: %s", line);
	if (strstr(line, "%xmm") || strstr(line, "%ymm") || strstr(line, "%st"))
		fail_msg("touches a register it must not: %s", line);
	if (code[0] == 'j')
		check_jump(line, function);
	/* event_save() is to find the caller's registers. */
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		if (strstr(line, saved[i]))
			fail_msg("touches a register of its caller: %s", line);
}

static void check_function(const char *function)
{
	disassemble(function);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (line[0] == ' ')
			check_line(line, function);
}

/* These leave by a jump, too: the registers are passed on. */
static void slow_ways_keep_the_registers(void **state)
{
	static const char *const functions[] = {"cstrace.event_search",
						"cstrace.event_slow"};

	(void)state;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		disassemble(functions[i]);
		assert_null(strstr(text, "call "));
		assert_non_null(strstr(text, "<cstrace.event_save>"));
	}
}

static void enter_hook_makes_no_call(void **state)
{
	(void)state;
	check_function("__cyg_profile_func_enter");
}

static void exit_hook_makes_no_call(void **state)
{
	(void)state;
	check_function("__cyg_profile_func_exit");
}

/* Where numbers are copied at once: a caller's register is read, if at all. */
static void check_values(const char *function)
{
	static const char *const saved[] = {",%rbx", ",%ebx", ",%r12",
					    ",%r13", ",%r14", ",%r15"};

	disassemble(function);
	assert_null(strstr(text, "call "));
	assert_null(strstr(text, "push "));
	assert_non_null(strstr(text, "<cstrace.event_save_values>"));
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		assert_null(strstr(text, saved[i]));
}

static void values_make_no_call(void **state)
{
	(void)state;
	check_values("cstrace.event_save_entry");
	check_values("cstrace.event_save_exit");
}

static void shim_calls_libc_for_its_threads_only(void **state)
{
	static const char *const allowed[] = {
		"<pthread_key_create@plt>", "<pthread_setspecific@plt>",
		"<__register_atfork@plt>", "<__cxa_finalize@plt>",
		/* where a sandbox forbids to ask the kernel: */
		"<pthread_mutex_lock@plt>", "<pthread_mutex_unlock@plt>",
		/* in dlclose() and dlmopen(), no hook's: */
		"<dlsym@plt>", "<dladdr@plt>", "<dladdr1@plt>",
		"<dl_iterate_phdr@plt>",
		/* around the program's callbacks: */
		"<__errno_location@plt>"};

	(void)state;
	disassemble(NULL);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		const char *target = strchr(line, '<');
		int is_allowed =
			line[0] != ' ' || !target || !strstr(target, "@plt");

		for (size_t i = 0;
		     i < sizeof(allowed) / sizeof(allowed[0]) && !is_allowed;
		     i++)
			is_allowed = strcmp(target, allowed[i]) == 0;
		if (!is_allowed)
			fail_msg("calls what it must not: %s", line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enter_hook_makes_no_call),
		cmocka_unit_test(exit_hook_makes_no_call),
		cmocka_unit_test(slow_ways_keep_the_registers),
		cmocka_unit_test(values_make_no_call),
		cmocka_unit_test(shim_calls_libc_for_its_threads_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
