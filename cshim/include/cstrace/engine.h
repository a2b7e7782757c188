/* SPDX-License-Identifier: MIT
 *
 * libcstrace-engine.so: what gdb's Python (and the cstrace command) binds.
 *
 * Two objects.  A *recorder* owns an area and the thread that empties it; it
 * lives as long as the traced process.  A *trace* is what was recorded from
 * one start to one stop, kept packed in a file; it is written by a recorder,
 * or loaded.  Everything here returns 0 or more on success and a negative
 * enum cst_status on failure, with the story in *err.  Strings are UTF-8,
 * borrowed from the caller for the time of the call only.  Times are
 * nanoseconds unless the name says ticks (of the TSC).
 *
 * Threads: a trace and a recorder may be used from any one thread at a time
 * beside the recorder's own; callbacks come on the recorder's thread.
 */
#ifndef CSTRACE_ENGINE_H
#define CSTRACE_ENGINE_H

#include <stdint.h>

#define CST_API __attribute__((visibility("default")))

enum cst_status {
	CST_OK = 0,
	CST_FAILED = -1,    /* the system said no; the text says what */
	CST_MEMORY = -2,    /* out of memory */
	CST_BAD_INPUT = -3, /* the user's words: a regex, a format, a number */
	CST_BAD_FILE = -4,  /* damaged, or of another version */
	CST_INTERRUPTED = -5, /* cst_interrupt() was called */
	CST_EMPTY = -6,	      /* nothing was recorded */
	CST_EXISTS = -7, /* a file is there that is not cstrace's to replace */
};

struct cst_error {
	char text[512]; /* one line, lower case, no full stop */
};

struct cst_recorder;
struct cst_trace;

/* Call once after loading: makes exit() end gdb at once after flushing stdio
 * (gdb 13 crashes in its static destructors when posted events are left). */
CST_API void cst_install(void);

/* The release of the engine, "0.2.0"; a string that stays. */
CST_API const char *cst_version(void);

/* The number of this header's layout (tools/gen-abi --version).  A caller that
 * was made from another header must not call anything else. */
CST_API uint32_t cst_abi(void);

/* Make the long-running call under way in this process (write, report, save)
 * end with CST_INTERRUPTED.  Async-signal-safe. */
CST_API void cst_interrupt(void);

/* ---- the look and the choice ------------------------------------------ */

enum cst_timestamp {
	CST_TIME_OFF = 0,
	CST_TIME_ELAPSED = 1,
	CST_TIME_WALL = 2
};

enum cst_names { CST_NAMES_SIMPLE = 0, CST_NAMES_FULL = 1 };

/* How rows look. */
struct cst_look {
	uint8_t timestamp; /* enum cst_timestamp */
	uint8_t duration;  /* 0 or 1, as all below */
	uint8_t callsite;
	uint8_t color;
	uint8_t fold;	/* equal calls, loops and recursion as one row */
	uint8_t names;	/* enum cst_names */
	uint8_t id;	/* each call's ID */
	uint8_t thread; /* each call's thread, where there are several */
	uint8_t links;	/* places are links for the terminal (OSC 8) */
	uint8_t reserved[3];
	/* Columns that a row is cut to; 0: it is not cut; CST_WIDTH_TERMINAL,
	 * of live rows: as wide as their terminal is, if they go to one. */
	uint32_t width;
};

#define CST_WIDTH_TERMINAL UINT32_MAX

/* Which calls are shown.  NULL strings and zeros choose nothing.  A hidden
 * call leaves its visible callees under its nearest visible caller. */
