/* SPDX-License-Identifier: MIT
 *
 * From a file to its plan.
 */
#include "plan/plan_make.h"
#include "cstrace/engine.h"
#include "plan/assemble.h"
#include "plan/border.h"
#include "plan/choose.h"
#include "plan/own_stubs.h"
#include "plan/place_entries.h"
#include "plan/place_exits.h"
#include "plan/source_rows.h"
#include "plan/sweep.h"

struct planner {
	struct image image;
	struct frames frames;
	struct functions functions;
	struct stubs stubs;
	struct border border;
	struct placements placements;
	struct trampolines trampolines;
};

/* Returns 0 or CST_MEMORY. */
static int find_functions(struct planner *p, const char *path,
			  const struct plan_choice *choice)
{
	int has_stubs = choice->border || choice->calls;
	int has_gaps = choice->border && choose_is_musl(&p->image);

	return frames_init(&p->frames, &p->image) ||
			       functions_init(&p->functions, &p->image,
					      &p->frames, path,
					      choice->debug_file) ||
			       (has_stubs &&
				stubs_init(&p->stubs, &p->image.file)) ||
			       (choice->calls &&
				own_stubs_add(&p->functions, &p->stubs,
					      choice)) ||
			       (has_gaps &&
				functions_add_gaps(&p->functions, &p->image))
		       ? CST_MEMORY
		       : 0;
}

static int read_code(struct planner *p, const char *path,
		     const struct plan_choice *choice, struct cst_error *err)
{
	int status = image_open(&p->image, path, err);
	int has_debug;

	if (status)
		return status;
	if (find_functions(p, path, choice))
		return cst_fail_memory(err);
	has_debug =
		source_rows_mark(&p->image, &p->functions, choice->is_for_gdb);
	if (has_debug < 0)
		return cst_fail_memory(err);
	p->functions.is_bare = !has_debug;
	if (choice->only_calls)
		return 0;
	if (!choice->border && !choice->functions)
		p->functions.n_inlined =
			cst_file_inlined_away(path, choice->debug_file);
	if (sweep(&p->image, &p->functions, &p->frames))
		return cst_fail_memory(err);
	if (!choice->border)
		return choose(&p->functions, &p->image, choice, has_debug, err);
	border_init(&p->border, &p->image, &p->stubs, choice);
	return border_choose(&p->border, &p->functions, &p->image)
		       ? cst_fail_memory(err)
		       : 0;
}

/* Returns 0 or CST_MEMORY. */
static int place_border(struct placements *p)
{
	int status = border_follow(p);

	if (!status)
		place_entries(p);
	while (!status && border_drop_forms(p)) {
		placements_clear(p);
		status = border_follow(p);
		if (!status)
			place_entries(p);
	}
	border_end_left_out(p);
	return status ? status : border_follow(p);
}

static int make(struct planner *p, const struct plan_choice *choice,
		struct plan **out, struct cst_error *err)
{
	p->placements = (struct placements){
		.im = &p->image,
		.f = &p->functions,
		.frames = &p->frames,
		.border = choice->border ? &p->border : NULL,
		.is_for_gdb = choice->is_for_gdb,
	};
	own_stubs_place(&p->placements, &p->stubs);
	if (!choice->border)
		place_entries(&p->placements);
	else if (place_border(&p->placements))
		return cst_fail_memory(err);
	assemble_number(&p->functions);
	place_exits(&p->placements);
	placements_sort(&p->placements);
	if (p->placements.failed ||
	    trampolines_init(&p->trampolines, &p->placements))
		return cst_fail_memory(err);
	return assemble(&p->trampolines, &p->functions, &p->image, out, err);
}

int plan_make(const char *path, const struct plan_choice *choice,
	      struct plan **out, struct cst_error *err)
{
	struct planner p = {.functions.debug.fd = -1};
	int status = read_code(&p, path, choice, err);

	if (!status)
		status = make(&p, choice, out, err);
	trampolines_release(&p.trampolines);
	placements_release(&p.placements);
	border_release(&p.border);
	stubs_release(&p.stubs);
	functions_release(&p.functions);
	frames_release(&p.frames);
	image_close(&p.image);
	return status;
}
