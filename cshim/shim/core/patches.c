/* SPDX-License-Identifier: MIT
 *
 * A plan is a file, which may be anybody's: it is copied, then checked as a
 * whole, and applied to an object of its build-id only, where each byte to be
 * changed is what the plan says it is.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/stat.h>
#include "core/patches.h"
#include "core/control.h"
#include "core/patched.h"
#include "core/signals.h"
#include "kernel/buildid.h"
#include "kernel/config.h"
#include "kernel/output.h"
#include "kernel/syscall.h"

enum {
	PATH_SIZE = 4096,
	MAX_PLAN_BYTES = 1 << 30,
	AREA_STEP = 1 << 21,
	MAX_STEPS = 1 << 10,
	PAGE = 4096,
};

EXPORT struct cst_patched_table cstrace_patched;
static uint64_t frames_of[CST_MAX_PATCHED];

/* Where gdb has a breakpoint, if it is to patch. */
NOOP_FUNCTION(cstrace_patches_mapped, .Lpatches_mapped);
void patches_mapped(void) __asm__(".Lpatches_mapped");

const struct cst_patched *patches_area(uint64_t pc, uint64_t *frames)
{
	uint64_t n = __atomic_load_n(&cstrace_patched.n, __ATOMIC_ACQUIRE);

	for (uint64_t i = 0; i < n; i++) {
		const struct cst_patched *p = &cstrace_patched.all[i];

		if (pc - p->area >= p->area_size)
			continue;
		*frames = frames_of[i];
		return p;
	}
	return 0;
}

/* ---- text ------------------------------------------------------------------
 */

struct text {
	char bytes[PATH_SIZE];
	uint32_t n;
};

static void put(struct text *t, const char *s)
{
	while (*s && t->n + 1 < sizeof(t->bytes))
		t->bytes[t->n++] = *s++;
	t->bytes[t->n] = 0;
}

static void put_plan(struct text *t, const char *build_id)
{
	put(t, build_id);
	put(t, ".plan");
}

/* ---- one object ------------------------------------------------------------
 */

struct job {
	const char *folder;
	int is_gdbs;	    /* it writes the patches */
	const char *object; /* path of the file, or "": the program */
	char build_id[BUILD_ID_TEXT];
	uint64_t bias, first, end;     /* of the object's segments */
	uint64_t code_first, code_end; /* of those with code, whole pages */
	int n_codes, protection;       /* segments with code; of the last one */
	const struct cst_plan *plan;
	uint64_t area;
	int64_t moved; /* bytes from where the plan wants the area */
	int error;     /* errno of what failed */
};

