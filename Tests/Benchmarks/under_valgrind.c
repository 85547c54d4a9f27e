/* For a server under valgrind, as LD_PRELOAD.
 * Everything is about fifty times slower there, and more when the machine does something else. The clock by which the server
 * says how long its work takes is made one of its own processor time, and as much slower: what it makes of that, a client's
 * share of a turn for one, is then what it would make of it without valgrind.
 * Swift's main ends its thread with pthread_exit and leaves the rest to others, at which valgrind 3.19 crashes: that thread
 * is parked instead. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SLOWNESS = 50 };

uint64_t uv_hrtime(void) {
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return ((uint64_t)time.tv_sec * 1000000000 + time.tv_nsec) / SLOWNESS;
}
void pthread_exit(void *value) {
	if (getpid() == syscall(SYS_gettid)) for (;;) pause();
	void (*leave)(void *) = (void (*)(void *))dlsym(RTLD_NEXT, "pthread_exit");
	leave(value);
	__builtin_unreachable();
}
