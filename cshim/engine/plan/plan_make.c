/* SPDX-License-Identifier: MIT
 *
 * The planner.
 */
#include "plan/plan_make.h"

int plan_make(const char *path, const struct plan_choice *choice,
	      struct plan **out, struct cst_error *err)
{
	(void)choice;
	(void)out;
	return cst_fail(CST_FAILED, err, "cannot plan '%s' yet", path);
}
