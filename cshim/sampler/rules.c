/* SPDX-License-Identifier: MIT
 *
 * The rule by which a walk gets from a frame to its caller's, for each address
 * of code: libunwind is asked once, then the rule is kept in a table.
 *
 * libunwind steps in an address space of our own.  find_info() tells it where
 * the unwind tables are, by _dl_find_object(), which takes no lock; libunwind's
 * own way, dl_iterate_phdr(), waits for the dynamic linker's lock.  Registers
 * and stack are not the thread's but made up: a register has a number that
 * stands for it, and memory has at each place the place's own address, marked.
 * So a value that libunwind computes says which register or place it came from
 * and at which offset, which is the rule (probe_run()).
 *
 * libunwind is opened and not linked: its libraries export functions of the C++
 * runtime's unwinder, which a program must not find before its own.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <libunwind.h>
#include <string.h>

#define LIBUNWIND "libunwind-x86_64.so.8"

static struct {
	unw_addr_space_t (*create_addr_space)(unw_accessors_t *, int);
	int (*set_caching_policy)(unw_addr_space_t, unw_caching_policy_t);
	int (*init_remote)(unw_cursor_t *, unw_addr_space_t, void *);
	int (*step)(unw_cursor_t *);
	int (*get_reg)(unw_cursor_t *, int, unw_word_t *);
	/* In no header, but exported; perf calls it as well. */
	int (*search_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *,
			    unw_proc_info_t *, int, void *);
} unw;

static uint64_t library_from, library_to; /* libunwind's code */

/* Returns 0 if the library is not there. */
static int unw_open(void)
{
	const struct {
		const char *name;
		void *at;
	} functions[] = {
		{"_Ux86_64_create_addr_space", &unw.create_addr_space},
		{"_Ux86_64_set_caching_policy", &unw.set_caching_policy},
		{"_Ux86_64_init_remote", &unw.init_remote},
		{"_Ux86_64_step", &unw.step},
		{"_Ux86_64_get_reg", &unw.get_reg},
		{"_Ux86_64_dwarf_search_unwind_table", &unw.search_table},
	};
	void *library = dlopen(LIBUNWIND, RTLD_NOW | RTLD_LOCAL);
	struct dl_find_object object;

	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		void *found =
			library ? dlsym(library, functions[i].name) : NULL;

		if (!found)
			return 0;
		memcpy(functions[i].at, &found, sizeof(found));
		if (_dl_find_object(found, &object))
			return 0;
	}
	library_from = (uint64_t)object.dlfo_map_start;
	library_to = (uint64_t)object.dlfo_map_end;
	return 1;
}

/* What the made-up registers rsp, rbp and all others hold: no address is so
 * high.  What memory holds is its own address and IN_MEMORY. */
#define STACK 0x2000000000000000ull
#define FRAME 0x3000000000000000ull
#define OTHER 0x5000000000000000ull
#define IN_MEMORY 0x0400000000000000ull

enum {
	SLOTS = 1 << 15, /* a power of 2 */
	TRIES = 8,	 /* slots that one address may have */
	NEAR = 1 << 22,	 /* offsets in a rule are smaller */
	/* Encodings in .eh_frame_hdr, of DW_EH_PE_...: all linkers write these.
	 */
	PCREL_SDATA4 = 0x1b,
	UDATA4 = 0x03,
	DATAREL_SDATA4 = 0x3b,
};

/* A rule that is kept.  key is the address of the code and, in its 16 highest
 * bits, the generation; 0: the slot is free, 1: it is being written. */
struct slot {
	uint64_t key, rule;
};

static struct slot slots[SLOTS];
static uint64_t generation = 1;
static unw_addr_space_t space;

/* How many threads are in libunwind, and how many keep others out of it. */
static uint32_t n_looking, n_holds;

int rules_is_libunwind(uint64_t pc)
{
	return pc >= library_from && pc < library_to;
}

/* ---- what libunwind asks ------------------------------------------------- */

/* One step of libunwind, from the code at pc. */
struct probe {
	uint64_t pc;
	int has_info; /* there are unwind tables for it */
	struct walk memory;
};

/* .eh_frame_hdr; pairs of an address and its frame information follow. */
struct table_head {
	uint8_t version, frame_encoding, count_encoding, table_encoding;
	int32_t frame;
	uint32_t count;
};