struct cst_choice {
	const char *filter;  /* only these functions and what they call */
	const char *exclude; /* not these; their callees stay */
	uint64_t min_ns;     /* only calls of at least this duration */
	uint32_t depth; /* only this many levels of visible calls; 0: all */
	uint8_t std;	/* 1: show the C++ library's and system headers' */
	uint8_t names;	/* enum cst_names: of functions, where no look says */
	uint8_t reserved[2];
	uint32_t thread;  /* T of "T.N", or else the kernel's number; 0: all */
	uint32_t process; /* P of "P:T.N"; 0: all */
	uint64_t last;	  /* only the last so many visible calls; 0: all */
	const char *around; /* an ID: its callers, itself and its neighbours */
	const char *root;   /* an ID: only this call and what it calls */
	/* A function or an ID: only calls that begin with its first call or
	 * later; and none that begins after the first call of until that comes
	 * after that. */
	const char *from, *until;
	const char *file; /* only functions that are defined there: the end of a
			   * path, whole names of it */
	const char *module; /* only functions of the object file of this name */
	/* Only calls that begin within, as START has it, and the calls around
	 * the first of them; 0: from the beginning, to the end. */
	uint64_t range_from_ns, range_until_ns;
	const char *unfold; /* an ID: only what its folded row stands for */
	uint64_t at_ns;	    /* with has_at: the calls around this time */
	uint8_t has_at;
	uint8_t reserved2[7];
};

/* ---- recorder ---------------------------------------------------------- */

enum cst_question_kind { CST_ASK_FUNCTION = 1, CST_ASK_LINE = 2 };

/* An address that wants a name: a function's entry, or a call instruction
 * (already return address - 1). */
struct cst_question {
	uint64_t addr;
	uint32_t id;
	uint32_t kind; /* enum cst_question_kind */
};

struct cst_callbacks {
	/* Questions wait: post cst_recorder_questions() to gdb's thread. */
	void (*wanted)(void *arg);
	/* Live rows for a sink that is not a plain file descriptor; text is
	 * valid during the call only. */
	void (*text)(void *arg, const char *text, uint64_t size);
	/* One line for the user (the size limit was reached, ...). */
	void (*message)(void *arg, const char *text);
	void *arg;
	/* 1: what text() was given last still waits to be shown, so rows may
	 * be left out.  NULL: never. */
	int (*is_busy)(void *arg);
};

enum cst_sink { CST_SINK_NONE = 0, CST_SINK_FD = 1, CST_SINK_CALLBACK = 2 };

struct cst_recorder_options {
	/* Path of the trace file to make, which is there as calls come, a
	 * second later at most, whatever becomes of us; or "" */
	const char *spool;
	/* for one in this folder that goes with the trace: */
	const char *spool_dir;
	/* with a name, and locked, for as long as recorder or trace have it, so
	 * that we leave it if we are killed; NULL: without a name. */
	const char *spool_name;
	uint64_t limit_bytes;	/* of the trace file; 0: none */
	uint32_t pool_chunks;	/* chunks at the start; 0: the usual 96 MiB */
	uint32_t mode;		/* enum cst_mode of record.h */
	uint32_t wait_limit_ms; /* how long the program waits for a stopped
				 * reader; 0: the usual 10 s */
	const char *command; /* the traced command line, for the trace file */
	const char *module;  /* the program's file */
	/* Not 0: keep so much of the newest calls, in memory; written to spool
	 * at the end and by cst_recorder_save(). */
	uint64_t flight_bytes;
	/* Kept in the trace: what its filter, depth and min_ns say, the user
	 * wants to see of it.  NULL: all. */
	const struct cst_choice *choice;
	/* What is not kept at all, for room; 0: everything is.  Calls below so
	 * many levels on their stack; those that took less than that, with all
	 * that they called; functions of less code than so many bytes, which
	 * cost the program next to nothing then, as excluded ones do. */
	uint32_t keep_depth, keep_bytes;
	uint64_t keep_ns;
};

/* Make an area and start its reader thread (with all signals blocked); it
 * records into a first trace at once.  The recorder is the caller's: close it.
 * callbacks is copied. */
CST_API int cst_recorder_open(const struct cst_recorder_options *options,
			      const struct cst_callbacks *callbacks,
			      struct cst_recorder **out, struct cst_error *err);

/* What the shim opens: "/proc/PID/fd/N".  Borrowed from the recorder. */
CST_API const char *cst_recorder_area_path(const struct cst_recorder *r);

/* The traced process is pid (its /proc entries are used). Call again after
 * an object file was loaded or is about to go, so that addresses are looked
 * up in what is mapped now. is_gone: the process ended, do not look again. */
CST_API int cst_recorder_process(struct cst_recorder *r, uint32_t pid,
				 int is_gone, struct cst_error *err);

/* That process has become another program (exec): call cst_recorder_process()
 * again.  Its earlier calls keep their names. */
