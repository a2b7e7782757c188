/* SPDX-License-Identifier: MIT
 *
 * Loaded into gdb: calls a function of gdb's Python with a Ctrl-C on its way
 * that no line of Python has had the time to see.
 */
#include <signal.h>

void *PyObject_CallObject(void *function, void *arguments);

void *ctrl_c_and_call(void *function, void *arguments)
{
	raise(SIGINT);
	return PyObject_CallObject(function, arguments);
}
