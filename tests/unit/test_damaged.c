/* SPDX-License-Identifier: MIT
 *
 * Object files with bytes changed and ends cut off: any answer will do, but
 * there must be one.  The damage is the same at every run.
 */
#include "args/args.h"
#include "program_builder.h"

#include <setjmp.h>
#include <stddef.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <cmocka.h>

/* libelf itself loses some memory over damaged section headers. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libelf.so\n";
}

static const char source[] =
	"static inline __attribute__((always_inline)) int in(int n)\n"
	"{ return n + 1; }\n"
	"struct s { const char *a; enum { RED, BLUE } b; };\n"
	"int f(int n, struct s *p) { return in(n) + p->b; }\n"
	"struct s g(int n, struct s p, const char *q)\n"
	"{ p.a = q + in(f(n, &p)); return p; }\n";

struct image {
	uint8_t *bytes;
	size_t size;
};

static struct image image_read(const char *path)
{
	struct image image = {0};
	struct stat st;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	image.size = (size_t)st.st_size;
	image.bytes = malloc(image.size);
	assert_int_equal(fread(image.bytes, 1, image.size, f), image.size);
	fclose(f);
	return image;
}

static void image_write(const struct image *image, const char *path)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(image->bytes, 1, image->size, f), image->size);
	fclose(f);
}

/* Ask all that can be asked of the file mapped at page. */
static void ask_all(struct modules *m, uint64_t page)
{
	struct args *args = args_new();

	for (uint64_t pc = page; pc < page + 4096; pc += 7) {
		struct symbol symbol;
		struct code code;
		struct inline_call call = {0};

		if (modules_symbol(m, pc, &symbol))
			assert_non_null(memchr(symbol.symbol, 0, 4096));
		modules_code(m, pc, &code);
		if (modules_inline_call(m, pc, page + (pc & 255), &call))
			assert_true(call.n_scopes > 0);
		args_plan(args, m, pc + 1, code.function,
			  pc & 1 ? CST_ENTER : CST_EXIT);
	}
	args_free(args);
}

static void ask_damaged(const struct image *image)
{
	const char *path = builder_path("damaged");
	struct modules *m = modules_new();
	void *page;
	int fd;

	image_write(image, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 4096);
	close(fd);
	assert_true(page != MAP_FAILED);
	assert_int_equal(modules_refresh(m, (uint32_t)getpid(), NULL), 0);
	ask_all(m, (uint64_t)page);
	munmap(page, 4096);
	modules_free(m);
	unlink(path);
}

static struct image build(void)
{
	assert_true(builder_write("d.c", source));
	assert_true(builder_run("gcc -g -O1 -fPIC -shared -nostdlib -o %s %s",
				builder_path("d.so"), builder_path("d.c")));
	return image_read(builder_path("d.so"));
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 8;
}

static void changed_bytes_do_no_harm(void **state)
{
	struct image image = build();
	uint8_t *whole = malloc(image.size);
	uint32_t seed = 1;

	(void)state;
	memcpy(whole, image.bytes, image.size);
	for (int round = 0; round < 150; round++) {
		for (int i = 0; i < 1 + round / 5; i++)
			image.bytes[next_random(&seed) % image.size] =
				(uint8_t)next_random(&seed);
		/* All but a few have their magic: else nothing is read. */
		memcpy(image.bytes, whole, round % 16 ? 16 : 0);
		ask_damaged(&image);
		if (round % 10 == 9)
			memcpy(image.bytes, whole, image.size);
	}
	free(whole);
	free(image.bytes);
}

static void headers_with_wild_numbers_do_no_harm(void **state)
{
	static const uint8_t wild[] = {0, 1, 0x7f, 0x80, 0xff};
	struct image image = build();

	(void)state;
	for (size_t at = 16; at < 64 + 56 * 4; at++) {
		uint8_t kept = image.bytes[at];

		image.bytes[at] = wild[at % sizeof(wild)];
		ask_damaged(&image);
		image.bytes[at] = kept;
	}
	free(image.bytes);
}

static void cut_file_does_no_harm(void **state)
{
	struct image image = build();
	size_t whole = image.size;

	(void)state;
	for (image.size = 1; image.size < whole; image.size += whole / 40)
		ask_damaged(&image);
	image.size = whole;
	free(image.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changed_bytes_do_no_harm),
		cmocka_unit_test(headers_with_wild_numbers_do_no_harm),
		cmocka_unit_test(cut_file_does_no_harm),
	};

	return cmocka_run_group_tests(tests, builder_open, builder_close);
}