static int find_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *out,
		     int need, void *arg)
{
	struct probe *p = arg;
	struct dl_find_object object;
	const struct table_head *head;
	unw_dyn_info_t info;
	int status;

	if (_dl_find_object((void *)ip, &object) || !object.dlfo_eh_frame)
		return -UNW_ENOINFO;
	head = object.dlfo_eh_frame;
	if (head->version != 1 || head->frame_encoding != PCREL_SDATA4 ||
	    head->count_encoding != UDATA4 ||
	    head->table_encoding != DATAREL_SDATA4)
		return -UNW_ENOINFO;
	memset(&info, 0, sizeof(info));
	info.start_ip = (unw_word_t)object.dlfo_map_start;
	info.end_ip = (unw_word_t)object.dlfo_map_end;
	info.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	info.u.rti.segbase = (unw_word_t)head;
	info.u.rti.table_data = (unw_word_t)(head + 1);
	info.u.rti.table_len = head->count * 8ull / sizeof(unw_word_t);
	status = unw.search_table(as, ip, &info, out, need, arg);
	if (status == 0)
		p->has_info = 1;
	return status;
}

static void put_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
	(void)as;
	(void)info;
	(void)arg;
}

static int no_list(unw_addr_space_t as, unw_word_t *out, void *arg)
{
	(void)as;
	(void)out;
	(void)arg;
	return -UNW_ENOINFO;
}

static int read_memory(unw_addr_space_t as, unw_word_t addr, unw_word_t *value,
		       int is_write, void *arg)
{
	struct probe *p = arg;

	(void)as;
	if (is_write)
		return -UNW_EINVAL;
	if (addr >= STACK - NEAR) {
		*value = addr + IN_MEMORY;
		return 0;
	}
	if (!is_readable(&p->memory, addr))
		return -UNW_EINVAL;
	memcpy(value, (const void *)addr, sizeof(*value));
	return 0;
}

static int read_register(unw_addr_space_t as, unw_regnum_t number,
			 unw_word_t *value, int is_write, void *arg)
{
	const struct probe *p = arg;

	(void)as;
	if (is_write)
		return -UNW_EREADONLYREG;
	if (number == UNW_X86_64_RIP)
		*value = p->pc;
	else if (number == UNW_X86_64_RSP)
		*value = STACK;
	else if (number == UNW_X86_64_RBP)
		*value = FRAME;
	else
		*value = OTHER + ((uint64_t)number << 40);
	return 0;
}

static int no_float(unw_addr_space_t as, unw_regnum_t number,
		    unw_fpreg_t *value, int is_write, void *arg)
{
	(void)as;
	(void)number;
	(void)value;
	(void)is_write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
	(void)as;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t size,
		   unw_word_t *offset, void *arg)
{
	(void)as;
	(void)ip;
	(void)name;
	(void)size;
	(void)offset;
	(void)arg;
	return -UNW_EUNSPEC;
}

static unw_accessors_t accessors = {
	.find_proc_info = find_info,
	.put_unwind_info = put_info,
	.get_dyn_info_list_addr = no_list,
	.access_mem = read_memory,
	.access_reg = read_register,
	.access_fpreg = no_float,
	.resume = no_resume,
	.get_proc_name = no_name,
};

/* ---- what its answer means ----------------------------------------------- */

static int is_near(uint64_t value, uint64_t base, int32_t *offset)
{
	int64_t off = (int64_t)(value - base);

	if (off <= -NEAR || off >= NEAR)
		return 0;
	*offset = (int32_t)off;
	return 1;
}

/* Sets the rule of the CFA, the stack pointer in the caller.  Returns 0 if cfa
 * is no made-up value. */
static int decode_cfa(uint64_t cfa, struct rule *r)
{
	if (is_near(cfa, STACK, &r->cfa_offset))
		r->cfa = CFA_IS_SP;
	else if (is_near(cfa, FRAME, &r->cfa_offset))
		r->cfa = CFA_IS_FP;
	else if (is_near(cfa, STACK + IN_MEMORY, &r->cfa_offset))
		r->cfa = CFA_AT_SP;
	else if (is_near(cfa, FRAME + IN_MEMORY, &r->cfa_offset))
		r->cfa = CFA_AT_FP;
	else
		return 0;
	return 1;
}

