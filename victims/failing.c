// Asks in every way for memory that it cannot get, and says what it asked for:
// a line "SIZE FUNCTION ERRNO" a call that failed. Exits with 1 where a call or
// errno is not as it should be.
//
//   failing [fork] [loop COUNT] [limit]
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile size_t huge = (size_t)PTRDIFF_MAX + 1;
static int is_wrong;

static void told(const char *function, size_t size, void *got, int expected) {
    int found = errno;
    if (got != NULL || found != expected) {
        fprintf(stderr, "%s: got %p, errno %d\n", function, got, found);
        is_wrong = 1;
    }
    printf("%zu %s %d\n", size, function, expected);
    fflush(stdout);
}

#define ASK(function, size, call)                     \
    do {                                              \
        errno = 0;                                    \
        void *got = (call);                           \
        told(function, size, got, ENOMEM);            \
    } while (0)

static void ask_all(void) {
    char *kept = malloc(1000);
    memset(kept, 7, 1000);
    ASK("malloc", huge, malloc(huge));
    ASK("calloc", SIZE_MAX, calloc(huge / 2, 8));
    ASK("realloc", huge, realloc(kept, huge));
    ASK("realloc", huge + 5, realloc(NULL, huge + 5));
    ASK("reallocarray", SIZE_MAX, reallocarray(kept, huge / 2, 8));
    ASK("memalign", huge, memalign(64, huge));
    ASK("aligned_alloc", huge, aligned_alloc(64, huge));
    ASK("valloc", huge, valloc(huge));
    ASK("pvalloc", huge, pvalloc(huge));
    void *place = NULL;
    errno = posix_memalign(&place, 64, huge);
    told("posix_memalign", huge, place, ENOMEM);
    errno = posix_memalign(&place, 24, 100);
    told("posix_memalign", 100, place, EINVAL);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    errno = 0;
    void *mapped = mmap(NULL, huge / 4, PROT_READ, flags, -1, 0);
    told("mmap", huge / 4, mapped == MAP_FAILED ? NULL : mapped, ENOMEM);
    // No want of memory.
    mapped = mmap(NULL, 0, PROT_READ, flags, -1, 0);
    if (mapped != MAP_FAILED || errno != EINVAL)
        is_wrong = 1;
    // What failed left the block alone.
    for (int at = 0; at < 1000; at++)
        if (kept[at] != 7)
            is_wrong = 1;
    free(kept);
}

static long count;

static void *loop(void *unused) {
    for (long call = 0; call < count; call++) {
        void *got = malloc(huge);
        __asm__ volatile("" : : "r"(got) : "memory");
        if (got != NULL)
            is_wrong = 1;
    }
    return unused;
}

// As much as a limit lets through, and one that it does not.
static void fill(void) {
    struct rlimit limit = {192 << 20, 192 << 20};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        is_wrong = 1;
    for (int block = 0; block < 1000; block++) {
        errno = 0;
        char *got = malloc(8 << 20);
        if (got == NULL) {
            told("malloc", 8 << 20, got, ENOMEM);
            return;
        }
        memset(got, 1, 8 << 20);
    }
    is_wrong = 1;
}

int main(int argc, char **argv) {
    for (int word = 1; word < argc; word++) {
        if (strcmp(argv[word], "fork") == 0) {
            pid_t child = fork();
            int status = 0;
            if (child != 0) {
                waitpid(child, &status, 0);
                return status != 0;
            }
        } else if (strcmp(argv[word], "loop") == 0) {
            count = atol(argv[++word]);
            pthread_t threads[2];
            for (int at = 0; at < 2; at++)
                pthread_create(&threads[at], NULL, loop, NULL);
            for (int at = 0; at < 2; at++)
                pthread_join(threads[at], NULL);
        } else if (strcmp(argv[word], "limit") == 0) {
            fill();
        }
    }
    ask_all();
    return is_wrong;
}
