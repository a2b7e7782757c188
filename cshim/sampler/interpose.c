/* SPDX-License-Identifier: MIT
 *
 * What stands before libc's functions: threads get their timers as they begin,
 * and the program sees nothing of our signal.  It neither blocks nor takes it,
 * and if it wants a handler for it we use another one.
 */
#include "sampler.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>

static int (*libcs_pthread_create)(pthread_t *, const pthread_attr_t *,
				   void *(*)(void *), void *);
static int (*libcs_sigaction)(int, const struct sigaction *,
			      struct sigaction *);
static sighandler_t (*libcs_signal)(int, sighandler_t);
static int (*libcs_sigprocmask)(int, const sigset_t *, sigset_t *);
static int (*libcs_pthread_sigmask)(int, const sigset_t *, sigset_t *);
static int (*libcs_sigwait)(const sigset_t *, int *);
static int (*libcs_sigwaitinfo)(const sigset_t *, siginfo_t *);
static int (*libcs_sigtimedwait)(const sigset_t *, siginfo_t *,
				 const struct timespec *);
static int (*libcs_signalfd)(int, const sigset_t *, int);
static int (*libcs_dlclose)(void *);
static pthread_key_t ends;
static int has_key;

static void thread_ends(void *arg)
{
	(void)arg;
	task_end();
}

void libc_find(void)
{
	static int is_found;

	if (is_found)
		return;
	libcs_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
	libcs_sigaction = dlsym(RTLD_NEXT, "sigaction");
	libcs_signal = dlsym(RTLD_NEXT, "signal");
	libcs_sigprocmask = dlsym(RTLD_NEXT, "sigprocmask");
	libcs_pthread_sigmask = dlsym(RTLD_NEXT, "pthread_sigmask");
	libcs_sigwait = dlsym(RTLD_NEXT, "sigwait");
	libcs_sigwaitinfo = dlsym(RTLD_NEXT, "sigwaitinfo");
	libcs_sigtimedwait = dlsym(RTLD_NEXT, "sigtimedwait");
	libcs_signalfd = dlsym(RTLD_NEXT, "signalfd");
	libcs_dlclose = dlsym(RTLD_NEXT, "dlclose");
	has_key = pthread_key_create(&ends, thread_ends) == 0;
	is_found = 1;
}

int sampler_sigaction(int number, const struct sigaction *action,
		      struct sigaction *old)
{
	libc_find();
	return libcs_sigaction(number, action, old);
}

void sampler_sigmask(int how, const sigset_t *set)
{
	libc_find();
	libcs_pthread_sigmask(how, set, NULL);
}

/* ---- threads ------------------------------------------------------------- */

struct start {
	void *(*run)(void *);
	void *arg;
};

static void *thread_run(void *arg)
{
	struct start start = *(struct start *)arg;

	free(arg);
	if (has_key)
		pthread_setspecific(ends, &ends);
	task_begin();
	return start.run(start.arg);
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*run)(void *), void *arg)
{
	struct start *start;
	int failed;

	libc_find();
	start = sampler_is_on() ? malloc(sizeof(*start)) : NULL;
	if (!start)
		return libcs_pthread_create(thread, attributes, run, arg);
	*start = (struct start){run, arg};
	failed = libcs_pthread_create(thread, attributes, thread_run, start);
	if (failed)
		free(start);
	return failed;
}

/* ---- our signal ---------------------------------------------------------- */

/* The set without our signal; which may be the very set. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *room)
{
	if (!set || !sample_signal || !sigismember(set, sample_signal))
		return set;
	*room = *set;
	sigdelset(room, sample_signal);
	return room;
}

EXPORT int sigaction(int number, const struct sigaction *action,
		     struct sigaction *old)
{
	struct sigaction ours;

	libc_find();
	if (number == sample_signal && sample_signal) {
		if (action)
			handler_yield();
		if (old)
			memset(old, 0, sizeof(*old)); /* SIG_DFL */
		old = NULL;
	}
	if (action && sample_signal &&
	    sigismember(&action->sa_mask, sample_signal)) {
		ours = *action;
		sigdelset(&ours.sa_mask, sample_signal);
		action = &ours;
	}
	if (!action && !old)
		return 0;
	return libcs_sigaction(number, action, old);
}

EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	libc_find();
	if (number == sample_signal && sample_signal) {
		handler_yield();
		libcs_signal(number, handler);
		return SIG_DFL;
	}
	return libcs_signal(number, handler);
}

/* The set that a thread's mask may be made of, for the code at pc. */
static const sigset_t *mask_of(int how, const sigset_t *set, sigset_t *room,
			       void *pc)
{
	return how == SIG_UNBLOCK || rules_is_libunwind((uint64_t)pc)
		       ? set
		       : without_ours(set, room);
}

EXPORT int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	libc_find();
	return libcs_sigprocmask(
		how, mask_of(how, set, &room, __builtin_return_address(0)),
		old);
}

EXPORT int pthread_sigmask(int how, const sigset_t *set, sigset_t *old)
{
	sigset_t room;

	libc_find();
	return libcs_pthread_sigmask(
		how, mask_of(how, set, &room, __builtin_return_address(0)),
		old);
}

EXPORT int sigwait(const sigset_t *set, int *number)
{
	sigset_t room;

	libc_find();
	return libcs_sigwait(without_ours(set, &room), number);
}

EXPORT int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
	sigset_t room;

	libc_find();
	return libcs_sigwaitinfo(without_ours(set, &room), info);
}

EXPORT int sigtimedwait(const sigset_t *set, siginfo_t *info,
			const struct timespec *limit)
{
	sigset_t room;

	libc_find();
	return libcs_sigtimedwait(without_ours(set, &room), info, limit);
}

EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t room;

	libc_find();
	return libcs_signalfd(fd, without_ours(set, &room), flags);
}

/* ---- libraries ----------------------------------------------------------- */

EXPORT int dlclose(void *handle)
{
	int result;

	libc_find();
	result = libcs_dlclose(handle);
	rules_forget();
	return result;
}