/* Sets *offset and returns the base of the place in memory that a register's
 * value was read from. */
static uint8_t decode_place(uint64_t value, uint64_t cfa, int32_t *offset)
{
	if (is_near(value, cfa + IN_MEMORY, offset))
		return BASE_CFA;
	if (is_near(value, STACK + IN_MEMORY, offset))
		return BASE_SP;
	return BASE_LOST;
}

/* Returns whether the code is what a signal's handler returns to: mov $15,
 * %rax; syscall. */
static int is_trampoline(struct walk *memory, uint64_t pc)
{
	static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				       0,    0,	   0x0f, 0x05};

	/* A return address less 1, or itself. */
	for (int i = 0; i < 2; i++)
		if (is_readable(memory, pc + i) &&
		    is_readable(memory, pc + i + 8) &&
		    !memcmp((const void *)(pc + i), code, sizeof(code)))
			return 1;
	return 0;
}

/* Lets libunwind make one step from pc, and sets *r to what it did. */
static void probe_run(uint64_t pc, struct rule *r)
{
	struct probe p = {.pc = pc};
	unw_cursor_t cursor;
	uint64_t cfa, ra, fp;
	int status;

	*r = (struct rule){.cfa = CFA_NONE};
	if (unw.init_remote(&cursor, space, &p) < 0)
		return;
	status = unw.step(&cursor);
	r->is_guess = !p.has_info;
	r->is_signal = (uint8_t)is_trampoline(&p.memory, pc);
	if (status == 0)
		r->cfa = p.has_info ? CFA_END : CFA_NONE;
	if (status <= 0)
		return;
	if (unw.get_reg(&cursor, UNW_REG_SP, &cfa) < 0 ||
	    unw.get_reg(&cursor, UNW_REG_IP, &ra) < 0 ||
	    unw.get_reg(&cursor, UNW_X86_64_RBP, &fp) < 0 ||
	    !decode_cfa(cfa, r))
		return;
	r->ra_base = decode_place(ra, cfa, &r->ra_offset);
	if (r->ra_base == BASE_LOST)
		r->cfa = CFA_NONE;
	r->fp_base =
		fp == FRAME ? BASE_SAME : decode_place(fp, cfa, &r->fp_offset);
}

/* ---- what is kept -------------------------------------------------------- */

/* Packs a rule into 64 bits: kinds, then offsets.  Those of registers count
 * words of 8 bytes; the CFA's counts bytes, as code may push less.  Returns 0
 * if it does not fit. */
static uint64_t rule_pack(const struct rule *r)
{
	int64_t ra = r->ra_offset / 8, fp = r->fp_offset / 8;

	if (r->ra_offset % 8 || r->fp_offset % 8 || ra < -128 || ra > 127 ||
	    fp < -(1 << 19) || fp >= 1 << 19)
		return 0;
	return 1 | (uint64_t)r->cfa << 1 | (uint64_t)r->fp_base << 4 |
	       (uint64_t)r->ra_base << 6 | (uint64_t)r->is_signal << 8 |
	       (uint64_t)r->is_guess << 9 | ((uint64_t)ra & 0xff) << 10 |
	       ((uint64_t)fp & 0xfffff) << 18 |
	       ((uint64_t)(int64_t)r->cfa_offset & 0x3ffffff) << 38;
}

/* Returns the number in the lowest bits of value, of which the highest is its
 * sign. */
static int32_t signed_of(uint64_t value, int bits)
{
	return (int32_t)((int64_t)(value << (64 - bits)) >> (64 - bits));
}

static void rule_unpack(uint64_t packed, struct rule *r)
{
	*r = (struct rule){
		.cfa = packed >> 1 & 7,
		.fp_base = packed >> 4 & 3,
		.ra_base = packed >> 6 & 3,
		.is_signal = packed >> 8 & 1,
		.is_guess = packed >> 9 & 1,
		.ra_offset = signed_of(packed >> 10 & 0xff, 8) * 8,
		.fp_offset = signed_of(packed >> 18 & 0xfffff, 20) * 8,
		.cfa_offset = signed_of(packed >> 38 & 0x3ffffff, 26),
	};
}

