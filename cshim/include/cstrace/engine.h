/* SPDX-License-Identifier: MIT
 *
 * The public interface of libcstrace-engine.so, which gdb's Python and the
 * cstrace command use.
 *
 * There are two objects.  A recorder owns an area (layout.h) and the reader
 * thread that empties it; it lives as long as the traced process.  A trace
 * holds the calls from one start to one stop, packed in a file; a recorder
 * makes it, or cst_trace_load() reads it.
 *
 * The order of calls, for a recording:
 *
 *	cst_install()                   once, after the library is loaded
 *	cst_recorder_open()             makes the area, begins the first trace
 *	cst_recorder_area_path()        the path that the shim is given
 *	cst_recorder_process()          again whenever object files come or go
 *	cst_recorder_drain()            at each stop; while it returns 0, answer
 *	                                all cst_recorder_questions()
 *	cst_recorder_end()              the trace, which the caller now owns
 *	cst_recorder_begin()            another trace of this process, if wanted
 *	cst_recorder_close()            when the process has ended
 *
 * and for a trace: cst_trace_load() or cst_recorder_end(); any of
 * cst_trace_show(), _report(), _graph(), _save() and so on; cst_trace_free().
 *
 * Failures: a function that returns an int or int64_t returns 0 or more on
 * success and a negative enum cst_status on failure.  If it has a parameter err
 * that is not NULL, one line that says why is then in *err.  A result behind a
 * pointer (out) is set on success only.
 *
 * Ownership: strings are UTF-8.  The caller owns those that it passes, and the
 * engine copies what it keeps, unless the comment says that it borrows.
 * Strings that the engine returns stay valid as long as their trace or
 * recorder.
 *
 * Units: times are nanoseconds unless the name says ticks (of the TSC); sizes
 * are bytes.
 *
 * Threads and locks: one thread at a time may use a trace, and one a recorder.
 * The recorder has a lock of its own against its reader thread; each function
 * that takes a recorder may wait until the reader has finished a round.
 * Callbacks run on the reader thread or, for rows that a drain makes, on the
 * thread that drains; text() runs while the lock is locked.  They must return
 * quickly and must not call a function that takes the recorder.
 * cst_trace_save(), _show(), _report(), _graph(), _diff(), _expect() and
 * cst_trace_load() take as long as the trace is large; cst_interrupt() ends
 * them.
 */
#ifndef CSTRACE_ENGINE_H
#define CSTRACE_ENGINE_H

#include <stdint.h>

#define CST_API __attribute__((visibility("default")))

