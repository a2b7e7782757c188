/* SPDX-License-Identifier: MIT
 *
 * A plan may be anybody's: it is checked as a whole, and applied to an object
 * of its build-id only, where each byte to be changed is what the plan says it
 * is.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sys/stat.h>
#include "core/patches.h"
#include "core/bare.h"
#include "core/control.h"
#include "core/ends_check.h"
#include "core/patched.h"
#include "core/plans.h"
#include "core/signals.h"
#include "kernel/all_objects.h"
#include "kernel/buildid.h"
#include "kernel/config.h"
#include "kernel/loaded_object.h"
#include "kernel/lock.h"
#include "kernel/output.h"
#include "kernel/syscall.h"

enum {
	AREA_STEP = 1 << 21,
	MAX_STEPS = 1 << 10,
	PAGE = 4096,
	MAX_KNOWN = 1024,
};

EXPORT struct cst_patched_table cstrace_patched;
static uint64_t frames_of[CST_MAX_PATCHED];

/* Where gdb has a breakpoint, if it is to patch. */
PASSED_NOOP_FUNCTION(cstrace_patches_mapped, .Lpatches_mapped);
extern HIDDEN void patches_mapped(uint64_t call, uint64_t function,
				  uint64_t to) __asm__(".Lpatches_mapped");

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

/* ---- one object ------------------------------------------------------------
 */

struct job {
	int is_gdbs;	    /* it writes the patches */
	int has_threads;    /* which may be in the code */
	int applies;	    /* asks for no plans any more */
	const char *object; /* path of the file, or "": the program */
	char build_id[BUILD_ID_TEXT];
	uint64_t bias, first, end;     /* of the object's segments */
	uint64_t code_first, code_end; /* of those with code, whole pages */
	int n_codes, protection;       /* segments with code; of the last one */
	const struct cst_plan *plan;
	uint64_t area;
	int64_t moved;	/* bytes from where the plan wants the area */
	uint64_t place; /* in cstrace_patched; CST_MAX_PATCHED: none */
	int is_traced;	/* it is patched, and not as a border */
	int error;	/* errno of what failed */
};

