/* SPDX-License-Identifier: MIT
 *
 * What `cstrace record -p` and gdb call in a program that runs already
 * (cstrace/attach.h).  The reader of an earlier recording may have ended since;
 * its area is replaced.
 */
#include "cstrace/attach.h"
#include <errno.h>
#include "core/area.h"
#include "core/chunk.h"
#include "core/control.h"
#include "core/depth.h"
#include "core/patches.h"
#include "core/process.h"
#include "core/reader.h"
#include "core/site.h"
#include "core/stops.h"
#include "core/thread.h"
#include "kernel/state.h"

static int copy_path(char *to, uint64_t size, const char *from)
{
	for (uint64_t i = 0; i < size; i++) {
		to[i] = from[i];
		if (!from[i])
			return 1;
	}
	return 0;
}

static int is_same(const char *path)
{
	uint64_t i = 0;

	while (path[i] && path[i] == control.area_path[i])
		i++;
	return path[i] == control.area_path[i];
}

EXPORT int cstrace_attach(const char *area_path, const char *plans)
{
	if (area && reader_has_ended())
		return CST_ATTACH_OLD;
	if (area && !is_same(area_path))
		return EBUSY;
	if (area) {
		control_unloaded(); /* what was opened may be in its place */
		if (*plans)
			patches_map(plans);
		return 0;
	}
	if (control_has_ended())
		return EPERM;
	control.mode = CST_MODE_OFF;
	if (!copy_path(control.area_path, sizeof(control.area_path), area_path))
		return ENAMETOOLONG;
	control.is_file = 0;
	control.mode = CST_MODE_RING;
	__atomic_store_n(&state_page.state, CST_STATE_ASK, __ATOMIC_RELEASE);
	control_obey();
	if (!area)
		return control.answer_errno ? control.answer_errno : EAGAIN;
	if (*plans)
		patches_map(plans);
	return 0;
}

EXPORT void cstrace_renew(const uint64_t *pointers, uint64_t n)
{
	control.mode = CST_MODE_OFF;
	state_page.state = CST_STATE_OFF;
	stops_forget();
	depth_forget();
	site_table_forget();
	area_forget();
	chunk_forget_waiting();
	process_forget();
	threads_forget(pointers, n);
}