CST_API int cst_recorder_exec(struct cst_recorder *r, struct cst_error *err);

/* The code at [start, end) was unmapped: what comes there later is another
 * function with other names. */
CST_API void cst_recorder_unmapped(struct cst_recorder *r, uint64_t start,
				   uint64_t end);

/* The separate debug file that belongs to the module with this path. */
CST_API void cst_recorder_debug_file(struct cst_recorder *r, const char *module,
				     const char *debug_file);

/* What is recorded of the running trace: exclude mutes functions at their
 * source and is dropped for good; all else is a choice of what the live view
 * shows.  With is_live 0 nothing is shown.  CST_BAD_INPUT: a bad regex. */
CST_API int cst_recorder_live(struct cst_recorder *r, int is_live,
			      enum cst_sink sink, int fd,
			      const struct cst_look *look,
			      const struct cst_choice *choice,
			      struct cst_error *err);

/* What is kept from here on, as in cst_recorder_options; live rows take it up
 * with the next cst_recorder_live(). */
CST_API void cst_recorder_keep(struct cst_recorder *r, uint32_t depth,
			       uint32_t bytes, uint64_t ns);

/* When live rows were last written to their descriptor, by CLOCK_MONOTONIC; 0:
 * not yet. */
CST_API uint64_t cst_recorder_drawn_ns(const struct cst_recorder *r);

/* Take all that the program has written.  1: done.  0: names are wanted
 * first: answer all cst_recorder_questions(), then call again.  For gdb's
 * thread, at each stop. */
CST_API int cst_recorder_drain(struct cst_recorder *r);

/* Fill at most n questions that wait; returns how many. */
CST_API int cst_recorder_questions(struct cst_recorder *r,
				   struct cst_question *out, int n);

/* Answer one.  For CST_ASK_FUNCTION name is gdb's best name, used when the
 * object's own symbol table has none; file is where the function is defined,
 * line unused.  For CST_ASK_LINE file and line are of the call; name unused.
 * NULL and 0 where not known. */
CST_API void cst_recorder_answer(struct cst_recorder *r, uint32_t id,
				 const char *name, const char *file,
				 uint32_t line);

/* There is no gdb: the engine answers from the files' debug information
 * itself, and asks only where that is in a form that it cannot read. */
CST_API void cst_recorder_alone(struct cst_recorder *r);

/* Where the address of a question lies. */
struct cst_place {
	char path[4096]; /* of the object file, as the process names it */
	uint64_t addr;	 /* in the file's own addresses */
	int32_t fd;	 /* that very file, for the caller to close */
	uint32_t reserved;
};

/* 1: found; 0: not known. */
CST_API int cst_recorder_place(struct cst_recorder *r, uint32_t id,
			       struct cst_place *out);

/* The program stands at gdb's prompt from pause to resume: not counted. */
CST_API void cst_recorder_pause(struct cst_recorder *r);
CST_API void cst_recorder_resume(struct cst_recorder *r);
/* The program has ended just now: what comes after is none of its time, unless
 * it left processes, which are recorded on. */
CST_API void cst_recorder_over(struct cst_recorder *r);

/* One call that was open when the trace began. */
struct cst_seed {
	uint64_t callee; /* address of the function's entry */
	uint64_t caller; /* return address into its caller, or 0 */
	uint64_t pc;	 /* where it stands: inside the physical function */
	uint64_t cfa;	 /* canonical frame address */
};

/* Seed thread tid's tree, outermost first, before its first record. */
CST_API int cst_recorder_seed(struct cst_recorder *r, uint32_t tid,
			      const char *thread_name,
			      const struct cst_seed *seeds, int n,
			      struct cst_error *err);

/* Where the physical function that holds pc begins, by its file's symbols or,
 * without any, its call frame information; 0: not known. */
CST_API uint64_t cst_recorder_function(struct cst_recorder *r, uint64_t pc);

/* One event seen by a breakpoint on the program's own hooks, where there is
 * no shim: goes through the same pipeline.  kind as in record.h.  1: taken; 0:
 * names are wanted first, answer them and inject it again. */
CST_API int cst_recorder_inject(struct cst_recorder *r, uint32_t tid,
				uint32_t kind, uint64_t callee, uint64_t caller,
				uint64_t hook, uint64_t sp, uint64_t fp,
				struct cst_error *err);