static void tell_refused(const struct job *j, const char *why)
{
	struct output o = {.n = 0};
	const char *object = j->object;

	/* gdb knows which program; a recorder has those that it runs, too. */
	if (!*object && j->first && !j->is_gdbs)
		object = plans_file_at(j->first);
	o.fd = sys_open_mode(plans_path("refused", ""),
			     O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (o.fd < 0)
		return;
	output_number(&o, (uint64_t)j->error, 10);
	output_char(&o, '\t');
	output_text(&o, object ? object : "");
	output_char(&o, '\t');
	output_text(&o, why);
	output_char(&o, '\n');
	output_flush(&o);
	sys_close(o.fd);
}

void patches_refuse(const char *why)
{
	const struct job none = {.object = ""};

	tell_refused(&none, why);
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
		((uint64_t *)to)[i] = patched_slots()[i];
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

/* Returns a place that is free, or CST_MAX_PATCHED. */
static uint64_t place_find(void)
{
	for (uint64_t i = 0; i < cstrace_patched.n; i++)
		if (!cstrace_patched.all[i].area_size)
			return i;
	return cstrace_patched.n;
}

static uint64_t sum_of(const struct cst_plan *p)
{
	return *(const uint64_t *)((const char *)p + p->size - 8);
}

/* Returns the place of the same plan's area, which an earlier attach may have
 * mapped, or CST_MAX_PATCHED. */
static uint64_t place_of_same(const struct job *j)
{
	for (uint64_t i = 0; i < cstrace_patched.n; i++) {
		const struct cst_patched *p = &cstrace_patched.all[i];

		if (p->area_size && p->bias == j->bias &&
		    p->sum == sum_of(j->plan))
			return i;
	}
	return CST_MAX_PATCHED;
}

static void keep(const struct job *j, uint64_t place)
{
	struct cst_patched *p = &cstrace_patched.all[place];
	const char *parts[] = {j->build_id, ".plan"};
	uint32_t n = 0;

	*p = (struct cst_patched){.area = j->area,
				  .bias = j->bias,
				  .moved = j->moved,
				  .sum = sum_of(j->plan)};
	for (int i = 0; i < 2; i++)
		for (const char *c = parts[i]; *c && n + 1 < sizeof(p->plan);
		     c++)
			p->plan[n++] = *c;
	frames_of[place] = j->area + j->plan->header_at;
	bare_set(place, j->bias + j->plan->image_at,
		 j->plan->is_bare ? j->plan->image_size : 0);
	/* patches_area() finds it from here on. */
	__atomic_store_n(&p->area_size, j->plan->area_size, __ATOMIC_RELEASE);
	if (place == cstrace_patched.n)
		__atomic_store_n(&cstrace_patched.n, place + 1,
				 __ATOMIC_RELEASE);
}

/* The object is gone, and with it who was in the area. */
static void drop(uint64_t place)
{
	struct cst_patched *p = &cstrace_patched.all[place];
	uint64_t size = p->area_size;

	__atomic_store_n(&p->area_size, 0, __ATOMIC_RELEASE);
	bare_set(place, 0, 0);
	sys_munmap(p->area, size);
}

static const char *apply(struct job *j)
{
	uint64_t place = place_find();

	if (j->has_threads)
		return "a library had begun threads by then";
	if (!j->is_gdbs && !is_as_planned(j))
		return "its code differs from the file's";
	if (j->is_gdbs && place_of_same(j) < CST_MAX_PATCHED) {
		j->place = place_of_same(j);
		return 0;
	}
	if (place == CST_MAX_PATCHED)
		return "there are too many libraries";
	if (!map_area(j))
		return "no room for new code near it";
	fill_area(j);
	if (!seal_area(j) || (!j->is_gdbs && !write_code(j))) {
		sys_munmap(j->area, j->plan->area_size);
		return "its code cannot be changed";
	}
	keep(j, place);
	j->place = place;
	return 0;
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

static void apply_file(struct job *j, int is_asked)
{
	uint64_t size, at = plans_map(j->build_id, is_asked, &size);
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
	j->is_traced = !why && !j->plan->is_border;
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

static void build_id_of(struct job *j)
{
	lock_take();
	buildid_of_plan(j->first & -(uint64_t)PAGE, j->build_id);
	lock_drop();
}

/* Will the dynamic linker still write into the code? */
static int is_code_relocated(const struct dl_phdr_info *info)
{
	const Elf64_Dyn *d = 0;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = (const Elf64_Dyn *)(info->dlpi_addr +
						info->dlpi_phdr[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL ||
		    (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return 1;
	return 0;
}

/* Was it compiled with hooks? */
static int has_hooks(const struct dl_phdr_info *info)
{
	struct object o;

	return object_read_info(&o, info) &&
	       object_slot(&o, "__cyg_profile_func_enter") != 0;
}

/* Is it traced, though there may be no plan of it? */
static int is_caller(const struct job *j, const struct dl_phdr_info *info)
{
	return (j->build_id[0] && plans_is_caller(j->build_id)) ||
	       has_hooks(info);
}

/* Are there border plans?  Then it matters who calls. */
static int has_border;

/* The objects that were looked at, each by its first byte. */
struct known {
	uint64_t first;
	uint16_t place; /* in cstrace_patched; CST_MAX_PATCHED: none */
	uint8_t is_there, is_new, is_asked;
};

static struct known known[MAX_KNOWN];
static uint32_t n_known;

static struct known *known_find(uint64_t first)
{
	for (uint32_t i = 0; i < n_known; i++)
		if (known[i].first == first)
			return &known[i];
	return 0;
}

/* Returns 0 if there are no plans for such an object. */
static int look_at(struct job *j, const struct dl_phdr_info *info,
		   const struct job *all)
{
	*j = (struct job){.is_gdbs = all->is_gdbs,
			  .has_threads = all->has_threads,
			  .object = info->dlpi_name,
			  .bias = info->dlpi_addr,
			  .place = CST_MAX_PATCHED};
	measure(j, info);
	return j->code_first < j->code_end;
}

static void ask_for(struct job *j)
{
	if (n_known == MAX_KNOWN) {
		tell_refused(j, "there are too many libraries");
		return;
	}
	build_id_of(j);
	known[n_known++] = (struct known){
		.first = j->first,
		.place = CST_MAX_PATCHED,
		.is_there = 1,
		.is_new = 1,
		.is_asked = j->build_id[0] &&
			    plans_want(j->build_id, j->first, !*j->object),
	};
}

static void apply_to(struct job *j, struct known *now,
		     const struct dl_phdr_info *info)
{
	if (!now || !now->is_new)
		return;
	now->is_new = 0;
	build_id_of(j);
	if (j->build_id[0] && !is_code_relocated(info))
		apply_file(j, now->is_asked);
	if (j->is_traced || (has_border && is_caller(j, info)))
		patched_trace(j->first, j->end);
	now->place = (uint16_t)j->place;
}

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct job *all = arg;
	struct known *now;
	struct job j;

	(void)size;
	if (!look_at(&j, info, all))
		return 0;
	now = known_find(j.first);
	if (all->applies)
		apply_to(&j, now, info);
	else if (now)
		now->is_there = 1;
	else
		ask_for(&j);
	return 0;
}

static void forget_gone(void)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n_known; i++) {
		if (known[i].is_there) {
			known[kept++] = known[i];
			continue;
		}
		patched_untrace(known[i].first);
		if (known[i].place < CST_MAX_PATCHED)
			drop(known[i].place);
	}
	n_known = kept;
}

/* All are asked for first: the reader plans while the first one is awaited. */
static void look_at_all(struct job *all)
{
	uint64_t mask = signals_block();

	for (uint32_t i = 0; i < n_known; i++)
		known[i].is_there = 0;
	has_border = plans_have_border();
	patched_border(has_border);
	all_objects(visit, all);
	forget_gone();
	all->applies = 1;
	all_objects(visit, all);
	signals_restore(mask);
}

static int are_on, are_gdbs;

int patches_are_on(void)
{
	return are_on;
}

void patches_tell(void)
{
	are_gdbs = are_on = 1;
}

int patches_lead(uint64_t function, uint64_t to)
{
	if (are_gdbs)
		patches_mapped(CST_PATCHES_LED, function, to);
	return are_gdbs;
}

static void look(struct job *all)
{
	if (all->is_gdbs)
		patches_mapped(CST_PATCHES_WANTED, 0, 0);
	look_at_all(all);
	if (all->is_gdbs)
		patches_mapped(CST_PATCHES_MAPPED, 0, 0);
}

void patches_look(void)
{
	struct job all = {.is_gdbs = are_gdbs};

	look(&all);
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

void patches_map(const char *folder)
{
	struct job all = {.is_gdbs = 1};

	are_on = 0; /* until a debugger asks for it */
	if (!plans_begin(folder))
		return;
	ends_check_end(); /* who is in a function now was not seen to enter */
	n_known = 0;	  /* there are other plans now */
	patched_untrace_all();
	patched_prepare();
	look_at_all(&all);
}

static void patches_apply(const char *folder, const char *check)
{
	struct job all = {.is_gdbs = !config_is_own(),
			  .has_threads = n_threads() != 1};

	if (!folder || !*folder || control.mode == CST_MODE_OFF ||
	    !plans_begin(folder))
		return;
	patched_prepare();
	if (check && *check == '1')
		ends_check_begin();
	are_gdbs = all.is_gdbs;
	look(&all);
	are_on = 1;
	if (cstrace_patched.n && !all.is_gdbs)
		control_obey();
}

/* The area is opened now: the program may enter a sandbox before its first
 * call. */
void patches_begin(char **environment)
{
	patches_apply(config_value(environment, "CSTRACE_PLANS"),
		      config_value(environment, "CSTRACE_CHECK_ENDS"));
}
