/* SPDX-License-Identifier: MIT
 *
 * What concerns the host process as a whole.
 */
#include "cstrace/engine.h"

#include "area/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Runs before gdb's own, older static destructors: those call into Python
 * after it has ended when posted events are left. */
static void leave_at_once(int status, void *arg)
{
	(void)arg;
	fflush(NULL);
	_exit(status);
}

const char *cst_version(void)
{
	return CST_VERSION;
}

uint32_t cst_abi(void)
{
	return CST_ABI;
}

void cst_install(void)
{
	static int is_installed;

	clock_calibrate();
	if (!is_installed)
		on_exit(leave_at_once, NULL);
	is_installed = 1;
}