/* One hit of the shim's cstrace_hook_enter/exit(callee, caller, number):
 * drains so that all up to it is out.  Returns as cst_recorder_drain(), and
 * 2 for a number that was seen before (a hit that gdb reported twice). */
CST_API int cst_recorder_hit(struct cst_recorder *r, uint64_t callee,
			     uint64_t caller, uint64_t number);

/* Step the thread tid, which the calling thread traces and has stopped, until
 * it is at pc with the stack pointer sp: what it is in has returned.  Other
 * signals wait meanwhile.  1: it stands there.  0: it came to a system call
 * that is none of the shim's or takes long, a breakpoint or a fault first, and
 * stands there. */
CST_API int cst_step_out(int tid, uint64_t pc, uint64_t sp);

/* End the trace under way: flush and seal its file.  The trace is the
 * caller's (free it) and can be read; the recorder stays, silent. */
CST_API int cst_recorder_end(struct cst_recorder *r, struct cst_trace **out,
			     struct cst_error *err);

/* Begin another trace in the same process (options' pool and mode count). */
CST_API int cst_recorder_begin(struct cst_recorder *r,
			       const struct cst_recorder_options *options,
			       struct cst_error *err);

/* The trace under way, readable up to now (flushes); borrowed, valid until
 * cst_recorder_end(). */
CST_API int cst_recorder_trace(struct cst_recorder *r, struct cst_trace **out,
			       struct cst_error *err);

/* Write the flight as it is now. */
CST_API int cst_recorder_save(struct cst_recorder *r, struct cst_error *err);

/* Ends the reader thread, then frees all (a trace under way as well). */
CST_API void cst_recorder_close(struct cst_recorder *r);

struct cst_status_report {
	uint64_t n_calls, n_open, n_unwound, n_seeds;
	uint64_t n_records;
	uint64_t n_lost_full, n_lost_sites, n_lost_threads, n_lost_holes;
	uint64_t n_lost_limit; /* calls not kept once limit_bytes was reached */
	uint64_t n_orphans;    /* exits without an entry (opened before) */
	uint64_t n_waits;      /* times the program waited for the reader */
	uint64_t area_bytes, spool_bytes;
	uint64_t duration_ns; /* of the trace, stops left out */
	/* Calls that the last save left out: its format has no room for calls
	 * so deep. */
	uint64_t n_too_deep;
	uint32_t n_threads, n_processes, n_functions, n_sites;
	uint32_t is_limit_reached;
	uint32_t n_running; /* processes that hold the area now */
	/* Libraries that dlmopen() opened without gdb and whose calls are
	 * missing: those of constructors, or all; libraries that may have any
	 * and went past the hooks, whose memory is sealed. */
	uint32_t n_past_begin, n_past_all, n_past_sealed;
	/* Programs that were run with an environment without the shim; the
	 * first one's path, or its end. */
	uint32_t n_past_exec;
	char past_exec[64];
	/* Processes whose recording ended before they did, by a sandbox of
	 * their own. */
	uint32_t n_ended;
	uint32_t reserved;
	uint64_t n_dropped; /* calls that keep_depth and keep_ns left out */
};

CST_API void cst_recorder_status(struct cst_recorder *r,
				 struct cst_status_report *out);

/* ---- trace ------------------------------------------------------------- */

CST_API int cst_trace_load(const char *path, struct cst_trace **out,
			   struct cst_error *err);
CST_API void cst_trace_free(struct cst_trace *t);
CST_API void cst_trace_status(const struct cst_trace *t,
			      struct cst_status_report *out);
/* Whether its writer came to its end: not so, if that was killed or is still
 * at it, or the file was cut. */
CST_API int cst_trace_is_whole(const struct cst_trace *t);
/* What the trace was recorded to show (filter, depth, min_ns), where choice
 * does not say; strings are borrowed from the trace. */
CST_API void cst_trace_choice(const struct cst_trace *t,
			      struct cst_choice *choice);
/* "./app 1 2", as recorded; borrowed. */
CST_API const char *cst_trace_command(const struct cst_trace *t);

/* The i-th function, from 0, in the order of their first calls; NULL: no more.
 * Borrowed. */
