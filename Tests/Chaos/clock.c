// Preloaded into a program, it shifts the program's wall clock by CLOCK_OFF_SECONDS of the environment. All other clocks are
// unchanged, and so are the times that the program waits. (Debian's faketime also shifts timeouts of other clocks.)
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

// Only the wall clock has values this high: 31 years.
static const time_t earliest = 1000000000;

static time_t off(void) {
  static time_t seconds;
  static int known;
  if (!known) {
    const char *text = getenv("CLOCK_OFF_SECONDS");
    seconds = text ? atol(text) : 0;
    known = 1;
  }
  return seconds;
}

// Converts a time of the program's wall clock to that of the machine. Times of other clocks are unchanged.
static struct timespec real(const struct timespec *told) {
  struct timespec time = *told;
  if (time.tv_sec > earliest) time.tv_sec -= off();
  return time;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

int clock_gettime(clockid_t clock, struct timespec *told) {
  NEXT(clock_gettime);
  int result = next(clock, told);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) told->tv_sec += off();
  return result;
}

int gettimeofday(struct timeval *restrict told, void *restrict zone) {
  NEXT(gettimeofday);
  int result = next(told, zone);
  if (result == 0) told->tv_sec += off();
  return result;
}

time_t time(time_t *told) {
  NEXT(time);
  time_t result = next(NULL) + off();
  if (told) *told = result;
  return result;
}

int pthread_cond_timedwait(pthread_cond_t *restrict one, pthread_mutex_t *restrict mutex, const struct timespec *restrict end) {
  NEXT(pthread_cond_timedwait);
  struct timespec time = real(end);
  return next(one, mutex, &time);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict one, const struct timespec *restrict end) {
  NEXT(pthread_mutex_timedlock);
  struct timespec time = real(end);
  return next(one, &time);
}

int sem_timedwait(sem_t *restrict one, const struct timespec *restrict end) {
  NEXT(sem_timedwait);
  struct timespec time = real(end);
  return next(one, &time);
}

int timerfd_settime(int timer, int flags, const struct itimerspec *told, struct itimerspec *before) {
  NEXT(timerfd_settime);
  struct itimerspec time = *told;
  if (flags & TFD_TIMER_ABSTIME) time.it_value = real(&told->it_value);
  return next(timer, flags, &time, before);
}
