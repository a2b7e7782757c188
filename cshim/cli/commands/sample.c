/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The command `cstrace sample`: takes samples of a process that runs already.
 */
#include "command.h"
#include "options.h"
#include "sample_process.h"

#include <string.h>

static int sample_run(int argc, char **argv)
{
	struct options o;
	int status, go = options_parse(&command_sample, argc, argv, 0, 0, &o);

	if (go <= 0)
		return go < 0 ? STATUS_USAGE : STATUS_OK;
	if (!o.pid)
		return usage_error(&command_sample,
				   "which process? -p PID; cstrace record "
				   "--sample runs a program");
	if (!strcmp(o.output, "-"))
		return usage_error(&command_sample,
				   "samples go to a file: -o FILE");
	status = sample_process_rate(&command_sample, &o);
	return status ? status : sample_process(&o, 0);
}

const struct command command_sample = {
	.name = "sample",
	.arguments = "[OPTION...] -p PID",
	.summary = "Take samples of a process that runs already",
	.details =
		"The process loads a small library, which has timers "
		"interrupt its threads; what\nwaits goes on waiting.  In the "
		"end timers and handler are taken away again, and\nthe "
		"library stays, idle.  Where nothing can be loaded (a static "
		"program), or\nwith --outside, perf events take the samples. "
		" Where the kernel refuses those\n(it gives them to root, and "
		"to all with kernel.perf_event_paranoid below 2), a\nthread is "
		"stopped for each sample: what runs for less than some 50 us "
		"between\ntwo system calls has too few then.  Ctrl-C ends "
		"it.\n",
	.examples = "sample -p 1234 --for 10s\n"
		    "sample -p $(pidof server) --wall --hz 50 -o server.cst\n"
		    "report\n",
	.options = FOR_SAMPLE,
	.takes = {TAKES_WORD},
	.run = sample_run,
};