CST_API const char *cst_trace_function(const struct cst_trace *t, uint32_t i);

/* A thread of the trace; its strings are borrowed from the trace. */
struct cst_thread_info {
	uint32_t process, thread; /* P and T of its calls' IDs */
	uint32_t pid, tid;	  /* the kernel's */
	const char *name;
};

/* The i-th, from 0, in the order of their first calls.  1: there is one; 0: no
 * more. */
CST_API int cst_trace_thread(const struct cst_trace *t, uint32_t i,
			     struct cst_thread_info *out);

/* One call's place and function; strings are borrowed from the trace, NULL
 * where not known. */
struct cst_call {
	const char *function; /* full name */
	const char *name;     /* simple name */
	const char *symbol, *module;
	const char *file;      /* of the call, as compiled */
	uint64_t addr;	       /* the function's, in the process */
	uint32_t line;	       /* of the call; 0: not known */
	uint32_t is_exception; /* no call, but what one does at that line */
};

/* The call with this ID.  CST_BAD_INPUT: there is none. */
CST_API int cst_trace_call(const struct cst_trace *t, const char *id,
			   struct cst_call *out, struct cst_error *err);

/* An object file that the trace was made with; borrowed from the trace. */
struct cst_module {
	const char *path;
	const char *build_id; /* hexadecimal digits; "": it has none, or could
			       * not be read */
	uint64_t start, end;  /* where its code was mapped */
	uint64_t bias;	      /* what that is beyond the file's addresses */
	uint32_t space;	      /* address space: 1, and one for each exec */
	uint32_t reserved;
};

/* The i-th, from 0, in the order in which they were first used.  1: there is
 * one; 0: no more. */
CST_API int cst_trace_module(const struct cst_trace *t, uint32_t i,
			     struct cst_module *out);

/* One line that the user should see. */
typedef void (*cst_tell_fn)(void *arg, const char *text);

/* Look up again what the trace has no name, file or line of, because they were
 * not to be had where it was made: in files with the same build-id among the
 * places (files; folders that are laid out as gdb's debug-file-directory or
 * hold the files themselves), at the modules' own paths and in /usr/lib/debug.
 * tell: whose functions have no names all the same; may be NULL. */
CST_API void cst_trace_rename(struct cst_trace *t, const char *const *places,
			      int n_places, cst_tell_fn tell, void *arg);

/* The build-id of the object file at path, in the same digits; "": it has none.
 * 1: read; 0: it is no object file, or is not there. */
enum { CST_BUILD_ID_SIZE = 2 * 64 + 1 };
CST_API int cst_build_id(const char *path, char out[CST_BUILD_ID_SIZE]);

/* Which words the user has for options: "-all" or "--all". */
enum cst_words { CST_WORDS_GDB = 0, CST_WORDS_COMMAND = 1 };

/* What the last show, report or save of the trace left out, by what of its
 * choice: "filter ^sum: 15 of 17 calls; -all shows the others".  The last part
 * only if has_all: -all would show more.  Returns the length of the line, 0 if
 * nothing was left out; out holds size bytes and is always terminated. */
CST_API int cst_trace_note(const struct cst_trace *t,
			   const struct cst_choice *choice,
			   enum cst_words words, int has_all, char *out,
			   uint32_t size);

/* The same without numbers: "filter ^sum, depth 3"; "" for a choice of all. */
CST_API int cst_choice_text(const struct cst_choice *choice, char *out,
			    uint32_t size);

/* Is one of the trace's functions meant by this word (a name or a regex)?  If
 * not, 0, and near holds names that may have been meant: "order, orders", or
 * "". */
CST_API int cst_trace_has_function(const struct cst_trace *t, const char *word,
				   enum cst_names names, char *near,
				   uint32_t size);

/* The same of the functions of an object file, called or not.  Negative: it
 * tells of none, or the word is no regex either.  size is at least 1. */
CST_API int cst_file_has_function(const char *path, const char *word,
				  enum cst_names names, char *near,
				  uint32_t size);

/* Check a choice without using it (CST_BAD_INPUT: a bad regex or ID). */
CST_API int cst_choice_check(const struct cst_choice *choice,
			     struct cst_error *err);

