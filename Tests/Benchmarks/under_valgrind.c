/* Preloaded (LD_PRELOAD) into a server under valgrind.
  * Everything is about fifty times slower there, and more on a busy machine. The clock with which the server measures its
  * own work is replaced by one of its processor time, slowed by the same factor. So the server's decisions, for example about
  * a client's share of a turn, are those that it would make without valgrind.
  * Swift's main ends its thread with pthread_exit and leaves the rest to other threads, which makes valgrind 3.19 crash. So that
  * thread is parked instead. */
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
