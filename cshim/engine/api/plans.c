/* SPDX-License-Identifier: MIT
 *
 * Plans for who applies them: each in a file of a folder, by build-id, where
 * the shim looks for it.
 */
#include "cstrace/engine.h"
#include "plan/plan_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

_Static_assert((int)CST_PLAN_REASONS <= (int)CST_PLANNED_REASONS,
	       "room for all reasons");

static void count(const struct plan *plan, struct cst_planned *out)
{
	*out = (struct cst_planned){.n_patches = plan->header->patches.n};
	for (uint32_t i = 0; i < plan->header->functions.n; i++) {
		const struct cst_plan_function *f = &plan->functions[i];

		out->n_declined[f->reason] += f->reason != CST_PLAN_TRACED;
		if (f->reason != CST_PLAN_TRACED)
			continue;
		out->n_functions++;
		out->n_exits += f->n_exits;
		out->n_missed += f->n_missed;
	}
}

/* Another name of the same file may have brought it already. */
static int keep(const struct plan *plan, const char *folder,
		struct cst_error *err)
{
	const struct cst_plan *header = plan->header;
	char id[2 * CST_PLAN_BUILD_ID + 1], path[PATH_MAX];
	int fd, status;

	for (uint32_t i = 0; i < header->build_id_size; i++)
		sprintf(id + 2 * (size_t)i, "%02x", header->build_id[i]);
	if (snprintf(path, sizeof(path), "%s/%s.plan", folder, id) >=
	    (int)sizeof(path))
		return cst_fail(CST_FAILED, err, "too long a path: '%s'",
				folder);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST
			       ? 0
			       : cst_fail_sys(err, "cannot write '%s'", path);
	status = plan_write(plan, fd, err);
	if (close(fd) < 0 && status == 0)
		status = cst_fail_sys(err, "cannot write '%s'", path);
	if (status < 0)
		unlink(path);
	return status;
}

int cst_plan_file(const char *path, const char *functions, uint64_t min_size,
		  const char *folder, struct cst_planned *out,
		  struct cst_error *err)
{
	const struct plan_choice choice = {.functions = functions,
					   .min_size = min_size};
	struct plan *plan;
	int status = plan_get(path, &choice, &plan, err);

	if (status < 0)
		return status;
	if (!plan->header->build_id_size)
		status = cst_fail(CST_BAD_INPUT, err,
				  "'%s' cannot be patched: it has no build-id "
				  "(link it with -Wl,--build-id)",
				  path);
	else if (plan->header->patches.n)
		status = keep(plan, folder, err);
	if (status == 0)
		count(plan, out);
	plan_free(plan);
	return status;
}

const char *cst_plan_reason(uint32_t reason)
{
	return reason < CST_PLAN_REASONS
		       ? plan_reason((enum cst_plan_reason)reason)
		       : "";
}