/* Where text goes: called with blocks of whole lines; returns 0 to go on,
 * negative to end the writing with CST_INTERRUPTED. */
typedef int (*cst_write_fn)(void *arg, const char *text, uint64_t size);

/* The tree as text rows.  Returns the number of rows. */
CST_API int64_t cst_trace_show(struct cst_trace *t, const struct cst_look *look,
			       const struct cst_choice *choice,
			       cst_write_fn write, void *arg,
			       struct cst_error *err);

/* What an answer is written as.  JSON: one document; CSV: a line of column
 * names, then one for each row.  Times are whole nanoseconds in both. */
enum cst_output {
	CST_OUTPUT_TEXT = 0,
	CST_OUTPUT_JSON = 1,
	CST_OUTPUT_CSV = 2
};

enum cst_sort { CST_SORT_TOTAL, CST_SORT_SELF, CST_SORT_CALLS, CST_SORT_MAX };

enum cst_report_by {
	CST_BY_FUNCTION = 0,
	CST_BY_CALLSITE = 1,
	CST_BY_THREAD = 2
};

/* A row for each function, or for each place that one is called from, or (at
 * most one of the two) for each caller or callee of some functions; zeros and
 * NULL ask for nothing special. */
struct cst_report {
	uint32_t sort;	     /* enum cst_sort */
	uint32_t limit;	     /* only so many rows; 0: all */
	uint32_t by;	     /* enum cst_report_by */
	uint32_t output;     /* enum cst_output */
	const char *regex;   /* only rows of functions that match */
	const char *callers; /* who calls what matches, and those calls */
	const char *callees; /* what those that match call */
	/* Lists as "total,calls": what rows are sorted by, the largest first
	 * (NULL: what sort says), and which numbers they show (NULL: all).
	 * The names are calls, total, self, mean, min, max, share, and
	 * function, which only sorts; uftrace's call, avg, func are taken as
	 * well. */
	const char *sort_keys, *fields;
};

/* Check a report without making it (CST_BAD_INPUT: an unknown field, or what
 * does not go together). */
CST_API int cst_report_check(const struct cst_report *report,
			     struct cst_error *err);

/* The i-th thing that was not traced, in a clause; 0: there are not so many.
 */
CST_API int cst_status_untraced(const struct cst_status_report *s, uint32_t i,
				char *out, uint32_t size);

/* What the trace holds: command, calls, threads, losses, files.  output: enum
 * cst_output; as CSV it is a row for each of them. */
CST_API int cst_trace_info(const struct cst_trace *t, uint32_t output,
			   cst_write_fn write, void *arg,
			   struct cst_error *err);

CST_API int64_t cst_trace_report(struct cst_trace *t,
				 const struct cst_report *report,
				 const struct cst_choice *choice,
				 cst_write_fn write, void *arg,
				 struct cst_error *err);

/* One folded tree of all calls, a row for each path of functions; or, with a
 * function, its callers and its callees, merged over all places where it is
 * called.  Zeros and NULL ask for nothing special. */
struct cst_graph {
	uint32_t sort;	/* enum cst_sort but CST_SORT_MAX: order of siblings */
	uint32_t limit; /* only so many rows, those with most time; 0: all */
	uint32_t depth; /* only so many levels; 0: all */
	uint32_t min_share_ppm; /* only rows with so many millionths of the
				 * time */
	uint32_t output;	/* enum cst_output */
	uint32_t reserved;
	const char *function; /* a regex */
};

/* Returns the number of calls in the tree, 0: there were none. */
CST_API int64_t cst_trace_graph(struct cst_trace *t,
				const struct cst_graph *graph,
				const struct cst_choice *choice,
				cst_write_fn write, void *arg,
				struct cst_error *err);

/* Whether path can be saved to without destroying what is not cstrace's: 0 if
 * nothing is there, or an empty file or one that cstrace wrote; CST_EXISTS
 * otherwise.  format: the name of the new file's, or NULL for path's ending. */
CST_API int cst_may_replace(const char *path, const char *format,
			    struct cst_error *err);

/* Whether the user should know how large the trace would be in this format
 * (or that of path's ending): 1, and *out says it, if that is a gigabyte or
 * more, or that a page would not have all calls one by one.  0 also for a
 * choice whose part of the calls is not known before. */
