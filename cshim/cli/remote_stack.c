/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * libunwind-ptrace, taught where the kernel's own code has its call frames, and
 * to read a thread that does not stand.
 */
#include "remote_stack.h"
#include "cstrace/samples.h"

#include <elf.h>
#include <inttypes.h>
#include <libunwind-ptrace.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/uio.h>

struct remote_stack {
	pid_t pid;
	unw_addr_space_t stopped, running;
};

/* ---- where call frames are ----------------------------------------------- */

/* The kernel's code in each process, of which libunwind-ptrace knows nothing,
 * as it is in no file.  Ours is the same. */
static struct {
	uint64_t start, end; /* in the process */
	uint64_t head;	     /* of its table of call frames */
} vdso;

static void vdso_find(pid_t pid)
{
	const char *ours = (const char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *head = (const Elf64_Ehdr *)ours;
	const Elf64_Phdr *parts;
	char path[64], line[PATH_MAX + 128];
	FILE *f;

	if (!ours)
		return;
	parts = (const Elf64_Phdr *)(ours + head->e_phoff);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (strstr(line, "[vdso]"))
			sscanf(line, "%" SCNx64 "-%" SCNx64, &vdso.start,
			       &vdso.end);
	if (f)
		fclose(f);
	for (int i = 0; vdso.start && i < head->e_phnum; i++)
		if (parts[i].p_type == PT_GNU_EH_FRAME)
			vdso.head = vdso.start + parts[i].p_vaddr;
}

/* In no header, but exported; perf calls it as well. */
int search_table(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
		 unw_proc_info_t *, int,
		 void *) __asm__("_Ux86_64_dwarf_search_unwind_table");

static int find_info(unw_addr_space_t space, unw_word_t ip,
		     unw_proc_info_t *out, int need, void *arg)
{
	unw_accessors_t *a = unw_get_accessors(space);
	unw_dyn_info_t info = {.start_ip = vdso.start, .end_ip = vdso.end};
	unw_word_t words[2];

	/* The table's head: four bytes of formats, an address and a count. */
	if (!vdso.head || ip < vdso.start || ip >= vdso.end ||
	    a->access_mem(space, vdso.head, &words[0], 0, arg) < 0 ||
	    a->access_mem(space, vdso.head + 8, &words[1], 0, arg) < 0)
		return _UPT_find_proc_info(space, ip, out, need, arg);
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = vdso.head;
	info.u.rti.table_data = vdso.head + 12;
	info.u.rti.table_len = (uint32_t)words[1];
	return search_table(space, ip, &info, out, need, arg);
}

/* ---- a thread that runs -------------------------------------------------- */

/* What is walked: libunwind hands its callbacks the thread alone. */
static const struct snapshot *current;
static pid_t current_pid;

/* Pages of the process as they were since the walk began: one system call for
 * each word would take longer than the time between two samples. */
enum { PAGE = 4096, N_PAGES = 64 };
static struct page {
	uint64_t number, walk; /* walk: the one that read it */
	unsigned char bytes[PAGE];
} pages[N_PAGES];
static uint64_t n_walks;

static int read_page(uint64_t addr, void *out, size_t size)
{
	uint64_t number = addr / PAGE;
	struct page *p = &pages[number % N_PAGES];
	struct iovec to = {p->bytes, PAGE};
	struct iovec from = {(void *)(uintptr_t)(number * PAGE), PAGE};

	if (p->walk != n_walks || p->number != number) {
		p->walk = 0;
		if (process_vm_readv(current_pid, &to, 1, &from, 1, 0) != PAGE)
			return 0;
		p->number = number;
		p->walk = n_walks;
	}
	memcpy(out, p->bytes + addr % PAGE, size);
	return 1;
}

static int read_remote(uint64_t addr, unw_word_t *word)
{
	size_t first = PAGE - addr % PAGE;

	if (first > sizeof(*word))
		first = sizeof(*word);
	return read_page(addr, word, first) &&
	       (first == sizeof(*word) ||
		read_page(addr + first, (char *)word + first,
			  sizeof(*word) - first));
}

static int read_memory(unw_addr_space_t space, unw_word_t addr,
		       unw_word_t *word, int is_write, void *arg)
{
	(void)space;
	(void)arg;
	if (is_write)
		return -UNW_EINVAL;
	if (addr >= current->sp && current->size >= sizeof(*word) &&
	    addr - current->sp <= current->size - sizeof(*word))
		memcpy(word, current->stack + (addr - current->sp),
		       sizeof(*word));
	else if (!read_remote(addr, word))
		return -UNW_EINVAL;
	return 0;
}

static int read_register(unw_addr_space_t space, unw_regnum_t number,
			 unw_word_t *word, int is_write, void *arg)
{
	(void)space;
	(void)arg;
	if (is_write || number < 0 || number >= SNAPSHOT_REGS)
		return -UNW_EBADREG;
	*word = current->regs[number];
	return 0;
}

/* ---- the walk ------------------------------------------------------------ */

static unw_addr_space_t space_new(int is_stopped)
{
	unw_accessors_t accessors = _UPT_accessors;
	unw_addr_space_t space;

	accessors.find_proc_info = find_info;
	if (!is_stopped) {
		accessors.access_mem = read_memory;
		accessors.access_reg = read_register;
	}
	space = unw_create_addr_space(&accessors, 0);
	if (space)
		unw_set_caching_policy(space, UNW_CACHE_GLOBAL);
	return space;
}

uint32_t remote_stack_walk(struct remote_stack *r, void *thread,
			   const struct snapshot *at, uint64_t *out,
			   int *is_cut)
{
	unw_cursor_t cursor;
	uint32_t n = 0;
	int more = 1, is_exact = 1;

	*is_cut = 1;
	current = at;
	current_pid = r->pid;
	n_walks++;
	if (unw_init_remote(&cursor, at ? r->running : r->stopped, thread) < 0)
		return 0;
	while (more > 0 && n < CST_SAMPLE_FRAMES) {
		unw_word_t pc;

		if (unw_get_reg(&cursor, UNW_REG_IP, &pc) < 0 || !pc)
			break;
		out[n++] = is_exact ? pc : pc - 1;
		is_exact = unw_is_signal_frame(&cursor) > 0;
		more = unw_step(&cursor);
	}
	*is_cut = more < 0 || n == CST_SAMPLE_FRAMES;
	return n;
}

/* ---- begin and end ------------------------------------------------------- */

void *remote_thread_new(uint32_t tid)
{
	return _UPT_create((pid_t)tid);
}

void remote_thread_free(void *thread)
{
	if (thread)
		_UPT_destroy(thread);
}

struct remote_stack *remote_stack_new(pid_t pid)
{
	struct remote_stack *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->pid = pid;
	vdso_find(pid);
	r->stopped = space_new(1);
	r->running = space_new(0);
	if (!r->stopped || !r->running) {
		remote_stack_free(r);
		return NULL;
	}
	return r;
}

void remote_stack_free(struct remote_stack *r)
{
	if (!r)
		return;
	if (r->stopped)
		unw_destroy_addr_space(r->stopped);
	if (r->running)
		unw_destroy_addr_space(r->running);
	free(r);
}
