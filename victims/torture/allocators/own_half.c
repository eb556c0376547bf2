/* The program defines malloc and free and nothing else: calloc, realloc and the aligned ones are the next library's, and
 * their blocks come to the program's free, which the recorder never sees.
 *
 * @uncounted: half of the calls pass the recorders by
 * @may reuse: only what the program defines knows that a block went
 */
#include "../torture.h"

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static long made, gone;

void *malloc(size_t size)
{
    __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED);
    return __libc_malloc(size);
}

void free(void *p)
{
    __atomic_add_fetch(&gone, 1, __ATOMIC_RELAXED);
    __libc_free(p);
}

static void *work(void *argument)
{
    for (int i = 0; i < 300; i++) {
        char *zeros = (char *)keep(calloc(10, 10));
        CHECK(zeros && zeros[99] == 0);
        zeros = (char *)keep(realloc(zeros, 3000));
        CHECK(zeros && zeros[50] == 0);
        free(zeros);
        free(keep(aligned_alloc(64, 640)));
        churn(10);
    }
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    join_thread(id);
    CHECK(made > 600 && gone > 1200);
    say("half an allocator\n");
    return 0;
}