static uint32_t slot_of(uint64_t pc)
{
	return (uint32_t)((pc * 0x9e3779b97f4a7c15ull) >> 49);
}

static uint64_t key_of(uint64_t pc)
{
	return (pc & 0xffffffffffffull) |
	       __atomic_load_n(&generation, __ATOMIC_ACQUIRE) << 48;
}

/* Returns the rule that is kept, packed, or 0. */
static uint64_t kept(uint64_t pc, uint64_t key)
{
	uint32_t at = slot_of(pc);

	for (uint32_t i = 0; i < TRIES; i++) {
		struct slot *s = &slots[(at + i) % SLOTS];
		uint64_t rule;

		if (__atomic_load_n(&s->key, __ATOMIC_ACQUIRE) != key)
			continue;
		rule = __atomic_load_n(&s->rule, __ATOMIC_ACQUIRE);
		/* Another generation may have taken it meanwhile. */
		return __atomic_load_n(&s->key, __ATOMIC_RELAXED) == key ? rule
									 : 0;
	}
	return 0;
}

/* Keeps a rule in a slot that is free or of an older generation, else in the
 * last one that the address may have. */
static void keep(uint64_t pc, uint64_t key, uint64_t rule)
{
	uint32_t at = slot_of(pc);

	for (uint32_t i = 0; i < TRIES; i++) {
		struct slot *s = &slots[(at + i) % SLOTS];
		uint64_t old = __atomic_load_n(&s->key, __ATOMIC_RELAXED);

		if (old == 1 ||
		    (old && old >> 48 == key >> 48 && i < TRIES - 1))
			continue;
		if (!__atomic_compare_exchange_n(&s->key, &old, 1, 0,
						 __ATOMIC_ACQ_REL,
						 __ATOMIC_RELAXED))
			continue;
		__atomic_store_n(&s->rule, rule, __ATOMIC_RELEASE);
		__atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
		return;
	}
}

/* ---- the whole ----------------------------------------------------------- */

int rules_begin(void)
{
	struct rule r;

	if (space)
		return 1;
	if (!unw_open())
		return 0;
	space = unw.create_addr_space(&accessors, 0);
	if (!space)
		return 0;
	unw.set_caching_policy(space, UNW_CACHE_NONE);
	/* libunwind sets itself up, and whatever it calls is bound, now and not
	 * in a handler. */
	probe_run((uint64_t)&rules_begin, &r);
	return r.cfa != CFA_NONE;
}

/* Returns 0 if libunwind may not be entered, as a fork is under way. */
static int looking_begin(void)
{
	__atomic_fetch_add(&n_looking, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&n_holds, __ATOMIC_SEQ_CST))
		return 1;
	__atomic_fetch_sub(&n_looking, 1, __ATOMIC_SEQ_CST);
	return 0;
}

void rules_find(uint64_t pc, struct rule *out)
{
	uint64_t key = key_of(pc), packed = kept(pc, key);

	if (packed) {
		rule_unpack(packed, out);
		return;
	}
	*out = (struct rule){.cfa = CFA_NONE};
	if (!looking_begin())
		return;
	probe_run(pc, out);
	__atomic_fetch_sub(&n_looking, 1, __ATOMIC_SEQ_CST);
	packed = rule_pack(out);
	if (packed)
		keep(pc, key, packed);
}

void rules_forget(void)
{
	__atomic_fetch_add(&generation, 1, __ATOMIC_ACQ_REL);
}

/* Waits for handlers, which need microseconds. */
void rules_hold(void)
{
	__atomic_fetch_add(&n_holds, 1, __ATOMIC_SEQ_CST);
	while (__atomic_load_n(&n_looking, __ATOMIC_SEQ_CST))
		__builtin_ia32_pause();
}

void rules_release(int is_child)
{
	/* Another thread may just have seen that it may not begin. */
	if (is_child)
		__atomic_store_n(&n_looking, 0, __ATOMIC_SEQ_CST);
	if (is_child)
		__atomic_store_n(&n_holds, 0, __ATOMIC_SEQ_CST);
	else
		__atomic_fetch_sub(&n_holds, 1, __ATOMIC_SEQ_CST);
}
