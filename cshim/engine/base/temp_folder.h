/* SPDX-License-Identifier: MIT
 *
 * Temporary folders that die with their owner, or at the next run of cstrace:
 * cst_folder_make(), _remove() and _sweep() in engine.h.  Each holds a file on
 * which its owner has a lock, so that a folder whose file nobody has locked is
 * an orphan, and one without such a file is none of ours.
 */
#ifndef ENGINE_TEMP_FOLDER_H
#define ENGINE_TEMP_FOLDER_H

/* The name of that file. */
#define TEMP_FOLDER_LOCK ".owner"

#endif
