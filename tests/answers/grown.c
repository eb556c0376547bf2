// A program of which a test builds two variants: with GROWN bytes more in one function,
// and with its functions in another order, below other lines. It prints what each
// function holds at the end, which is when it holds most.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef GROWN
#define GROWN 0
#endif
#define KEPT __attribute__((noinline, noclone))

static void *kept[100000];
static int count;

// May be inlined: without debug information it is then in no stack.
static inline void *filled(size_t bytes) {
  char *block = malloc(bytes);
  if (!block)
    abort();
  memset(block, 1, bytes);
  return kept[count++] = block;
}

#ifdef OTHER_ORDER
// Three lines
// and a function
// that are not there in the other.
KEPT void unused(void) { puts("never"); }
KEPT void plants(void) {
  for (int n = 0; n < 64; n++)
    filled(4000 + GROWN);
}
#endif

KEPT void loads(void) {
  for (int n = 0; n < 100; n++)
    filled(1000 + n);
  filled(50000);
}

KEPT void walks(int depth) {
  filled(300);
  if (depth > 0)
    walks(depth - 1);
  kept[count++] = 0;
}

#ifndef OTHER_ORDER
KEPT void plants(void) {
  for (int n = 0; n < 64; n++)
    filled(4000 + GROWN);
}
#endif

static void *works(void *name) {
  pthread_setname_np(pthread_self(), name);
  filled(7000);
  return 0;
}

int main(int argc, char **argv) {
  loads();
  plants();
  walks(argc > 1 ? atoi(argv[1]) : 5);
  for (int n = 0; n < 3; n++) {
    pthread_t thread;
    if (pthread_create(&thread, 0, works, n ? "worker" : "other"))
      abort();
    pthread_join(thread, 0);
  }
  puts("done");
  return 0;
}