enum cst_status {
	CST_OK = 0,
	CST_FAILED = -1,    /* the system refused; the text says what */
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

/* Makes exit() end this process right after it has flushed stdio; call it once,
 * after the library is loaded.  Without it gdb 13 crashes in its static
 * destructors if posted events are left. */
CST_API void cst_install(void);

/* Returns the release of the engine, "0.2.0"; the string is static. */
CST_API const char *cst_version(void);

/* Returns the number of this header's layout (tools/gen-abi --version).  A
 * caller that was made from another header must not call any other function. */
CST_API uint32_t cst_abi(void);

/* Makes the long call that is under way in this process (show, report, save)
 * end with CST_INTERRUPTED.  Async-signal-safe; any thread may call it. */
CST_API void cst_interrupt(void);

/* Returns how many percent of *n_calls the call of cst_trace_report(), _graph()
 * or _calls() that is under way in this process has gone through; -1: there is
 * none.  Any thread may call it. */
CST_API int cst_progress(uint64_t *n_calls);

/* ---- the look and the choice ------------------------------------------ */

enum cst_timestamp {
	CST_TIME_OFF = 0,
	CST_TIME_ELAPSED = 1,
	CST_TIME_WALL = 2
};

enum cst_names { CST_NAMES_SIMPLE = 0, CST_NAMES_FULL = 1 };

/* The colours that a call's row can have, by the numbers of terminals. */
enum cst_color {
	CST_COLOR_NONE = 0,
	CST_COLOR_RED,
	CST_COLOR_GREEN,
	CST_COLOR_YELLOW,
	CST_COLOR_BLUE,
	CST_COLOR_MAGENTA,
	CST_COLOR_CYAN,
};

/* How rows look; a flag is 0 or 1. */
struct cst_look {
	uint8_t timestamp; /* enum cst_timestamp */
	uint8_t duration;
	uint8_t callsite;
	uint8_t color;
	uint8_t fold;	/* equal calls, loops and recursion as one row */
	uint8_t names;	/* enum cst_names */
	uint8_t id;	/* each call's ID */
	uint8_t thread; /* each call's thread, where there are several */
	uint8_t links;	/* places are links for the terminal (OSC 8) */
	uint8_t reserved[3];
	/* The number of columns that a row is cut to; 0: rows are not cut.
	 * CST_WIDTH_TERMINAL cuts live rows to the width of their terminal. */
	uint32_t width;
};

#define CST_WIDTH_TERMINAL UINT32_MAX

/* Which calls are shown: those that meet all conditions.  A NULL string or a
 * zero is no condition.  The visible callees of a hidden call are shown below
 * its nearest visible caller.  Strings are borrowed during the call that the
 * choice is passed to. */
struct cst_choice {
	const char *filter;  /* only these functions and what they call */
	const char *exclude; /* hides these functions; their callees stay */
	uint64_t min_ns;     /* only calls of at least this duration */
	uint32_t depth;	  /* only this many levels of visible calls; 0: all */
	uint8_t std;	  /* 1: also functions of the C++ library and headers */
	uint8_t names;	  /* enum cst_names, where there is no look */
	uint8_t samples;  /* 1: the samples, also where there are calls */
	uint8_t words;	  /* enum cst_words: whose options messages name */
	uint32_t thread;  /* T of "T.N", or else the kernel's number; 0: all */
	uint32_t process; /* P of "P:T.N"; 0: all */
	uint64_t last;	  /* only the last so many visible calls; 0: all */
	const char *around; /* an ID: its callers, itself and its neighbours */
	const char *root;   /* an ID: only this call and what it calls */
	/* Each is a function or an ID.  Only calls that begin with the first
	 * call of `from` or later, and no later than the first call of `until`
	 * that follows it. */
	const char *from, *until;
	const char *file; /* only functions defined in this file: the last part
			   * or parts of a path */
	const char *module; /* only functions of the object file of this name */
	/* Only calls that begin in this range of the START column, and the
	 * callers of the first of them; 0: the beginning, or the end. */
	uint64_t range_from_ns, range_until_ns;
	const char
		*unfold; /* an ID: only the calls that its folded row joins */
	uint64_t at_ns;	 /* if has_at is 1: the calls around this time */
	uint8_t has_at;
	uint8_t reserved2[7];
	const char *where; /* only calls whose values meet this condition:
			    * `parse.base == 16 && result < 0` */
};

/* ---- recorder ---------------------------------------------------------- */

enum cst_question_kind { CST_ASK_FUNCTION = 1, CST_ASK_LINE = 2 };

/* A question to gdb: an address whose name the engine cannot find by itself.
 * It is a function's entry, or is in a call instruction (return address - 1).
 */
struct cst_question {
	uint64_t addr;
	uint32_t id;
	uint32_t kind; /* enum cst_question_kind */
};

/* Functions of the caller that the reader thread calls, with arg. */
struct cst_callbacks {
	/* There are questions: the caller has another thread call
	 * cst_recorder_questions(). */
	void (*wanted)(void *arg);
	/* Live rows for CST_SINK_CALLBACK: size bytes at text, which is not
	 * terminated and valid during the call only. */
	void (*text)(void *arg, const char *text, uint64_t size);
	/* One line for the user: the size limit was reached, for example. */
	void (*message)(void *arg, const char *text);
	void *arg;
	/* Not 0 while the last text is not shown yet: the reader thread then
	 * calls neither text() nor wanted(), and may leave rows out.  Its owner
	 * may be waiting for a front end meanwhile, with locks that these
	 * functions need.  The word is borrowed; NULL stands for a 0. */
	const uint32_t *busy;
};

enum cst_sink { CST_SINK_NONE = 0, CST_SINK_FD = 1, CST_SINK_CALLBACK = 2 };

/* What a recorder is opened with; zeros and NULL stand for the usual. */
struct cst_recorder_options {
	/* The path of the trace file to make.  The file holds each call at the
	 * latest a second after it was made, and remains after a crash.  "":
	 * a temporary file in spool_dir, which is removed with the trace. */
	const char *spool;
	const char *spool_dir;
	/* The name of the temporary file.  The recorder holds a lock on it;
	 * after a crash the file remains, and the free lock marks it as
	 * orphaned.  NULL: the file has no name. */
	const char *spool_name;
	uint64_t limit_bytes;	/* of the trace file; 0: none */
	uint32_t pool_chunks;	/* chunks at the start; 0: 96 MiB */
	uint32_t mode;		/* enum cst_mode of control.h */
	uint32_t wait_limit_ms; /* how long the program waits for a reader that
				 * is stopped; 0: 10 s */
	const char *command; /* the traced command line, for the trace file */
	const char *module;  /* the path of the program's file */
	/* Flight recorder, if not 0: the newest calls that fit in so many bytes
	 * stay in memory; cst_recorder_save(), cst_recorder_trace() and the end
	 * write them to `spool`, or to a file without a name in spool_dir. */
	uint64_t flight_bytes;
	/* The choice that the trace file proposes to its readers (filter,
	 * depth, min_ns); all calls are recorded nevertheless.  NULL: none. */
	const struct cst_choice *choice;
	/* Calls that are not recorded at all; 0: no such limit.  keep_depth:
	 * calls more than so many levels deep on their stack.  keep_ns: calls
	 * shorter than that, with all that they called.  keep_bytes: functions
	 * of less code than that; their hooks cost next to nothing. */
	uint32_t keep_depth, keep_bytes;
	uint64_t keep_ns;
	/* 1: the traced process is reached through a debugger only, and may be
	 * on another machine: see cst_recorder_fetch(). */
	uint32_t is_elsewhere;
};

/* Makes an area, starts its reader thread (with all signals blocked) and begins
 * the first trace.  The caller owns *out: cst_recorder_close().  options and
 * callbacks are copied. */
CST_API int cst_recorder_open(const struct cst_recorder_options *options,
			      const struct cst_callbacks *callbacks,
			      struct cst_recorder **out, struct cst_error *err);

/* Returns the path by which the shim opens the area, "/proc/PID/fd/N". */
CST_API const char *cst_recorder_area_path(const struct cst_recorder *r);

/* Writes the path by which the shim in that process opens the area into out,
 * which has room for size bytes: cst_recorder_area_path(), but for another
 * user's process "@NAME", an abstract socket by which the recorder hands it
 * over to that one. */
CST_API int cst_recorder_area_path_for(struct cst_recorder *r, uint32_t pid,
				       char *out, uint64_t size,
				       struct cst_error *err);

/* The memory of the traced process, as the caller reaches it. */
struct cst_memory {
	/* Copies n bytes at addr to data or, if is_write is 1, data there.
	 * Returns 0, or -1: that is not possible. */
	int (*copy)(void *arg, uint64_t addr, void *data, uint64_t n,
		    int is_write);
	void *arg;
};

/* For a recorder that is_elsewhere: takes what the process has written into the
 * flight recorder that its shim has mapped at that address.  The process stands
 * still.  cst_recorder_drain() comes next, and then this again with area 0: it
 * gives the process what the recorder has found out of the places that call
 * hooks. */
CST_API int cst_recorder_fetch(struct cst_recorder *r, uint64_t area,
			       const struct cst_memory *memory,
			       struct cst_error *err);

/* Sets the traced process; the engine reads its object files from
 * /proc/PID/maps. Call it again after an object file was loaded and before one
 * is unloaded, so that addresses are looked up in what is mapped now. has_ended
 * is 1 if the process has ended: its maps are not read again. */
CST_API int cst_recorder_process(struct cst_recorder *r, uint32_t pid,
				 int has_ended, struct cst_error *err);

/* The process runs another program now (exec): addresses have other names from
 * here on.  Call cst_recorder_process() next. */
CST_API int cst_recorder_exec(struct cst_recorder *r, struct cst_error *err);

/* The code in [start, end) was unmapped: code that is mapped there later gets
 * names of its own. */
CST_API void cst_recorder_unmapped(struct cst_recorder *r, uint64_t start,
				   uint64_t end);

/* Sets the path of the separate debug file of the object file `module`. */
CST_API void cst_recorder_debug_file(struct cst_recorder *r, const char *module,
				     const char *debug_file);

/* Says that the file at path may be a copy of one that the process has mapped
 * and that is not on this machine: that is so if they have one build-id. */
CST_API void cst_recorder_copy(struct cst_recorder *r, const char *path);

/* Sets the live view, from the next record on.  choice->exclude is obeyed by
 * the program's hooks: these calls are not recorded.  All else in choice only
 * says which rows are shown.  With is_live 0 no rows are.  Rows go to fd, or to
 * the callback text(), as sink says.  CST_BAD_INPUT: a bad regex. */
CST_API int cst_recorder_live(struct cst_recorder *r, int is_live,
			      enum cst_sink sink, int fd,
			      const struct cst_look *look,
			      const struct cst_choice *choice,
			      struct cst_error *err);

/* Makes the whole pool, if no rows are drawn.  Without that it is made beside
 * the program, as it starts. */
CST_API void cst_recorder_fill(struct cst_recorder *r);

/* Changes the limits of cst_recorder_options (keep_depth, keep_bytes, keep_ns)
 * for calls that are entered from here on.  Live rows obey them after the next
 * cst_recorder_live(). */
CST_API void cst_recorder_keep(struct cst_recorder *r, uint32_t depth,
			       uint32_t bytes, uint64_t ns);

/* Sets whether an exception is asked for its text where that is code of the
 * program (an overridden what()); it is at first. */
CST_API void cst_recorder_what(struct cst_recorder *r, int is_asked);

/* Which values of calls are recorded.  Members and text_bytes are for functions
 * that are called for the first time; the others go on as they are. */
struct cst_values {
	uint32_t args, results; /* 1: they are */
	uint32_t members;	/* 1: members of *this are, too */
	uint32_t text_bytes;	/* of a text, at most; 0: the usual 32 */
	const char *functions;	/* a regex: of these only; NULL: of all */
	/* The folder with the plans by which the program is patched, so that
	 * its first calls need not wait; NULL: there is none. */
	const char *plans;
};

enum { CST_TEXT_BYTES_MAX = 200 };

/* Sets that from now on; at first no values are recorded.  CST_BAD_INPUT: a bad
 * regex, or text_bytes of more than CST_TEXT_BYTES_MAX. */
CST_API int cst_recorder_values(struct cst_recorder *r,
				const struct cst_values *v,
				struct cst_error *err);

/* The process is patched, and stands still: finds out what is copied in it, so
 * that its first call need not wait for that. */
CST_API void cst_recorder_patched(struct cst_recorder *r);

/* Returns the time (CLOCK_MONOTONIC) at which live rows were last written to
 * their descriptor, 0 if none were. */
CST_API uint64_t cst_recorder_drawn_ns(const struct cst_recorder *r);

/* Turns all that the program has written into calls and rows; for gdb's thread,
 * at each stop.  1: done.  0: there are questions: answer all
 * cst_recorder_questions(), then call this again. */
CST_API int cst_recorder_drain(struct cst_recorder *r);

/* Writes up to n open questions to out; returns their number. */
CST_API int cst_recorder_questions(struct cst_recorder *r,
				   struct cst_question *out, int n);

/* Answers the question with this id.  CST_ASK_FUNCTION: name is gdb's name of
 * the function, used if the object's own symbol table has none; file is where
 * the function is defined; line is not used.  CST_ASK_LINE: file and line are
 * those of the call; name is not used.  NULL and 0 stand for "not known". */
CST_API void cst_recorder_answer(struct cst_recorder *r, uint32_t id,
				 const char *name, const char *file,
				 uint32_t line);

/* There is no gdb: the engine answers questions itself from the debug
 * information of the object files, and asks only where it cannot read their
 * form. */
CST_API void cst_recorder_alone(struct cst_recorder *r);

/* The place of a question's address in an object file. */
struct cst_place {
	char path[4096]; /* of the object file, as the process names it */
	uint64_t addr;	 /* in the file's own addresses */
	int32_t fd;	 /* the file, open; the caller closes it */
	uint32_t reserved;
};

/* Sets *out for the question with this id.  1: done; 0: it is not known. */
CST_API int cst_recorder_place(struct cst_recorder *r, uint32_t id,
			       struct cst_place *out);

/* The program stands at gdb's prompt from pause to resume: that time is left
 * out of the trace. */
CST_API void cst_recorder_pause(struct cst_recorder *r);
CST_API void cst_recorder_resume(struct cst_recorder *r);
/* The program has just exited: the trace's time ends here, unless processes
 * that it made go on. */
CST_API void cst_recorder_exited(struct cst_recorder *r);

enum { CST_SAMPLE_MAX_HZ = 20000 };

/* Prepares for samples of the program, which libcstrace-sample.so takes in it
 * so many times a second, for for_ns (0: until its end); clock and source are
 * of samples.h (enum cst_sample_clock and cst_sample_source;
 * CST_SAMPLE_UNKNOWN: the best there is).  Later calls change what the next
 * start in the program does.
 */
CST_API int cst_recorder_sample(struct cst_recorder *r, uint32_t hz,
				uint32_t clock, uint32_t source,
				uint64_t for_ns, struct cst_error *err);
/* Ends it: the program sees to that at what would be its next sample. */
CST_API void cst_recorder_sample_end(struct cst_recorder *r);
/* Returns the path by which that library opens the memory for samples, or "".
 */
CST_API const char *cst_recorder_samples_path(const struct cst_recorder *r);
/* Returns how many processes have begun to take samples. */
CST_API uint32_t cst_recorder_sampled(const struct cst_recorder *r);

/* A call that was open when the trace began. */
struct cst_seed {
	uint64_t callee; /* address of the function's entry */
	uint64_t caller; /* return address into its caller, or 0 */
	uint64_t pc;	 /* the program counter of its frame */
	uint64_t cfa;	 /* canonical frame address */
	/* 1: of a function that is patched, so that its end may be estimated */
	uint64_t is_patched;
};

/* Begins the tree of thread tid with n open calls, outermost first; before the
 * thread's first record is drained. */
CST_API int cst_recorder_seed(struct cst_recorder *r, uint32_t tid,
			      const char *thread_name,
			      const struct cst_seed *seeds, int n,
			      struct cst_error *err);

/* Returns the address at which the function that contains pc begins, from
 * symbols or, if there are none, call frame information; 0: not known.  A
 * function that was inlined counts as the one that it was inlined into. */
CST_API uint64_t cst_recorder_function(struct cst_recorder *r, uint64_t pc);

/* Adds one event that a breakpoint on the program's own hooks has seen, in a
 * program without the shim.  kind is an enum cst_kind of layout.h.  1: added.
 * 0: there are questions: answer them and inject the event again. */
CST_API int cst_recorder_inject(struct cst_recorder *r, uint32_t tid,
				uint32_t kind, uint64_t callee, uint64_t caller,
				uint64_t hook, uint64_t sp, uint64_t fp,
				struct cst_error *err);

/* Adds a message at the place where thread tid of process pid (0: the process
 * of cst_recorder_process()) stands: for logpoints, while gdb has stopped it.
 * What the program wrote before is consumed first.  Its row begins with the
 * word: "log", "zoom" or "backtrace".  Messages of one word and template are
 * one function; text is what it became, file (or NULL) and line where it is.
 * 1: added.  0: there are questions: answer them, then call this again.
 * Negative: an error. */
CST_API int cst_recorder_message(struct cst_recorder *r, uint32_t pid,
				 uint32_t tid, const char *file, uint32_t line,
				 const char *word, const char *template_text,
				 const char *text, struct cst_error *err);

/* Gives the innermost open call of thread tid of process pid (as for
 * cst_recorder_message()) or, if has_ended is 1, the call that it has left
 * last, a colour: its row in the trace under way, live and later, has it where
 * rows have colours.  1: done.  0: there are questions: answer them, then call
 * this again. */
CST_API int cst_recorder_mark(struct cst_recorder *r, uint32_t pid,
			      uint32_t tid, int has_ended, enum cst_color color,
			      struct cst_error *err);

/* What a part of a logpoint's template stands for. */
enum cst_point_field {
	CST_POINT_TEXT = 0,
	CST_POINT_VALUE = 1,  /* an argument, or a field of one */
	CST_POINT_CALLER = 2, /* the calling function's simple name */
	CST_POINT_DEPTH = 3,  /* how many calls are open */
	CST_POINT_THREAD = 4, /* the thread's tag, t2 */
};

struct cst_point_part {
	const char *text; /* the text, or the value's name, "at.x"; or NULL */
	uint32_t field;	  /* enum cst_point_field */
	/* A value's format, by print's letters: 'd', 'u', 'x', 'o' for an
	 * integer of `size` bytes, 's' for a text without its quotes; 0: as
	 * rows have it. */
	uint8_t format;
	uint8_t size;
	uint16_t reserved;
};

/* A function that it is at, by its linkage name, and where its body begins. */
struct cst_point_place {
	const char *function;
	const char *file; /* or NULL */
	uint32_t line;
	uint32_t reserved;
};

/* A logpoint at the entry of functions, which asks only for what is recorded of
 * a call.  All is copied. */
struct cst_point {
	const char *template_text;
	const char *condition; /* as in docs/howto/values.md; NULL: none */
	const struct cst_point_part *parts;
	const struct cst_point_place *places;
	uint32_t n_parts, n_places;
};

/* Sets logpoint `number`, in the place of the one of that number; p NULL: it is
 * no more.  From here on the reader writes its text into the tree, without a
 * stop, at each call of its functions that is taken.  CST_BAD_INPUT: a bad
 * condition. */
CST_API int cst_recorder_point(struct cst_recorder *r, uint32_t number,
			       const struct cst_point *p,
			       struct cst_error *err);

struct cst_point_counts {
	uint64_t n_passes; /* calls of its functions */
	uint64_t n_hits;   /* those that met its condition */
	uint64_t cost_ns;  /* of the reader's time, for all of them */
};

/* Sets *out to what logpoint `number` has done so far; to 0 where there is
 * none. */
CST_API void cst_recorder_point_counts(struct cst_recorder *r, uint32_t number,
				       struct cst_point_counts *out);

/* Returns how many calls of the thread are open in the trace on the stack that
 * it runs on, spans included; -1: not known, or there are questions to be
 * answered first.  Consumes what the program wrote before. */
CST_API int cst_recorder_depth(struct cst_recorder *r, uint32_t pid,
			       uint32_t tid);

/* Handles one hit of a breakpoint on cstrace_hook_enter/exit(callee, caller,
 * number): drains what was written up to it.  Returns what cst_recorder_drain()
 * does, or 2 for a number that came before (gdb reported one hit twice). */
CST_API int cst_recorder_hit(struct cst_recorder *r, uint64_t callee,
			     uint64_t caller, uint64_t number);

/* Steps thread tid, which the calling thread traces (ptrace) and has stopped,
 * until the function it is in has returned: until it is at pc with the stack
 * pointer sp; 0: any.  With pc 0 by one instruction.  Other signals stay
 * pending.  1: it is there.  0: it stopped earlier, at a breakpoint, a fault,
 * or a system call that is not the shim's; -1: in one that waits. */
CST_API int cst_step_out(int tid, uint64_t pc, uint64_t sp);

struct cst_registers {
	uint64_t pc, sp, bp, ax, flags;
	uint64_t arguments[4]; /* rdi, rsi, rdx, rcx */
};

/* What such a thread has in some registers now, whatever gdb knows.  1: there
 * it is. */
CST_API int cst_thread_registers(int tid, struct cst_registers *out);

/* Gives such a thread, which is in no system call, these of its pc, sp, ax and
 * flags.  1: it has them. */
CST_API int cst_thread_set(int tid, const struct cst_registers *wanted);

/* Lets such a thread go on at `to`, if it is at `from` now and not in a system
 * call.  1: it does. */
CST_API int cst_thread_move(int tid, uint64_t from, uint64_t to);

/* Has a breakpoint instruction stopped such a thread since this was asked last?
 * 1: it has. */
CST_API int cst_thread_hit_breakpoint(int tid);

/* All its registers but the vectors', in the order of <sys/user.h>'s struct
 * user_regs_struct. */
enum { CST_N_REGISTERS = 27 };

/* Reads those of such a thread, whatever gdb knows.  1: there they are. */
CST_API int cst_thread_take(int tid, uint64_t all[CST_N_REGISTERS]);

/* Gives such a thread these, which were read at this stop, of it where it was
 * in a system call.  1: it has them. */
CST_API int cst_thread_give(int tid, const uint64_t all[CST_N_REGISTERS]);

/* Sends such a thread a signal, with which it stops before it executes
 * anything, even if it blocks that.  *mask: what it blocked.  1: it was sent.
 */
CST_API int cst_thread_signal(int tid, int number, uint64_t *mask);

/* Behind that stop: it blocks the like again, and has these of its registers.
 * Where it was to step, the kernel may have taken what was at its pc for a
 * popf, and left it the trap flag: that goes.  1: so it is. */
CST_API int cst_thread_signalled(int tid, uint64_t mask,
				 const struct cst_registers *wanted);

/* Ends the trace under way and completes its file.  The caller owns *out
 * (cst_trace_free()) and can read it.  The recorder stays, and records nothing
 * until cst_recorder_begin(). */
CST_API int cst_recorder_end(struct cst_recorder *r, struct cst_trace **out,
			     struct cst_error *err);

/* Begins another trace of this process; of options, pool_chunks and mode count
 * as in cst_recorder_open(). */
CST_API int cst_recorder_begin(struct cst_recorder *r,
			       const struct cst_recorder_options *options,
			       struct cst_error *err);

/* Flushes the trace under way and sets *out to what it holds up to now.  The
 * recorder keeps it: it is valid until the next call of this function or until
 * cst_recorder_end(). */
CST_API int cst_recorder_trace(struct cst_recorder *r, struct cst_trace **out,
			       struct cst_error *err);

/* Writes the flight recorder's calls to its file, as they are now. */
CST_API int cst_recorder_save(struct cst_recorder *r, struct cst_error *err);

/* Ends the reader thread and frees r, with a trace that is under way.  r may be
 * NULL. */
CST_API void cst_recorder_close(struct cst_recorder *r);

/* What a trace lacks, and why: zeros if it lacks nothing. */
struct cst_losses {
	/* Lost records: the reader was too slow or had ended; the table of
	 * sites was full, or that of threads; a thread was killed in the hook.
	 */
	uint64_t n_full, n_sites, n_threads, n_holes;
	uint64_t n_dropped; /* calls that keep_depth and keep_ns left out */
	uint64_t n_limit;   /* calls not kept once limit_bytes was reached */
	uint64_t n_samples; /* samples without room */
	uint32_t is_limit_reached;
	/* Libraries that dlmopen() opened without gdb, so that calls are
	 * missing: those of their constructors, or all; and libraries whose
	 * calls may be missing because their memory is sealed. */
	uint32_t n_past_begin, n_past_all, n_past_sealed;
	/* Processes whose recording ended before they did, because they entered
	 * a sandbox. */
	uint32_t n_ended;
	/* Programs that were run with an environment without the shim, and the
	 * path of the first one (its end, if it is longer). */
	uint32_t n_past_exec;
	char past_exec[64];
};

/* Counters of a trace, or of a recorder and its trace under way. */
struct cst_status_report {
	uint64_t n_calls, n_open, n_unwound, n_seeds;
	uint64_t n_records;
	struct cst_losses losses;
	uint64_t n_orphans; /* exits of calls that began before the trace */
	uint64_t n_waits;   /* times the program waited for the reader */
	uint64_t area_bytes, spool_bytes;
	uint64_t duration_ns; /* of the trace, stops left out */
	/* Calls that the last save left out because its format cannot hold
	 * calls of their depth. */
	uint64_t n_too_deep;
	uint32_t n_threads, n_processes, n_functions, n_sites;
	uint32_t n_running; /* processes that hold the area now */
	/* How the program is sampled: so many times a second, of a clock (enum
	 * cst_sample_clock), by whom (enum cst_sample_source, both in
	 * samples.h). */
	uint32_t sample_hz, sample_clock, sample_source;
	uint64_t n_samples; /* each counts as often as it stands for others */
	/* Rows that are no calls: spans, messages, exceptions. */
	uint64_t n_other;
	/* Older calls that a flight recorder has forgotten. */
	uint64_t n_forgotten;
};

/* Sets *out to the counters of the trace under way. */
CST_API void cst_recorder_status(struct cst_recorder *r,
				 struct cst_status_report *out);

/* ---- a flight recorder without a reader ---------------------------------- */

/* The memory of a program that keeps its newest calls in it (CSTRACE_FLIGHT),
 * and whose hooks copy values, though nobody reads them before there is a core
 * file. */
struct cst_flight_offer;

/* Makes one for so many bytes of records.  It is there until the caller ends,
 * or frees *out. */
CST_API int cst_flight_offer(uint64_t bytes, struct cst_flight_offer **out,
			     struct cst_error *err);
/* Returns what the program's CSTRACE_AHEAD has to be. */
CST_API const char *cst_flight_offer_path(const struct cst_flight_offer *f);
/* Waits for a program's first call, as long as the process with this pid lives,
 * and puts what its hooks copy into the memory.  Returns 1 if that was done. */
CST_API int cst_flight_offer_answer(struct cst_flight_offer *f, uint32_t pid);
CST_API void cst_flight_offer_free(struct cst_flight_offer *f);

/* ---- trace ------------------------------------------------------------- */

/* Reads a trace file, an area that was left in a file, or the core file of a
 * program that ran with CSTRACE_FLIGHT, into *out, which the
 * caller frees with cst_trace_free().  CST_BAD_FILE: it is neither, or it is
 * damaged before the first call. */
CST_API int cst_trace_load(const char *path, struct cst_trace **out,
			   struct cst_error *err);
CST_API void cst_trace_free(struct cst_trace *t);
CST_API void cst_trace_status(const struct cst_trace *t,
			      struct cst_status_report *out);
/* Returns how many records were lost, of all causes. */
CST_API uint64_t cst_losses_records(const struct cst_losses *l);

/* Writes to out, in a few words ("3 records lost (no room)"), the i-th cause,
 * from 0, for which records, calls or samples are missing. Returns 1; 0 if
 * there are no more. */
CST_API int cst_losses_text(const struct cst_losses *l, uint32_t i, char *out,
			    uint32_t size);

/* Writes to out a clause that says what was not traced, the i-th of them, from
 * 0. Returns 1; 0 if there are no more. */
CST_API int cst_losses_untraced(const struct cst_losses *l, uint32_t i,
				char *out, uint32_t size);

/* Returns 1 if the trace is complete; 0 if its recorder was killed or has not
 * ended yet, or the file was cut short. */
CST_API int cst_trace_is_complete(const struct cst_trace *t);
/* Fills in filter, depth and min_ns as the trace was recorded with, where
 * *choice has none.  The strings belong to the trace. */
CST_API void cst_trace_choice(const struct cst_trace *t,
			      struct cst_choice *choice);
/* Returns the command line, "./app 1 2". */
CST_API const char *cst_trace_command(const struct cst_trace *t);

/* Returns the name of the i-th function, from 0, in the order of their first
 * calls; NULL: there are no more. */
CST_API const char *cst_trace_function(const struct cst_trace *t, uint32_t i);

/* Sets *simple to the name that rows have of the i-th function, and returns the
 * names of its values, with commas between: arguments and their fields, then
 * "result".  NULL: there are no more, or there is no memory.  The caller frees
 * what is returned; *simple belongs to the trace. */
CST_API char *cst_trace_value_names(const struct cst_trace *t, uint32_t i,
				    const char **simple);

/* Takes size bytes of text, which are complete lines; text is valid during the
 * call only and not terminated.  Returns 0 to go on; a negative number ends the
 * writing with CST_INTERRUPTED. */
typedef int (*cst_write_fn)(void *arg, const char *text, uint64_t size);

/* A thread of a trace; its strings belong to the trace. */
struct cst_thread_info {
	uint32_t process, thread; /* P and T of its calls' IDs */
	uint32_t pid, tid;	  /* the kernel's */
	const char *name;
};

/* Sets *out to the i-th thread, from 0, in the order of their first calls.  1:
 * done; 0: there are no more. */
CST_API int cst_trace_thread(const struct cst_trace *t, uint32_t i,
			     struct cst_thread_info *out);

/* One call's place and function.  The strings belong to the trace; NULL where
 * they are not known. */
struct cst_call {
	const char *function; /* full name */
	const char *name;     /* simple name */
	const char *symbol, *module;
	const char *file;      /* of the call, as compiled */
	uint64_t addr;	       /* the function's, in the process */
	uint32_t line;	       /* of the call; 0: not known */
	uint32_t is_exception; /* no call, but what one does at that line */
};

/* Sets *out to the call with this ID, "1.42".  CST_BAD_INPUT: there is none. */
CST_API int cst_trace_call(const struct cst_trace *t, const char *id,
			   struct cst_call *out, struct cst_error *err);

/* How another run of the program comes to a call again.  The strings belong to
 * the trace. */
struct cst_way {
	uint64_t nth;	      /* it is the nth recorded call of its function in
			       * its thread, from 1 */
	uint64_t nth_call;    /* and the nth call of all there, with those that
			       * keep_depth and keep_ns left out */
	uint64_t addr;	      /* the function's, in the process */
	uint64_t file_addr;   /* and in its object file */
	const char *module;   /* path of that; NULL: not known */
	const char *build_id; /* as in struct cst_module; NULL */
	const char *name;     /* simple name */
	uint32_t process, thread; /* P and T of its ID */
	uint32_t kind; /* 0: a function; else an exception, a span, ... */
	uint32_t reserved;
};

/* Sets *out to the way to the call with this ID.  write, which may be NULL,
 * gets the full names of the functions that are open there, the outermost first
 * and the call's own last, a line each.  CST_BAD_INPUT: there is no such call,
 * or it was open before the trace. */
CST_API int cst_trace_way(const struct cst_trace *t, const char *id,
			  struct cst_way *out, cst_write_fn write, void *arg,
			  struct cst_error *err);

/* Returns how many calls, and rows beside them, the trace has of a thread; or a
 * negative status. */
CST_API int64_t cst_trace_newest(const struct cst_trace *t, uint32_t process,
				 uint32_t thread, struct cst_error *err);

/* Where a thread's calls differ first from those in another trace; "": it has
 * ended there. */
struct cst_parting {
	uint64_t n_equal; /* calls before it */
	char id_a[64], id_b[64];
	const char *name_a, *name_b; /* simple names, of their traces; NULL */
};

/* Compares thread T of process P in two traces.  Returns 1 with *out if their
 * calls differ, or if one has fewer; 0 if they do not, or one lacks the thread;
 * or a negative status. */
CST_API int cst_trace_parting(const struct cst_trace *a,
			      const struct cst_trace *b, uint32_t process,
			      uint32_t thread, struct cst_parting *out,
			      struct cst_error *err);

/* The source files of a call: full paths where they are on this machine, else
 * as compiled. "": not known. */
struct cst_source {
	char call_file[4096];
	char own_file[4096]; /* of the called function */
	uint32_t call_line;
	uint32_t own_line; /* where the function begins */
};

/* Finds the source of the call with this ID with the help of the object files'
 * debug information, which is looked for as cst_trace_rename() does.  Returns 0
 * or a negative status, CST_BAD_INPUT: there is no such call. */
CST_API int cst_trace_source(const struct cst_trace *t, const char *id,
			     const char *const *places, int n_places,
			     struct cst_source *out, struct cst_error *err);

/* An object file of the traced program; its strings belong to the trace. */
struct cst_module {
	const char *path;
	const char *build_id; /* hexadecimal digits; "": none, or not read */
	uint64_t start, end;  /* where its code was mapped */
	uint64_t bias;	      /* address in the process - address in the file */
	uint32_t space;	      /* address space: 1, and one for each exec */
	uint32_t reserved;
};

/* Sets *out to the i-th object file, from 0, in the order of their first use.
 * 1: done; 0: there are no more. */
CST_API int cst_trace_module(const struct cst_trace *t, uint32_t i,
			     struct cst_module *out);

/* Takes one line that the user should see. */
typedef void (*cst_tell_fn)(void *arg, const char *text);

/* Looks up names, files and lines that the trace lacks because they were not
 * available where it was made.  Reads files with the same build-id: among the
 * n_places paths (files; folders with such files, or laid out like gdb's
 * debug-file-directory), at the object files' own paths, and in /usr/lib/debug.
 * tell gets a line for each object file whose functions still have no names; it
 * may be NULL. */
CST_API void cst_trace_rename(struct cst_trace *t, const char *const *places,
			      int n_places, cst_tell_fn tell, void *arg);

/* Writes the build-id of the object file at path to out, in hexadecimal digits;
 * "": it has none.  1: done; 0: there is no object file. */
enum { CST_BUILD_ID_SIZE = 2 * 64 + 1 };
CST_API int cst_build_id(const char *path, char out[CST_BUILD_ID_SIZE]);

/* How the user writes options: "-all" in gdb, "--all" for the command. */
enum cst_words { CST_WORDS_GDB = 0, CST_WORDS_COMMAND = 1 };

/* Returns how many calls of the C++ library or of system headers the last
 * answer left out for being that and nothing else, as far as it looked. */
CST_API uint64_t cst_trace_hidden_std(const struct cst_trace *t);

/* Writes to out what the last show, report or save of the trace left out, and
 * by which condition: "filter ^sum: 15 of 17 calls; -all shows the others".
 * has_all is 1 if -all would show more; the last part is for that case only.
 * Returns the length of the line, 0 if nothing was left out.  out has room for
 * size bytes and is always terminated. */
CST_API int cst_trace_note(const struct cst_trace *t,
			   const struct cst_choice *choice,
			   enum cst_words words, int has_all, char *out,
			   uint32_t size);

/* Writes the conditions of a choice to out, "filter ^sum, depth 3"; "" if there
 * are none.  Returns the length. */
CST_API int cst_choice_text(const struct cst_choice *choice, char *out,
			    uint32_t size);

/* Returns 1 if this word (a name or a regex) stands for a function of the
 * trace. Otherwise it returns 0, and near, which has room for size bytes, holds
 * similar names: "order, orders", or "". */
CST_API int cst_trace_has_function(const struct cst_trace *t, const char *word,
				   enum cst_names names, char *near,
				   uint32_t size);

/* Returns 1 if each name in this condition on values is one that a function of
 * the trace has.  Otherwise it returns 0, and wrong, which has room for size
 * bytes, says which is not: "no function has a value 'bas': did you mean
 * base?". */
CST_API int cst_trace_has_values(const struct cst_trace *t, const char *where,
				 char *wrong, uint32_t size);

/* cst_trace_has_file() returns 1 if a function of the trace is defined in this
 * source file, cst_trace_has_module() if one is of this program or library.
 * Otherwise they return 0, and near as cst_trace_has_function().  size is at
 * least 1. */
CST_API int cst_trace_has_file(const struct cst_trace *t, const char *word,
			       char *near, uint32_t size);
CST_API int cst_trace_has_module(const struct cst_trace *t, const char *word,
				 char *near, uint32_t size);

/* Returns in how many places the compiler inlined the functions of an object
 * file that the word names, and so why there are no calls of them; 0 also where
 * the file has hooks, which are inlined with them, no debug information, or
 * another build-id than build_id (NULL: any will do).  It reads all of the
 * debug information. */
CST_API uint32_t cst_file_inlined(const char *path, const char *build_id,
				  const char *word, enum cst_names names);
/* Returns how many functions of an object file without hooks have no code but
 * where they were inlined, those of system headers left out; 0 also where that
 * is not known.  debug_file: its separate debug file, or NULL. */
CST_API uint32_t cst_file_inlined_away(const char *path,
				       const char *debug_file);
/* Answers as cst_file_inlined() does, for the first file of the trace that has
 * any, but for libraries
 * in the system's folders. */
CST_API uint32_t cst_trace_inlined(const struct cst_trace *t, const char *word,
				   enum cst_names names);

/* Answers as cst_trace_has_function() does, for all functions of an object
 * file, called or not.  Negative: it tells of none, or the word is no regex
 * either.  size is at least 1. */
CST_API int cst_file_has_function(const char *path, const char *word,
				  enum cst_names names, char *near,
				  uint32_t size);

/* Sets the first n of out to the addresses (in the file) at which functions of
 * an object file begin that this word stands for, called or not; the word may
 * be as rows name one without a symbol, "app+0x1139".  Returns how many there
 * are; 0 if the file does not tell.  CST_BAD_INPUT: a bad regex. */
CST_API int cst_file_functions(const char *path, const char *word,
			       enum cst_names names, uint64_t *out, uint32_t n,
			       struct cst_error *err);

/* Likewise for what has the names of functions by which others call it, or it
 * calls others: the forms of a function that has one for each kind of
 * processor, and the linker's stubs.  Calls at the border are reported there.
 */
CST_API int cst_file_called(const char *path, const char *word,
			    enum cst_names names, uint64_t *out, uint32_t n,
			    struct cst_error *err);

/* What the object files of a program say of the values of its calls. */
struct cst_tester;

/* Opens the files that process pid has mapped now or, if pid is 0, the one at
 * path, at its own addresses. */
CST_API int cst_tester_open(uint32_t pid, const char *path,
			    struct cst_tester **out, struct cst_error *err);
CST_API void cst_tester_close(struct cst_tester *t);

/* A place where a hook is called. */
struct cst_test_hook {
	uint64_t callee; /* the function's address */
	/* Where the hook returns to, or CST_PATCHED_ENTRY and the like of a
	 * function that is patched; 0: the function's own hook of its entry, or
	 * any one of its exits. */
	uint64_t hook;
	uint32_t is_exit;
	uint32_t reserved;
};

/* Makes of a condition on values (docs/howto/values.md) what the program can
 * decide at a hook, and sets the first of out (n, at most CST_TESTS_EACH) to
 * it.  Returns how many.  CST_BAD_INPUT: the condition, or why the program
 * cannot decide it there.  hook NULL: only the condition is checked. */
struct cst_test;
CST_API int cst_tester_make(struct cst_tester *t, const char *condition,
			    const struct cst_test_hook *hook,
			    struct cst_test *out, uint32_t n,
			    struct cst_error *err);

/* What sort of thing an argument is. */
enum cst_test_type {
	CST_TEST_OF_INTEGER = 0,
	CST_TEST_OF_BOOL = 1,
	CST_TEST_OF_CHAR = 2,
	CST_TEST_OF_FLOAT = 3,
	CST_TEST_OF_ENUM = 4,
	CST_TEST_OF_POINTER = 5,
	CST_TEST_OF_TEXT = 6,
	CST_TEST_OF_OTHER = 7, /* a struct, a vector */
};

struct cst_test_value {
	uint32_t type; /* enum cst_test_type */
	uint32_t size; /* in bytes */
	uint32_t is_signed;
	uint32_t reserved;
};

/* Looks at the argument (or field of one: "at.x") of that name, as it is copied
 * at an entry's hook.  CST_BAD_INPUT: why it is not copied there. */
CST_API int cst_tester_value(struct cst_tester *t, const char *name,
			     const struct cst_test_hook *hook,
			     struct cst_test_value *out, struct cst_error *err);

/* Checks a choice without using it.  CST_BAD_INPUT: a bad regex or ID. */
CST_API int cst_choice_check(const struct cst_choice *choice,
			     struct cst_error *err);

/* Writes the tree as text rows.  Returns the number of rows. */
CST_API int64_t cst_trace_show(struct cst_trace *t, const struct cst_look *look,
			       const struct cst_choice *choice,
			       cst_write_fn write, void *arg,
			       struct cst_error *err);

/* The form of an answer.  JSON is one document; CSV has a line of column names,
 * then a line for each row.  Times are nanoseconds in both, as integers. */
enum cst_output {
	CST_OUTPUT_TEXT = 0,
	CST_OUTPUT_JSON = 1,
	CST_OUTPUT_CSV = 2
};

enum cst_sort { CST_SORT_TOTAL, CST_SORT_SELF, CST_SORT_CALLS };

enum cst_report_by {
	CST_BY_FUNCTION = 0,
	CST_BY_CALLSITE = 1,
	CST_BY_THREAD = 2
};

/* What a report has rows for: each function, each call site or each thread
 * (by); or the callers, or the callees, of some functions.  Zeros and NULL
 * stand for the usual. */
struct cst_report {
	uint32_t limit;	      /* only so many rows; 0: all */
	uint32_t by;	      /* enum cst_report_by */
	uint32_t output;      /* enum cst_output */
	uint32_t no_messages; /* no rows of messages and counters */
	const char *regex;    /* only rows of functions that match */
	const char *callers;  /* rows: the callers of functions that match */
	const char *callees;  /* rows: the callees of functions that match */
	/* Lists as "total,calls": what rows are sorted by, the largest first
	 * (NULL: their total), and which numbers they show (NULL: all).
	 * The names are calls, total, self, mean, min, max, share, size (of the
	 * code; not shown with NULL), and function, which only sorts; uftrace's
	 * call, avg, func are taken as well. */
	const char *sort, *fields;
};

/* Checks a report without making it.  CST_BAD_INPUT: an unknown field, or
 * options that exclude each other. */
CST_API int cst_report_check(const struct cst_report *report,
			     struct cst_error *err);

/* Writes what the trace holds: command, calls, threads, losses, object files.
 * output is an enum cst_output; CSV has a row for each of them. */
CST_API int cst_trace_info(const struct cst_trace *t, uint32_t output,
			   cst_write_fn write, void *arg,
			   struct cst_error *err);

/* Writes a report.  Returns the number of rows. */
CST_API int64_t cst_trace_report(struct cst_trace *t,
				 const struct cst_report *report,
				 const struct cst_choice *choice,
				 cst_write_fn write, void *arg,
				 struct cst_error *err);

/* Writes where each thread was when its last sample of the choice's range was
 * taken: its stack, the outermost function first; or with is_line in one line,
 * the innermost first.  Returns the number of threads. */
CST_API int64_t cst_trace_stacks(struct cst_trace *t,
				 const struct cst_choice *choice, int is_line,
				 cst_write_fn write, void *arg,
				 struct cst_error *err);

/* A call graph: one folded tree of all calls, with a row for each path of
 * functions; or, with a function, its callers and its callees, merged over all
 * places where it is called.  Zeros and NULL stand for the usual. */
struct cst_graph {
	uint32_t sort;	/* enum cst_sort: order of siblings */
	uint32_t limit; /* only so many rows, those with most time; 0: all */
	uint32_t depth; /* only so many levels; 0: all */
	uint32_t min_share_ppm; /* only rows with so many millionths of the
				 * time */
	uint32_t output;	/* enum cst_output */
	uint32_t reserved;
	const char *function; /* a regex */
};

/* Writes a call graph.  Returns the number of calls in it. */
CST_API int64_t cst_trace_graph(struct cst_trace *t,
				const struct cst_graph *graph,
				const struct cst_choice *choice,
				cst_write_fn write, void *arg,
				struct cst_error *err);

/* A call that is open in a stopped thread; its strings belong to the
 * recorder. */
struct cst_open_call {
	uint64_t cfa;	      /* of its frame, or 0 where that is not known */
	uint64_t age_ns;      /* since it began, or since the trace did */
	uint64_t addr;	      /* of the function, in the process */
	const char *function; /* full name */
	const char *name;     /* simple name */
	char id[56];	      /* "1.42" */
};

/* Writes the open calls of the thread with that kernel number to out, the
 * innermost first, as far as there is room for n.  Call cst_recorder_drain()
 * before.  Returns how many are open. */
CST_API int cst_recorder_stack(struct cst_recorder *r, uint32_t tid,
			       struct cst_open_call *out, uint32_t n,
			       struct cst_error *err);

/* Returns whether a function that the word means (a name or a regex) is open in
 * that thread: 1 or 0. */
CST_API int cst_recorder_is_in(struct cst_recorder *r, uint32_t tid,
			       const char *word, enum cst_names names,
			       struct cst_error *err);

/* Returns how often the functions that the word means were called in the trace
 * under way, in all threads.  The first call of this function reads the whole
 * trace, others only what is new. */
CST_API int64_t cst_recorder_count(struct cst_recorder *r, const char *word,
				   enum cst_names names, struct cst_error *err);

/* Writes them as rows, those that the choice shows, the outermost first, with
 * their age as duration.  Sets *thread; its name is NULL if the thread has made
 * no calls.  Returns the number of rows. */
CST_API int cst_recorder_here(struct cst_recorder *r, uint32_t tid,
			      const struct cst_look *look,
			      const struct cst_choice *choice,
			      cst_write_fn write, void *arg,
			      struct cst_thread_info *thread,
			      struct cst_error *err);

enum cst_calls_sort {
	CST_CALLS_BY_TIME = 0, /* the first call comes first */
	CST_CALLS_BY_DURATION, /* the longest call comes first */
	CST_CALLS_BY_ID,
	CST_CALLS_BY_CALLER, /* by its name, then by the line */
	CST_CALLS_BY_THREAD, /* and by time within a thread */
};

/* A list of the calls of some functions, with a row for each call.  Zeros and
 * NULL stand for the usual. */
struct cst_calls {
	uint32_t sort;	      /* enum cst_calls_sort */
	uint32_t limit;	      /* only so many rows, the first ones; 0: all */
	uint32_t output;      /* enum cst_output */
	uint32_t is_ended;    /* 1: only calls that have ended */
	const char *function; /* a name or a regex; NULL: all functions */
	/* A function or an ID: only calls that are made beneath one of its
	 * calls.  It takes the place of the choice's filter or root. */
	const char *under;
};

/* Writes a list of calls; choice->last means the last ones of them, and look is
 * for text.  Returns the number of rows. */
CST_API int64_t cst_trace_calls(struct cst_trace *t,
				const struct cst_calls *calls,
				const struct cst_look *look,
				const struct cst_choice *choice,
				cst_write_fn write, void *arg,
				struct cst_error *err);

/* Checks that a save to path destroys nothing that is not cstrace's.  0: there
 * is nothing, an empty file, or what cstrace wrote.  CST_EXISTS: there is
 * something else.  format is the name of the new file's format, or NULL for
 * that of path's ending. */
CST_API int cst_may_replace(const char *path, const char *format,
			    struct cst_error *err);

/* Writes to out what the user should know before a save in this format (NULL:
 * that of path's ending).  1: the file would have a gigabyte or more, or the
 * page would not have all calls one by one; out, of size bytes, says so. 0:
 * neither, or it is not known before the calls are counted. */
CST_API int cst_trace_announce(const struct cst_trace *t, const char *path,
			       const char *format,
			       const struct cst_choice *choice, char *out,
			       uint32_t size);

/* Returns 1 if the rows of a tree that is saved so would be of several threads
 * and have nothing that names the thread: such a tree cannot be a golden one.
 */
CST_API int cst_trace_mixes_threads(const struct cst_trace *t, const char *path,
				    const char *format,
				    const struct cst_look *look,
				    const struct cst_choice *choice);

/* Saves the trace under path, in the format of this name ("txt", "jsonl", "cst"
 * and so on); NULL: the format of path's ending.  The file is written under
 * another name and renamed when it is complete.  choice->last and ->around are
 * used for rows and JSON lines only.  Returns the number of calls written. */
CST_API int64_t cst_trace_save(struct cst_trace *t, const char *path,
			       const char *format, const struct cst_look *look,
			       const struct cst_choice *choice,
			       struct cst_error *err);

/* Writes the trace in this format to write(), without a file.  Returns the
 * number of calls written. */
CST_API int64_t cst_trace_write(struct cst_trace *t, const char *format,
				const struct cst_look *look,
				const struct cst_choice *choice,
				cst_write_fn write, void *arg,
				struct cst_error *err);

enum { CST_DIFFERS_IN_FLOW = 1, CST_DIFFERS_IN_TIME = 2 };

/* CST_DIFF_BY_COUNTS: the order of the calls and their threads make no
 * difference. */
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

/* Compares two traces of one program and writes where their flows diverge, and
 * which calls are made more or less often.  Returns CST_DIFFERS_IN_FLOW |
 * CST_DIFFERS_IN_TIME; 0: they do not differ. */
CST_API int64_t cst_trace_diff(struct cst_trace *a, struct cst_trace *b,
			       const struct cst_diff *diff,
			       const struct cst_choice *choice,
			       cst_write_fn write, void *arg,
			       struct cst_error *err);

/* Compares the trace with the golden tree in the file at path.  0: it matches;
 * as text nothing is written then.  1: it does not, and what is written says
 * where they first differ.  output is an enum cst_output.  CST_BAD_INPUT: the
 * file is no golden tree; the message names the line. */
CST_API int64_t cst_trace_expect(struct cst_trace *t, const char *path,
				 uint32_t output,
				 const struct cst_choice *choice,
				 cst_write_fn write, void *arg,
				 struct cst_error *err);

/* Writes a golden tree that the trace matches, to the file at path or, if path
 * is NULL, to write().  The tree names the conditions of the choice, and
 * cst_trace_expect() obeys them.  CST_EXISTS: there is a file that is no golden
 * tree of this program; is_forced 1 replaces it. */
CST_API int cst_trace_golden(struct cst_trace *t, const char *path,
			     uint32_t is_forced,
			     const struct cst_choice *choice,
			     cst_write_fn write, void *arg,
			     struct cst_error *err);

/* Returns the names of all formats, with spaces between; the string is static.
 */
CST_API const char *cst_formats(void);

/* What a plan comes to: functions of the file that are patched, their ends that
 * are patched and that are missed, and functions that are left out by why
 * (cst_plan_reason()). */
enum { CST_PLANNED_REASONS = 16, CST_PLANNED_ID = 44 };
struct cst_planned {
	uint32_t n_patches, n_functions, n_exits, n_missed;
	uint32_t n_declined[16];
	uint32_t is_border;
	uint32_t n_inlined; /* functions that have no code of their own */
	/* Functions that the wish leaves out as they have no line information,
	 * while others of the file do. */
	uint32_t n_lineless;
	uint32_t n_stubs;	 /* of the border's functions, seen here */
	char id[CST_PLANNED_ID]; /* its file is that and ".plan" */
};

/* Whether calls are reported at the stubs by which a traced file makes them,
 * those of functions that border plans have left out. */
enum cst_plan_calls {
	CST_CALLS_NONE,
	CST_CALLS_TOO,
	CST_CALLS_ALONE, /* the file's own functions have hooks */
};

/* Which functions of a file are patched. */
struct cst_plan_wish {
	const char *functions; /* a regular expression; NULL: all */
	uint64_t min_size;     /* of a function, in bytes */
	uint32_t is_for_gdb;   /* 1: it is to step as if nothing was patched */
	uint32_t calls;	       /* enum cst_plan_calls; not for a border plan */
	/* For a border: the traced files that call; paths. */
	uint32_t n_callers;
	const char *const *callers;
};

/* Plans how the functions of the ELF file at path are changed in memory to
 * report their calls, and writes the plan into the folder, under the name that
 * the shim looks for.  No plan is written where nothing can be patched.
 * wish->calls is about the border plans that the folder has by then; the plan
 * takes the place of an earlier one of the file.  Returns 0; CST_BAD_INPUT if
 * the file cannot be planned. */
CST_API int cst_plan_file(const char *path, const struct cst_plan_wish *wish,
			  const char *folder, struct cst_planned *out,
			  struct cst_error *err);

/* Plans likewise the border: calls by the wish's n_callers files of functions
 * that the n files at paths have, for each of which *out says what came of it;
 * an id of "": it cannot be planned.  Writes also the files by which the shim
 * knows that there is a border, and the callers. */
CST_API int cst_plan_border(const struct cst_plan_wish *wish,
			    const char *const *paths, uint32_t n,
			    const char *folder, struct cst_planned *out,
			    struct cst_error *err);

/* Returns 1 if cst_plan_file() will take seconds: the file is
 * large, and the user's cache has no such plan. */
CST_API int cst_plan_takes_long(const char *path,
				const struct cst_plan_wish *wish);

/* Makes a temporary folder "cstrace-WORD-..." in TMPDIR, or in /tmp or
 * /var/tmp; is_for_preload: where LD_PRELOAD can name it, in XDG_RUNTIME_DIR at
 * best. Writes its path into out, which has room for size bytes.  Returns a
 * file descriptor: the folder is the caller's until cst_folder_remove(), or
 * until the descriptor is closed by the caller's death. */
CST_API int cst_folder_make(const char *word, int is_for_preload, char *out,
			    uint64_t size, struct cst_error *err);

/* Removes such a folder with its files, and closes its descriptor. */
CST_API void cst_folder_remove(const char *path, int fd);

/* Lets the process pid, which another user has, read what is in the folder now,
 * and write "refused" in it.  Nothing else changes for a process of the
 * caller's user. */
CST_API void cst_folder_share(const char *path, uint32_t pid);

/* Removes the user's folders whose owners died, unless a living process has the
 * path in its environment.  cst_folder_make() does so, too. */
CST_API void cst_folder_sweep(void);

/* Writes what the plans of the n files come to, as text: "12 functions of calc;
 * calls into 5 of libc.so.6; left out 1 as it is written in assembler".  out
 * has room for size bytes. */
CST_API void cst_plan_text(const struct cst_planned *plans,
			   const char *const *paths, uint32_t n, char *out,
			   uint64_t size);

/* Returns 1 if libraries at such a path are patched: those outside the system's
 * folders, and those whose file name matches the regular expression `modules`
 * (NULL: no others); else 0.  CST_BAD_INPUT: the expression is wrong. */
CST_API int cst_plan_wants(const char *path, const char *modules,
			   struct cst_error *err);

/* Returns 1 if the program of that path is one which runs others, like env:
 * what these do is meant where it is traced. */
CST_API int cst_is_launcher(const char *path);

/* Returns why functions are left out, as text; "" for a number that is none. */
CST_API const char *cst_plan_reason(uint32_t reason);

enum { CST_INSTRUCTION_MAX = 15 }; /* bytes */

/* The n bytes at code begin with an instruction that lies at `from`: writes to
 * out what it is at `to`.  It is one that leads to the next, or a conditional
 * jump by 32 bits, as trampolines have it.  Returns its length in bytes, or 0:
 * it is another, or would reach too far. */
CST_API uint32_t cst_moved_instruction(const uint8_t *code, uint32_t n,
				       uint64_t from, uint64_t to,
				       uint8_t out[CST_INSTRUCTION_MAX]);

/* A word of a file that the dynamic linker fills with the address of one of the
 * compiler's hooks, by the address that the file is linked for. */
struct cst_hook_slot {
	uint64_t address;
	uint32_t is_exit; /* 0: the hook of entries */
	uint32_t reserved;
};

/* Writes up to room slots of the ELF file at path.  Returns how many there are;
 * 0 for what is no such file, too. */
CST_API int cst_hook_slots(const char *path, struct cst_hook_slot *out,
			   uint32_t room);

/* A process that runs already.  The caller's thread is its tracer (ptrace), and
 * the threads that are asked for stand still. */
struct cst_live;

/* Reads which files the process has loaded.  The caller closes *out. */
CST_API int cst_live_open(uint32_t pid, struct cst_live **out,
			  struct cst_error *err);
CST_API void cst_live_close(struct cst_live *l);

/* Returns why the process cannot load the shim at that path, in words that
 * stand behind "process 12: "; "": it can. */
CST_API const char *cst_live_obstacle(const struct cst_live *l,
				      const char *shim);

/* Returns why it cannot call dlopen(), in such words, or "".  The caller has no
 * breakpoints in its memory. */
CST_API const char *cst_live_loader_obstacle(const struct cst_live *l);

/* Returns "" if the thread can make a call of libc's where it stands: it holds
 * no lock of libc's, of the dynamic linker's or of malloc()'s, and is in no
 * signal handler.  Else what it is in, in words that stand behind "it is". */
CST_API const char *cst_live_unsafe(const struct cst_live *l, uint32_t tid);

/* Returns 1 if the thread is within the shim or the areas of plans, or perhaps;
 * else 0.  table is the address of cstrace_patched. */
CST_API int cst_live_is_in_shim(const struct cst_live *l, uint32_t tid,
				uint64_t table);

/* Returns 1 if a call returns to pc, in the program's own code or a library's
 * that is neither libc, the dynamic linker, the unwinder nor the shim; else 0,
 * for code of no file, too. */
CST_API int cst_live_is_return(const struct cst_live *l, uint64_t pc);

/* Returns the address of a function of libc's, or 0. */
CST_API uint64_t cst_live_libc(const struct cst_live *l, const char *name);

/* What cst_live_look() looks at. */
struct cst_live_look {
	const uint32_t *threads;
	uint32_t n_threads; /* all of the process */
	uint32_t is_undone; /* 1: patches go; 0: they come */
	uint64_t table;	    /* the address of cstrace_patched */
	const char *folder; /* with the plans */
};

/* A function whose patches stay as they are, by its number in the plan that is
 * mapped at that area. */
struct cst_code_left {
	uint64_t area;
	uint32_t function;
	uint32_t reserved;
};

/* Looks where the threads stand before the caller writes patches or takes them
 * back.  Writes for each thread where it is to go on instead, or 0, to pcs, and
 * functions that cannot be changed now to left, which has room for so many.
 * Returns their number. */
CST_API int cst_live_look(const struct cst_live *l,
			  const struct cst_live_look *look, uint64_t *pcs,
			  struct cst_code_left *left, uint32_t room,
			  struct cst_error *err);

/* Writes the demangled form of a linkage name to out ("_ZN1B3fooEv" becomes
 * "B::foo()"), or the name itself if it is not mangled.  out has room for size
 * bytes; a longer name is cut. */
CST_API void cst_demangle(const char *symbol, char *out, uint64_t size);

/* Writes the simple name of a demangled one to out, as rows have it
 * ("shop::Shop::pack(shop::Order const&)" becomes "Shop::pack"), cut at size
 * bytes with the NUL. */
CST_API void cst_simple_name(const char *name, char *out, uint64_t size);

#endif
