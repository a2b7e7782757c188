/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Opens a file that the user wants to trace: refuses what cannot be traced,
 * finds its debug file, and reads from headers and symbols what the rest of
 * `cstrace check` needs.
 */
#include "check/check_file.h"
#include "base/text.h"
#include "elf/debugfile.h"
#include "elf/elffile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	const char *name, *symbol; /* what begins so */
} sanitizers[N_SANITIZERS] = {
	{"address", "__asan_init"},	  {"thread", "__tsan_init"},
	{"memory", "__msan_init"},	  {"leak", "__lsan_init"},
	{"undefined", "__ubsan_handle_"},
};

const char *check_sanitizer_name(int i)
{
	return sanitizers[i].name;
}

/* ---- what kind of file ------------------------------------------------- */

static const char *machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} known[] = {
		{EM_386, "32-bit x86"},
		{EM_AARCH64, "AArch64"},
		{EM_ARM, "32-bit ARM"},
		{EM_RISCV, "RISC-V"},
		{EM_PPC64, "64-bit PowerPC"},
		{EM_S390, "IBM Z"},
		{EM_MIPS, "MIPS"},
		{EM_X86_64, "x86-64 with 32-bit "
			    "pointers (x32)"},
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].machine == machine)
			return known[i].name;
	return "another processor";
}

/* The first bytes of a file that is not ELF. */
static const char *foreign_kind(const unsigned char *head, ssize_t n)
{
	static char script[160];
	int length = 2;

	if (n == 0)
		return "it is empty";
	if (n >= 8 &&
	    (!memcmp(head, "!<arch>\n", 8) || !memcmp(head, "!<thin>\n", 8)))
		return "it is an archive: check the program it is linked into, "
		       "or unpack it (ar x)";
	if (n >= 2 && !memcmp(head, "MZ", 2))
		return "it is a program for Windows";
	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return "it is not an ELF file";
	while (length < n && head[length] >= ' ' && head[length] < 127)
		length++;
	snprintf(script, sizeof(script),
		 "it is a script (%.*s): check the program that it starts",
		 length > 60 ? 60 : length, (const char *)head);
	return script;
}

static const char *refusal(const struct check_file *f)
{
	static char text[128];
	const GElf_Ehdr *h = &f->header;
	GElf_Shdr code;

	if (h->e_type == ET_CORE)
		return "it is a core file: check the program that left it";
	if (h->e_machine != EM_X86_64 || h->e_ident[EI_CLASS] != ELFCLASS64) {
		snprintf(text, sizeof(text),
			 "it is for %s, and cstrace knows 64-bit x86 only",
			 machine_name(h->e_machine));
		return text;
	}
	if (h->e_type != ET_REL && h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return "it is no program, library or object file";
	if (elf_file_section_named(f->elf, ".text", &code) &&
	    code.sh_type == SHT_NOBITS)
		return "it is separate debug information: check the file that "
		       "it was split from";
	return NULL;
}

/* NULL: go on. */
static const char *look_at_head(int fd)
{
	unsigned char head[128];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n >= 4 && !memcmp(head, ELFMAG, SELFMAG) ? NULL
							: foreign_kind(head, n);
}

/* ---- open -------------------------------------------------------------- */

static int find_debug(Dwfl_Module *m, void **user, const char *name,
		      Dwarf_Addr base, const char *path, const char *link,
		      GElf_Word crc, char **debug_path)
{
	char self[64], real[PATH_MAX];
	struct elf_file f, debug;
	int fd = -1;
	ssize_t n;

	(void)m, (void)name, (void)base, (void)link, (void)crc;
	if (!path || !elf_file_open(&f, elf_file_descriptor(path)))
		return -1;
	if (elf_file_open_debug(&f, path, *user, &debug)) {
		fd = fcntl(debug.fd, F_DUPFD_CLOEXEC, 0);
		snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
		n = readlink(self, real, sizeof(real) - 1);
		if (n > 0)
			*debug_path = strndup(real, (size_t)n);
		elf_file_close(&debug);
	}
	elf_file_close(&f);
	return fd;
}

/* Nothing is ever downloaded: libdwfl's own search may. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debug,
	.section_address = dwfl_offline_section_address,
};

/* NULL: libdwfl has taken it. */
static const char *lay_out(struct check_file *f, const char *absolute,
			   const char *debug_path)
{
	GElf_Addr bias = 0;
	void **user;
	const char *debug = NULL;

	f->dwfl = dwfl_begin(&callbacks);
	if (!f->dwfl)
		return "out of memory";
	f->module = dwfl_report_offline(f->dwfl, "", absolute, -1);
	dwfl_report_end(f->dwfl, NULL, NULL);
	if (f->module) {
		dwfl_module_info(f->module, &user, NULL, NULL, NULL, NULL, NULL,
				 NULL);
		*user = (void *)debug_path; /* for find_debug() */
	}
	f->elf = f->module ? dwfl_module_getelf(f->module, &bias) : NULL;
	if (!f->elf || !gelf_getehdr(f->elf, &f->header))
		return "it is damaged";
	f->bias = bias;
	zsections_unpack(&f->unpacked, f->elf);
	f->dwarf = dwfl_module_getdwarf(f->module, &f->dwarf_bias);
	f->n_symbols = dwfl_module_getsymtab(f->module);
	dwfl_module_info(f->module, NULL, NULL, NULL, NULL, NULL, NULL, &debug);
	if (debug)
		snprintf(f->debug_path, sizeof(f->debug_path), "%s", debug);
	return NULL;
}

/* ---- what it tells of itself ------------------------------------------- */

static int has_segment(const struct check_file *f, uint32_t type)
{
	GElf_Phdr header;
	size_t n = 0;

	if (elf_getphdrnum(f->elf, &n))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (gelf_getphdr(f->elf, (int)i, &header) &&
		    header.p_type == type)
			return 1;
	return 0;
}

static int has_pie_flag(const struct check_file *f)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_section(f->elf, SHT_DYNAMIC, &header);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Dyn dyn;

	for (int i = 0; data && gelf_getdyn(data, i, &dyn); i++)
		if (dyn.d_tag == DT_FLAGS_1)
			return !!(dyn.d_un.d_val & DF_1_PIE);
	return 0;
}

