/* SPDX-License-Identifier: MIT
 *
 * A plan as bytes: written to a file, and read from one that anybody may have
 * written.
 */
#include "plan/plan.h"
#include "base/io.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int plan_of_bytes(void *data, uint64_t n, struct plan **out,
		  struct cst_error *err)
{
	auto_free void *bytes = data;
	const struct cst_plan *h = bytes;
	struct plan *p;

	if (!cst_plan_is_valid(bytes, n))
		return cst_fail(CST_BAD_INPUT, err,
				"damaged, or of another version");
	p = calloc(1, sizeof(*p));
	if (!p)
		return cst_fail_memory(err);
	p->patches = cst_plan_at(h, &h->patches);
	p->copies = cst_plan_at(h, &h->copies);
	p->moves = cst_plan_at(h, &h->moves);
	p->functions = cst_plan_at(h, &h->functions);
	p->names = cst_plan_at(h, &h->names);
	p->area = cst_plan_at(h, &h->area);
	p->header = take(bytes);
	*out = p;
	return 0;
}

void plan_free(struct plan *p)
{
	if (p)
		free((void *)p->header);
	free(p);
}

int plan_write(const struct plan *p, int fd, struct cst_error *err)
{
	if (io_write(fd, p->header, p->header->size) < 0)
		return cst_fail_sys(err, "cannot write a plan");
	return 0;
}

int plan_read(int fd, struct plan **out, struct cst_error *err)
{
	auto_free char *data = NULL;
	struct stat st;
	int64_t n;

	if (fstat(fd, &st))
		return cst_fail_sys(err, "cannot read a plan");
	if (!S_ISREG(st.st_mode) ||
	    st.st_size < (off_t)sizeof(struct cst_plan) ||
	    st.st_size > UINT32_MAX)
		return cst_fail(CST_BAD_INPUT, err, "not a plan");
	data = malloc((size_t)st.st_size);
	if (!data)
		return cst_fail_memory(err);
	n = io_read_at(fd, data, (size_t)st.st_size, 0);
	if (n < 0)
		return cst_fail_sys(err, "cannot read a plan");
	return plan_of_bytes(take(data), (uint64_t)n, out, err);
}

enum cst_plan_slot plan_slot(const struct plan *p, uint32_t hook)
{
	int32_t distance;

	memcpy(&distance, p->area + hook - 4, sizeof(distance));
	return (hook + (uint32_t)distance - p->header->code_at) / CST_PLAN_GATE;
}

const char *plan_reason(enum cst_plan_reason reason)
{
	static const char *const texts[CST_PLAN_REASONS] = {
		[CST_PLAN_TRACED] = "",
		[CST_PLAN_UNREADABLE] = "holds bytes that are no instructions",
		[CST_PLAN_NO_FRAME] = "has no call frame information",
		[CST_PLAN_ASSEMBLER] = "is written in assembler",
		[CST_PLAN_RESTARTABLE] = "has a restartable sequence",
		[CST_PLAN_NO_ROOM] = "has no room for a jump at its begin",
		[CST_PLAN_IMMOVABLE] = "begins with code that cannot be moved",
		[CST_PLAN_HOOKED] = "reports its calls by itself",
		[CST_PLAN_OF_RUNTIME] = "belongs to the system's runtime",
		[CST_PLAN_READ_BY_GDB] =
			"begins with a prologue that gdb has to find",
		[CST_PLAN_CHOSEN_LATE] = "is found by the loader elsewhere",
		[CST_PLAN_UNUSUAL] = "returns twice or switches stacks",
		[CST_PLAN_BEHIND_SHIM] = "is libcstrace.so's to its callers",
		[CST_PLAN_NO_STUB] = "is called without a stub of the linker's",
		[CST_PLAN_ENDS_OTHERS] = "ends calls of others",
	};

	return reason < CST_PLAN_REASONS ? texts[reason] : "";
}

const char *plan_name(const struct plan *p, uint32_t i)
{
	return p->names + p->functions[i].name;
}
