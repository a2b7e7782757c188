/* SPDX-License-Identifier: MIT
 *
 * The signal's handler: one sample into the thread's own lane.  All signals are
 * blocked meanwhile, so that nothing leaves it half done by a jump.
 */
#include "sampler.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

int sample_signal;

/* How many threads are in the handler. */
static uint32_t n_inside;

enum {
	FIRST_CHOICE = 3, /* SIGRTMAX less this, and down from there */
	LAST_CHOICE = 16,
	SYSCALL_BYTES = 2,
};

/* Returns the words that are free. */
static uint64_t lane_room(const struct cst_lane *l, uint64_t head)
{
	uint64_t used = head - __atomic_load_n(&l->tail, __ATOMIC_ACQUIRE);

	return used > CST_LANE_WORDS ? 0 : CST_LANE_WORDS - used;
}

static void lane_put(struct cst_lane *l, uint64_t at, uint64_t word)
{
	l->words[at % CST_LANE_WORDS] = word;
}

static void take_sample(struct cst_lane *l, const ucontext_t *context,
			uint32_t weight)
{
	uint64_t head = l->head, now = clock_ticks(), addr, flags;
	uint64_t room = lane_room(l, head), n = 0;
	struct walk w;

	if (room < CST_SAMPLE_HEAD + CST_SAMPLE_FRAMES) {
		__atomic_fetch_add(&l->n_lost, weight, __ATOMIC_RELAXED);
		sampler_look_for_reader();
		return;
	}
	walk_begin(&w, context);
	while (n < CST_SAMPLE_FRAMES && walk_next(&w, &addr))
		lane_put(l, head + CST_SAMPLE_HEAD + n++, addr);
	flags = w.is_cut || w.pc ? CST_SAMPLE_CUT : 0;
	lane_put(l, head, n | flags << 16 | (uint64_t)weight << 32);
	lane_put(l, head + 1, now);
	/* Pairs with the reader's acquire: what lies before it is complete. */
	__atomic_store_n(&l->head, head + CST_SAMPLE_HEAD + n,
			 __ATOMIC_RELEASE);
}

/* A system call that the kernel will not begin again by itself has just been
 * left for our sake, before it could wait: the program would get EINTR.  Or it
 * was about to go on by restart_syscall(), which the kernel forgets behind a
 * handler.  It is begun again, where its number stands before it, as in libc.
 */
static void call_again(ucontext_t *context)
{
	greg_t *r = context->uc_mcontext.gregs;
	const uint8_t *pc = (const uint8_t *)r[REG_RIP];
	struct walk memory = {0};
	uint32_t number;

	if (r[REG_RAX] == SYS_restart_syscall)
		pc += SYSCALL_BYTES;
	else if (r[REG_RAX] != -EINTR)
		return;
	if ((uint64_t)pc < 4096 || !is_readable(&memory, (uint64_t)pc - 8) ||
	    pc[-2] != 0x0f || pc[-1] != 0x05 || pc[-7] != 0xb8)
		return;
	memcpy(&number, pc - 6, sizeof(number));
	r[REG_RAX] = (greg_t)number;
	r[REG_RIP] = (greg_t)(pc - SYSCALL_BYTES);
}

/* From a timer or a perf event, and not somebody else's. */
static int is_ours(const siginfo_t *info)
{
	return info->si_code == SI_TIMER ||
	       (info->si_code >= POLL_IN && info->si_code <= POLL_HUP);
}

/* How many samples it is: a timer's are counted while none can come. */
static uint32_t weight_of(const siginfo_t *info)
{
	if (info->si_code != SI_TIMER)
		return samples->each;
	return 1 + (info->si_overrun > 0 ? (uint32_t)info->si_overrun : 0);
}

static void handle(int number, siginfo_t *info, void *context)
{
	int saved = errno;
	struct cst_lane *l;
	uint32_t weight;

	(void)number;
	/* Pairs with handler_is_left(): either that waits for us, or we see
	 * that sampling has ended, and leave the memory alone. */
	__atomic_fetch_add(&n_inside, 1, __ATOMIC_SEQ_CST);
	sampler_obey();
	if (sampler_is_on() && sampler_is_over(clock_ticks()))
		sampler_stop();
	if (sampler_is_on() && is_ours(info)) {
		tasks_look();
		weight = weight_of(info);
		l = lane_own();
		if (l)
			take_sample(l, context, weight);
		task_end_delay();
	}
	if (samples)
		call_again(context);
	__atomic_fetch_sub(&n_inside, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

static int is_free(int number)
{
	struct sigaction now;

	return sampler_sigaction(number, NULL, &now) == 0 &&
	       now.sa_handler == SIG_DFL;
}

/* A signal that nobody handles; 0: there is none.  SIGURG comes first: one that
 * waits while the program execs another does nothing there, where any other
 * would end it. */
static int find_free(int before)
{
	int first = before && before != SIGURG ? before - 1
					       : SIGRTMAX - FIRST_CHOICE;

	if (!before && is_free(SIGURG))
		return SIGURG;
	for (int i = first; i > SIGRTMAX - LAST_CHOICE; i--)
		if (is_free(i))
			return i;
	return 0;
}

static int install_at(int number)
{
	struct sigaction action;
	sigset_t one;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handle;
	/* Not SA_ONSTACK: a program may have left a handler on its signal stack
	 * by swapcontext(), to go on there later, and the kernel would put ours
	 * on top of it. */
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	sigfillset(&action.sa_mask);
	if (!number || sampler_sigaction(number, &action, NULL) < 0)
		return 0;
	sample_signal = number;
	/* A recorder that is attached opens it in each thread that is to have
	 * it; none may come in the call that it has us make now. */
	if (sampler_is_attached())
		return 1;
	sigemptyset(&one);
	sigaddset(&one, number);
	sampler_sigmask(SIG_UNBLOCK, &one);
	return 1;
}

int handler_install(void)
{
	return sample_signal || install_at(find_free(0));
}

void handler_yield(void)
{
	int before = sample_signal;

	/* Without one the timers' signals would meet the program's handler. */
	if (!install_at(find_free(before))) {
		sample_signal = 0;
		sampler_stop();
		return;
	}
	tasks_resignal();
}

void handler_remove(void)
{
	struct sigaction action;

	int number = sample_signal;

	sample_signal = 0;
	/* The program may have taken it meanwhile. */
	if (!number || sampler_sigaction(number, NULL, &action) < 0 ||
	    action.sa_sigaction != handle)
		return;
	memset(&action, 0, sizeof(action));
	/* To ignore a signal drops those that wait in any thread, blocked ones
	 * as well: the default action of some would end the program. */
	action.sa_handler = SIG_IGN;
	sampler_sigaction(number, &action, NULL);
	action.sa_handler = SIG_DFL;
	sampler_sigaction(number, &action, NULL);
}

int handler_is_left(void)
{
	const struct timespec moment = {.tv_nsec = 1000000};

	for (int ms = 0; ms < 1000; ms++) {
		if (!__atomic_load_n(&n_inside, __ATOMIC_SEQ_CST))
			return 1;
		nanosleep(&moment, NULL);
	}
	return 0;
}

void handler_forked(void)
{
	__atomic_store_n(&n_inside, 0, __ATOMIC_SEQ_CST);
}