static void tell_refused(const struct job *j, const char *why)
{
	static struct text path;
	struct output o = {.n = 0};

	path.n = 0;
	put(&path, j->folder);
	put(&path, "/refused");
	o.fd = sys_open_mode(path.bytes,
			     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (o.fd < 0)
		return;
	output_number(&o, (uint64_t)j->error, 10);
	output_char(&o, '\t');
	output_text(&o, j->object);
	output_char(&o, '\t');
	output_text(&o, why);
	output_char(&o, '\n');
	output_flush(&o);
	sys_close(o.fd);
}

static const struct cst_patch *patches_of(const struct cst_plan *p)
{
	return cst_plan_at(p, &p->patches);
}

static int are_equal(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (a[i] != b[i])
			return 0;
	return 1;
}

/* Is what would be changed there, in code, as the plan says? */
static int is_as_planned(const struct job *j)
{
	const struct cst_patch *patches = patches_of(j->plan);

	if (j->plan->image_at + j->bias < (j->first & -(uint64_t)PAGE) ||
	    j->plan->image_at + j->plan->image_size + j->bias >
		    ((j->end + PAGE - 1) & -(uint64_t)PAGE))
		return 0;
	for (uint32_t i = 0; i < j->plan->patches.n; i++) {
		uint64_t at = patches[i].address + j->bias;

		if (at < j->code_first ||
		    at + patches[i].length > j->code_end ||
		    !are_equal((const uint8_t *)at, patches[i].old_bytes,
			       patches[i].length))
			return 0;
	}
	return 1;
}

/* ---- the area --------------------------------------------------------------
 */

/* Every jump between area and object spans less than 2 GiB. */
static int is_near(const struct job *j, uint64_t at)
{
	uint64_t image = j->plan->image_at + j->bias;
	uint64_t image_end = image + j->plan->image_size;
	uint64_t end = at + j->plan->area_size;
	uint64_t low = at < image ? at : image;
	uint64_t high = end > image_end ? end : image_end;

	return end > at && high - low < 0x7fff0000;
}

static int map_at(struct job *j, uint64_t at)
{
	long got;

	if (!is_near(j, at))
		return 0;
	got = sys_mmap(at, j->plan->area_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
	if (got < 0) {
		if (got != -EEXIST)
			j->error = (int)-got;
		return 0;
	}
	if ((uint64_t)got != at) { /* a kernel that does not know the flag */
		sys_munmap((uint64_t)got, j->plan->area_size);
		return 0;
	}
	j->area = at;
	return 1;
}

/* Where the plan wants it, or as near to that as there is room. */
static int map_area(struct job *j)
{
	uint64_t wanted = j->bias + (uint64_t)j->plan->area_at;
	int found = map_at(j, wanted);

	j->error = ENOMEM;
	for (uint64_t i = 1; !found && i < MAX_STEPS; i++) {
		uint64_t step = i * AREA_STEP;

		found = map_at(j, wanted + step) ||
			(wanted > step && map_at(j, wanted - step));
	}
	j->moved = (int64_t)(j->area - wanted);
	return found;
}

static void fill_area(const struct job *j)
{
	const struct cst_plan *p = j->plan;
	const uint8_t *from = cst_plan_at(p, &p->area);
	const uint32_t *moves = cst_plan_at(p, &p->moves);
	uint8_t *to = (uint8_t *)j->area;

	for (uint32_t i = 0; i < p->area_size; i++)
		to[i] = from[i];
	for (uint32_t i = 0; i < CST_PLAN_SLOTS; i++)
		((uint64_t *)to)[i] = cstrace_slots[i];
	for (uint32_t i = 0; i < p->moves.n; i++)
		*(uint32_t *)(to + moves[i]) -= (uint32_t)j->moved;
}

static int protect(struct job *j, uint64_t at, uint64_t size, int how)
{
	long status = size ? gate_call(SYS_mprotect, (long)at, (long)size, how,
				       0, 0, 0)
			   : 0;

	if (status < 0)
		j->error = (int)-status;
	return status >= 0;
}

static int seal_area(struct job *j)
{
	const struct cst_plan *p = j->plan;
	uint64_t code = j->area + p->code_at, code_end = code + p->code_size;

	return protect(j, j->area, p->code_at, PROT_READ) &&
	       protect(j, code, p->code_size, PROT_READ | PROT_EXEC) &&
	       protect(j, code_end, j->area + p->area_size - code_end,
		       PROT_READ);
}

/* ---- the object's code -----------------------------------------------------
 */

static void bytes_of(const struct job *j, const struct cst_patch *p,
		     uint8_t out[CST_PATCH_MAX])
{
	for (uint32_t i = 0; i < CST_PATCH_MAX; i++)
		out[i] = p->new_bytes[i];
	if (p->moved)
		*(uint32_t *)(out + p->moved) += (uint32_t)j->moved;
}

static void write_in_place(const struct job *j)
{
	const struct cst_patch *patches = patches_of(j->plan);

	for (uint32_t i = 0; i < j->plan->patches.n; i++) {
		uint8_t *to = (uint8_t *)(patches[i].address + j->bias);
		uint8_t bytes[CST_PATCH_MAX];

		bytes_of(j, &patches[i], bytes);
		for (uint32_t k = 0; k < patches[i].length; k++)
			to[k] = bytes[k];
	}
}

/* The kernel writes, past the pages' protection.  All or nothing. */
static int write_by_kernel(struct job *j)
{
	const struct cst_patch *patches = patches_of(j->plan);
	int fd = sys_open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	uint32_t i, n = j->plan->patches.n;

	if (fd < 0) {
		j->error = -fd;
		return 0;
	}
	for (i = 0; i < n; i++) {
		uint8_t bytes[CST_PATCH_MAX];
		long got;

		bytes_of(j, &patches[i], bytes);
		got = sys_pwrite(fd, bytes, patches[i].length,
				 (long)(patches[i].address + j->bias));
		if (got == patches[i].length)
			continue;
		j->error = got < 0 ? (int)-got : EIO;
		break;
	}
	for (uint32_t k = 0; i < n && k < i; k++)
		sys_pwrite(fd, patches[k].old_bytes, patches[k].length,
			   (long)(patches[k].address + j->bias));
	sys_close(fd);
	return i == n;
}

static int write_code(struct job *j)
{
	uint64_t size = j->code_end - j->code_first;

	if (j->n_codes > 1 || !protect(j, j->code_first, size,
				       PROT_READ | PROT_WRITE | PROT_EXEC))
		return write_by_kernel(j);
	write_in_place(j);
	protect(j, j->code_first, size, j->protection);
	return 1;
}

/* ---- a plan ----------------------------------------------------------------
 */

static void keep(const struct job *j)
{
	uint64_t n = cstrace_patched.n;
	struct cst_patched *p = &cstrace_patched.all[n];
	static struct text name;

	name.n = 0;
	put_plan(&name, j->build_id);
	*p = (struct cst_patched){.area = j->area,
				  .area_size = j->plan->area_size,
				  .bias = j->bias,
				  .moved = j->moved};
	for (uint32_t i = 0; i < name.n && i + 1 < sizeof(p->plan); i++)
		p->plan[i] = name.bytes[i];
	frames_of[n] = j->area + j->plan->header_at;
	__atomic_store_n(&cstrace_patched.n, n + 1, __ATOMIC_RELEASE);
}

static const char *apply(struct job *j)
{
	if (!j->is_gdbs && !is_as_planned(j))
		return "its code differs from the file's";
	if (cstrace_patched.n == CST_MAX_PATCHED)
		return "there are too many libraries";
	if (!map_area(j))
		return "no room for new code near it";
	fill_area(j);
	if (!seal_area(j) || (!j->is_gdbs && !write_code(j))) {
		sys_munmap(j->area, j->plan->area_size);
		return "its code cannot be changed";
	}
	keep(j);
	return 0;
}

/* The plan's file, in memory; 0: there is none. */
static uint64_t plan_map(struct job *j, uint64_t *size)
{
	static struct text path;
	uint64_t at = 0, got = 0;
	long n = 1, end;
	int fd;

	path.n = 0;
	put(&path, j->folder);
	put(&path, "/");
	put_plan(&path, j->build_id);
	fd = sys_open(path.bytes, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	end = sys_lseek(fd, 0, 2 /* SEEK_END */);
	if (end > 0 && end <= MAX_PLAN_BYTES) {
		long to = sys_mmap(0, (size_t)end, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1);

		at = to > 0 ? (uint64_t)to : 0;
	}
	while (at && n > 0 && got < (uint64_t)end) {
		n = sys_pread(fd, (char *)at + got, (size_t)end - got,
			      (long)got);
		got += n > 0 ? (uint64_t)n : 0;
	}
	sys_close(fd);
	*size = at ? (uint64_t)end : 0;
	return at;
}

static int has_build_id(const struct job *j, const struct cst_plan *p)
{
	static const char digits[] = "0123456789abcdef";

	for (uint32_t i = 0; i < p->build_id_size; i++)
		if (j->build_id[2 * i] != digits[p->build_id[i] >> 4] ||
		    j->build_id[2 * i + 1] != digits[p->build_id[i] & 15])
			return 0;
	return p->build_id_size > 0;
}

static void apply_file(struct job *j)
{
	uint64_t size, at = plan_map(j, &size);
	const char *why;

	if (!at)
		return;
	j->plan = (const struct cst_plan *)at;
	if (!cst_plan_is_valid(j->plan, size) || !has_build_id(j, j->plan))
		why = "its plan is damaged";
	else
		why = apply(j);
	if (why)
		tell_refused(j, why);
	sys_munmap(at, size);
}

/* ---- all objects -----------------------------------------------------------
 */

static void measure(struct job *j, const struct dl_phdr_info *info)
{
	j->first = j->code_first = UINT64_MAX;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		uint64_t end = start + p->p_memsz;

		if (p->p_type != PT_LOAD)
			continue;
		j->first = start < j->first ? start : j->first;
		j->end = end > j->end ? end : j->end;
		if (!(p->p_flags & PF_X))
			continue;
		j->n_codes++;
		j->protection = (p->p_flags & PF_R ? PROT_READ : 0) |
				(p->p_flags & PF_W ? PROT_WRITE : 0) |
				PROT_EXEC;
		start &= -(uint64_t)PAGE;
		end = (end + PAGE - 1) & -(uint64_t)PAGE;
		j->code_first = start < j->code_first ? start : j->code_first;
		j->code_end = end > j->code_end ? end : j->code_end;
	}
}

static void cut_build_id(char *text)
{
	while (*text && *text != ' ')
		text++;
	*text = 0;
}

static int apply_to(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct job *all = arg;
	struct job j = {.folder = all->folder,
			.is_gdbs = all->is_gdbs,
			.object = info->dlpi_name,
			.bias = info->dlpi_addr};

	(void)size;
	measure(&j, info);
	if (j.code_first >= j.code_end)
		return 0;
	buildid_read(j.first & -(uint64_t)PAGE, j.build_id);
	cut_build_id(j.build_id);
	if (j.build_id[0])
		apply_file(&j);
	return 0;
}

/* How many threads there are; 0: nobody knows. */
static uint64_t n_threads(void)
{
	struct stat st = {0};

	if (gate_call(SYS_newfstatat, AT_FDCWD, (long)"/proc/self/task",
		      (long)&st, 0, 0, 0) < 0 ||
	    st.st_nlink < 2)
		return 0;
	return st.st_nlink - 2;
}

static void patches_apply(char **environment)
{
	struct job all = {.folder = config_value(environment, "CSTRACE_PLANS"),
			  .is_gdbs = !config_is_own(),
			  .object = ""};
	uint64_t mask;

	if (!all.folder || !*all.folder || control.mode == CST_MODE_OFF)
		return;
	if (n_threads() != 1) {
		tell_refused(&all, "a library had begun threads by then");
		return;
	}
	patched_prepare();
	mask = signals_block();
	dl_iterate_phdr(apply_to, &all);
	signals_restore(mask);
	if (!cstrace_patched.n)
		return;
	if (all.is_gdbs)
		patches_mapped();
	else
		control_obey();
}

/* Behind control_start(), for that is in an earlier object of the library.  The
 * area is opened now: the program may enter a sandbox before its first call. */
__attribute__((constructor)) static void patches_start(int argc, char **argv,
						       char **environment)
{
	(void)argc;
	(void)argv;
	patches_apply(environment);
}