CST_API int cst_trace_announce(const struct cst_trace *t, const char *path,
			       const char *format,
			       const struct cst_choice *choice, char *out,
			       uint32_t size);

/* Whether the rows of a saved tree would be of several threads without anything
 * that tells these apart: such a tree is no golden one. */
CST_API int cst_trace_mixes_threads(const struct cst_trace *t, const char *path,
				    const char *format,
				    const struct cst_look *look,
				    const struct cst_choice *choice);

/* Save under path (a new file renamed into place) in the format of this name
 * ("txt", "jsonl", "cst", ...), or of path's ending where format is NULL.  last
 * and around of the choice count for rows and JSON lines only.  Returns the
 * number of calls written. */
CST_API int64_t cst_trace_save(struct cst_trace *t, const char *path,
			       const char *format, const struct cst_look *look,
			       const struct cst_choice *choice,
			       struct cst_error *err);

enum { CST_DIFFERS_IN_FLOW = 1, CST_DIFFERS_IN_TIME = 2 };

/* With counts alone, their order and their threads make no difference. */
enum cst_diff_by { CST_DIFF_BY_FLOW = 0, CST_DIFF_BY_COUNTS = 1 };

/* The order of the rows in both tables, the largest first.  "calls" and "total"
 * are the changes of the called function's number of calls and total time;
 * "change" and "percent" are the changes that the table shows. */
enum cst_diff_sort {
	CST_DIFF_SORT_NONE = 0, /* added calls, missing ones, other changes */
	CST_DIFF_SORT_CALLS,
	CST_DIFF_SORT_TOTAL,
	CST_DIFF_SORT_CHANGE,
	CST_DIFF_SORT_PERCENT, /* what A has not comes first */
	CST_DIFF_SORT_NAME,    /* from A to Z */
};

struct cst_diff {
	uint32_t by;	 /* enum cst_diff_by */
	uint32_t limit;	 /* only so many rows of each table; 0: all */
	int32_t percent; /* also functions whose total changed by more than so
			  * many percent; negative: times are not looked at */
	uint32_t output; /* enum cst_output */
	uint32_t sort;	 /* enum cst_diff_sort */
	uint32_t shows_percent; /* text has changes of calls in percent */
};

/* Compare two traces of one program: where the flows part, and which calls are
 * made more or less often.  Returns the sum of how they differ. */
CST_API int64_t cst_trace_diff(struct cst_trace *a, struct cst_trace *b,
			       const struct cst_diff *diff,
			       const struct cst_choice *choice,
			       cst_write_fn write, void *arg,
			       struct cst_error *err);

/* The same without a file: where text goes. */
CST_API int64_t cst_trace_write(struct cst_trace *t, const char *format,
				const struct cst_look *look,
				const struct cst_choice *choice,
				cst_write_fn write, void *arg,
				struct cst_error *err);

/* Does the trace make the calls of the golden tree in that file?  0: yes; 1:
 * no, what was written tells the first that differs.  output: enum cst_output;
 * as text nothing is written if it does.  CST_BAD_INPUT: the file is no golden
 * tree, its line is named. */
CST_API int64_t cst_trace_expect(struct cst_trace *t, const char *path,
				 uint32_t output,
				 const struct cst_choice *choice,
				 cst_write_fn write, void *arg,
				 struct cst_error *err);

/* Write a golden tree that the trace matches: into a file, or where path is
 * NULL to write.  What the choice leaves out is told in the tree, and left out
 * again by cst_trace_expect().  A file that is there is replaced if it is a
 * golden tree of this program or if is_forced is not 0; else: CST_EXISTS. */
CST_API int cst_trace_golden(struct cst_trace *t, const char *path,
			     uint32_t is_forced,
			     const struct cst_choice *choice,
			     cst_write_fn write, void *arg,
			     struct cst_error *err);

/* The formats' names, space separated; static. */
CST_API const char *cst_formats(void);

/* The demangled form of a linkage name ("_ZN1B3fooEv" -> "B::foo()"), or the
 * name itself, copied into out (size bytes with its NUL, cut if need be). */
CST_API void cst_demangle(const char *symbol, char *out, uint64_t size);

#endif
