/* For valgrind, as LD_PRELOAD: Swift's main ends its thread with pthread_exit and leaves the rest to others, at which
 * valgrind 3.19 crashes. The main thread is parked instead. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

void pthread_exit(void *value) {
	if (getpid() == syscall(SYS_gettid)) for (;;) pause();
	void (*leave)(void *) = (void (*)(void *))dlsym(RTLD_NEXT, "pthread_exit");
	leave(value);
	__builtin_unreachable();
}
