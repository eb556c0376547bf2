/* The program defines the whole allocator, and passes each call to __libc_malloc and its kin: no preloaded library is
 * ever called, though libc's own threads and streams allocate from it.
 *
 * @uncounted: nothing passes through a recorder
 */
#include "../torture.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
static long calls;

void *malloc(size_t size)
{
    __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return __libc_realloc(p, size);
}

void *memalign(size_t alignment, size_t size)
{
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    *p = __libc_memalign(alignment, size);
    return *p ? 0 : ENOMEM;
}

void free(void *p)
{
    __libc_free(p);
}

static void *work(void *argument)
{
    churn(2000);
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        churn(100);
        exit(3);
    }
    CHECK(status_of(child) == 3 && calls > 2000);
    say("forwarded\n");
    return 0;
}