static void look_at_headers(struct check_file *f)
{
	int has_interpreter = has_segment(f, PT_INTERP);
	GElf_Shdr header;

	f->is_pie = f->header.e_type == ET_DYN &&
		    (has_interpreter || has_pie_flag(f));
	if (f->header.e_type == ET_REL)
		f->kind = FILE_OBJECT;
	else if (f->header.e_type == ET_DYN && !f->is_pie)
		f->kind = FILE_LIBRARY;
	f->is_dynamic = has_interpreter || f->kind == FILE_LIBRARY;
	f->is_stripped = !elf_file_section(f->elf, SHT_SYMTAB, &header) &&
			 !f->debug_path[0];
	if (f->kind != FILE_LIBRARY)
		return;
	/* libc.so.6 can be run as well. */
	f->is_pie = 0;
}

int check_file_symbol(const struct check_file *f, int i,
		      struct check_symbol *out)
{
	GElf_Addr addr;
	GElf_Word section;
	const char *name = dwfl_module_getsym_info(f->module, i, &out->elf,
						   &addr, &section, NULL, NULL);

	if (!name || !*name)
		return 0;
	snprintf(out->name, sizeof(out->name), "%.*s",
		 (int)(1 + strcspn(name + 1, "@")), name);
	out->addr = addr;
	out->is_defined = section != SHN_UNDEF;
	return 1;
}

static void look_at_symbol(struct check_file *f, const struct check_symbol *s)
{
	if (!strcmp(s->name, "__cyg_profile_func_enter")) {
		if (f->hooks <= HOOKS_OWN)
			f->hooks = s->is_defined ? HOOKS_OWN : HOOKS_IMPORTED;
	} else if (!strcmp(s->name, "cstrace_control") && s->is_defined) {
		f->hooks = HOOKS_ARCHIVE;
	} else if (!strcmp(s->name, "dlopen") || !strcmp(s->name, "dlmopen")) {
		f->loads_more |= !s->is_defined;
	}
	/* What gcc leaves in the object file is not the processor's code. */
	if (!strcmp(s->name, "__gnu_lto_slim"))
		f->is_lto = 1;
	for (int i = 0; i < N_SANITIZERS; i++)
		f->has_sanitizer[i] |=
			text_begins(s->name, sanitizers[i].symbol);
}

int check_file_open(struct check_file *f, const char *path,
		    const char *debug_path, const char **why)
{
	char absolute[PATH_MAX];
	GElf_Shdr note;
	int fd;

	*f = (struct check_file){.path = path};
	if (!realpath(path, absolute))
		return CST_FAILED;
	fd = elf_file_descriptor(absolute);
	if (fd < 0) {
		if (access(absolute, R_OK))
			return CST_FAILED;
		*why = "it is no regular file";
		return 0;
	}
	*why = look_at_head(fd);
	close(fd);
	if (!*why)
		*why = lay_out(f, absolute, debug_path);
	if (!*why)
		*why = refusal(f);
	if (*why)
		return 0;
	look_at_headers(f);
	f->has_words =
		elf_file_section_named(f->elf, ".note.cstrace", &note) != NULL;
	for (int i = 0; i < f->n_symbols; i++) {
		struct check_symbol s;

		if (check_file_symbol(f, i, &s))
			look_at_symbol(f, &s);
	}
	return 1;
}

void check_file_close(struct check_file *f)
{
	if (f->dwfl)
		dwfl_end(f->dwfl);
	f->dwfl = NULL;
	zsections_release(&f->unpacked);
}
