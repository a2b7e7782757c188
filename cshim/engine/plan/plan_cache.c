/* SPDX-License-Identifier: MIT
 *
 * A plan is as good as the file's symbols and debug information, which a
 * build-id says nothing about: what of them is there is a part of the name.
 */
#include "plan/plan_cache.h"
#include "base/outfile.h"
#include "plan/plan_id.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_SECONDS = 30 * 24 * 3600 };

static uint64_t add_bytes(uint64_t sum, const void *data, size_t n)
{
	const uint8_t *at = data;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ at[i]) * 0x100000001b3ull; /* FNV-1a */
	return sum;
}

static uint64_t add_names(uint64_t sum, const struct imports *names)
{
	for (uint32_t i = 0; names && i < names->n; i++)
		sum = add_bytes(sum, names->names[i],
				strlen(names->names[i]) + 1);
	return add_bytes(sum, "", 1);
}

static int has_symbols(const struct elf_file *f)
{
	GElf_Shdr header;

	return elf_file_section(f->elf, SHT_SYMTAB, &header) != NULL;
}

/* Returns a number that another choice, or a file with other symbols or debug
 * information, does not have. */
static uint64_t choice_of(const struct elf_file *f, const char *path,
			  const struct plan_choice *choice)
{
	uint64_t sum = 0xcbf29ce484222325ull, min_size = choice->min_size;
	struct elf_file debug;
	uint8_t has[] = {
		CST_PLAN_VERSION,
		choice->functions != NULL,
		choice->is_for_gdb != 0,
		(uint8_t)has_symbols(f),
		(uint8_t)elf_file_has_dwarf(f),
		0,
		0,
		choice->border != NULL,
		choice->only_calls != 0,
	};

	if (elf_file_open_debug(f, path, choice->debug_file, &debug)) {
		has[5] = (uint8_t)(1 + has_symbols(&debug));
		has[6] = (uint8_t)elf_file_has_dwarf(&debug);
		elf_file_close(&debug);
	}
	sum = add_bytes(sum, has, sizeof(has));
	sum = add_bytes(sum, &min_size, sizeof(min_size));
	sum = add_names(add_names(sum, choice->border), choice->handed);
	sum = add_names(add_names(sum, choice->calls), choice->open);
	return choice->functions ? add_bytes(sum, choice->functions,
					     strlen(choice->functions))
				 : sum;
}

/* What plan_id() makes up for a build-id says too little: the number is another
 * one where the file was written since.  Returns 0 if that is not known. */
static int add_version(uint64_t *sum, const struct elf_file *f)
{
	char build_id[BUILD_ID_SIZE];
	struct stat st;

	elf_file_build_id(f, build_id);
	if (*build_id)
		return 1;
	if (fstat(f->fd, &st))
		return 0;
	*sum = add_bytes(*sum, &st.st_dev, sizeof(st.st_dev));
	*sum = add_bytes(*sum, &st.st_ino, sizeof(st.st_ino));
	*sum = add_bytes(*sum, &st.st_size, sizeof(st.st_size));
	*sum = add_bytes(*sum, &st.st_mtim, sizeof(st.st_mtim));
	*sum = add_bytes(*sum, &st.st_ctim, sizeof(st.st_ctim));
	return 1;
}

/* Makes the folder, which ends with the last slash of path. */
static int make_folder(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			*slash = '/';
			return 0;
		}
		*slash = '/';
	}
	return 1;
}

/* Writes the path of the plan.  Returns 1, or 0 if it has none. */
static int path_of(const char *path, const struct plan_choice *choice,
		   char out[PATH_MAX])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int is_own = cache && *cache == '/';
	char id[BUILD_ID_SIZE];
	struct elf_file f;
	uint64_t key;
	int n = -1, is_known;

	if (!elf_file_open(&f, elf_file_descriptor(path)))
		return 0;
	plan_id(&f, id);
	key = choice_of(&f, path, choice);
	is_known = *id && add_version(&key, &f);
	elf_file_close(&f);
	if (is_known && (is_own || (home && *home == '/')))
		n = snprintf(out, PATH_MAX,
			     "%s%s/cstrace/plans/%s-%016llx.plan",
			     is_own ? cache : home, is_own ? "" : "/.cache", id,
			     (unsigned long long)key);
	return n > 0 && n < PATH_MAX;
}

/* Removes plans that nobody has wanted for long. */
static void remove_old(const char *path)
{
	const char *slash = strrchr(path, '/');
	time_t old = time(NULL) - KEPT_SECONDS;
	auto_free char *folder = strndup(path, (size_t)(slash - path));
	DIR *dir = folder ? opendir(folder) : NULL;
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		const char *end = strrchr(entry->d_name, '.');

		if (end && !strcmp(end, ".plan") &&
		    !fstatat(dirfd(dir), entry->d_name, &st,
			     AT_SYMLINK_NOFOLLOW) &&
		    st.st_mtime < old)
			unlinkat(dirfd(dir), entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

static int read_cached(const char *path, struct plan **out)
{
	auto_close int fd = elf_file_descriptor(path);

	if (fd < 0 || plan_read(fd, out, NULL))
		return 0;
	futimens(fd, NULL); /* still wanted */
	return 1;
}

static void write_cached(char *path, const struct plan *plan)
{
	struct outfile f;

	if (!make_folder(path))
		return;
	remove_old(path);
	if (outfile_open(&f, path, NULL))
		return;
	if (plan_write(plan, f.fd, NULL))
		outfile_abandon(&f);
	else
		outfile_commit(&f, NULL);
}

int plan_is_cached(const char *path, const struct plan_choice *choice)
{
	char cached[PATH_MAX];

	return path_of(path, choice, cached) && access(cached, R_OK) == 0;
}

int plan_get(const char *path, const struct plan_choice *choice,
	     struct plan **out, struct cst_error *err)
{
	char cached[PATH_MAX];
	int is_cached = path_of(path, choice, cached);
	int status;

	if (is_cached && read_cached(cached, out))
		return 0;
	status = plan_make(path, choice, out, err);
	if (!status && is_cached)
		write_cached(cached, *out);
	return status;
}
