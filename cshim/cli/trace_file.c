/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Decides which words of a command line name trace files, and finds the trace
 * to read where none does.
 */
#include "trace_file.h"
#include "cstrace/layout.h"
#include "file/block.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char trace_file_default[] = "cstrace.cst";

/* A crashed program's core is a trace as well: its calls are read from it. */
static int is_core(const Elf64_Ehdr *head)
{
	return !memcmp(head->e_ident, ELFMAG, SELFMAG) &&
	       head->e_ident[EI_CLASS] == ELFCLASS64 && head->e_type == ET_CORE;
}

static int begins_as_trace(const char *path)
{
	Elf64_Ehdr head = {0};
	uint64_t magic;
	struct stat st;
	ssize_t n;
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, &head, sizeof(head));
	close(fd);
	if (n < (ssize_t)sizeof(magic))
		return 0;
	memcpy(&magic, &head, sizeof(magic));
	return magic == CST_AREA_MAGIC || is_core(&head) ||
	       !memcmp(&magic, BLOCK_FILE_MAGIC, sizeof(magic));
}

static int has_ending(const char *word)
{
	size_t n = strlen(word);

	return n > 4 && !strcmp(word + n - 4, ".cst");
}

int word_is_id(const char *word)
{
	size_t n = strspn(word, "0123456789");

	if (n && word[n] == ':') {
		word += n + 1;
		n = strspn(word, "0123456789");
	}
	if (!n || word[n] != '.')
		return 0;
	word += n + 1;
	word += *word == 's';
	n = strspn(word, "0123456789");
	return n && !word[n];
}

int trace_file_is_meant(const char *word)
{
	return !strcmp(word, "-") || !strncmp(word, "/dev/fd/", 8) ||
	       has_ending(word) || begins_as_trace(word);
}

/* The only word of a command that writes a file is that file, unless it is a
 * trace that is there: then the file is what was forgotten. */
static int is_trace(const struct command *c, const struct options *o)
{
	if (c->takes[1] == TAKES_FILE && o->n_names == 1)
		return begins_as_trace(o->names[0]);
	return trace_file_is_meant(o->names[0]);
}

/* `cstrace calls parse app.cst`: gdb's order. */
static void put_trace_first(const struct command *c, struct options *o)
{
	char *first = o->names[0];

	if (o->n_names != 2 || c->takes[1] != TAKES_WORD ||
	    trace_file_is_meant(first) || !trace_file_is_meant(o->names[1]))
		return;
	o->names[0] = o->names[1];
	o->names[1] = first;
}

void trace_file_fill(const struct command *c, int max_names, struct options *o)
{
	int is_there = access(trace_file_default, F_OK) == 0;

	if (c->takes[0] != TAKES_TRACE)
		return;
	put_trace_first(c, o);
	if (o->n_names == max_names)
		return;
	if (c->takes[1] == TAKES_TRACE) {
		if (o->n_names == 1)
			o->names[o->n_names++] = (char *)trace_file_default;
		return;
	}
	/* Without the default file a word is taken for a trace, as that is
	 * what must be named then; an ID is none. */
	if (o->n_names &&
	    (is_trace(c, o) || (!is_there && !word_is_id(o->names[0]))))
		return;
	o->names--;
	o->n_names++;
	o->names[0] = (char *)trace_file_default;
}
