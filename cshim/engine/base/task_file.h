/* SPDX-License-Identifier: MIT
 *
 * What the kernel tells of a thread in /proc.
 */
#ifndef ENGINE_TASK_FILE_H
#define ENGINE_TASK_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads /proc/PID/task/TID/NAME into out, NUL-terminated and cut to size - 1
 * bytes.  Returns 1, or 0 if it is empty or cannot be read. */
int task_file_read(uint32_t pid, uint32_t tid, const char *name, char *out,
		   size_t size);

/* Sets the user and the group by whose rights the process opens files. Returns
 * 1, or 0 if it has ended. */
int task_owner(uint32_t pid, uid_t *user, gid_t *group);

/* Returns whether another user's rights are the process's. */
int task_is_others(uint32_t pid);

#endif
