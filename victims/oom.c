/* Programs that take more memory than there is: `oom KIND [MiB=1024] [events=100000]`. Those that are not killed exit 0.
 *
 *   threads   four threads take blocks of 24,000 bytes and touch them, and let smaller ones come and go, for ever
 *   callocs   blocks of 3 MiB by calloc, touched
 *   child     a child does what `threads` does; the parent, which holds 1 MiB itself, waits for it and exits with
 *             the signal that ended it
 *   fits      takes MiB in blocks of 24,000 bytes, then that many small blocks come and go, some of them resized
 *   null      blocks of 1 MiB, not touched, until there is none; a fifth is freed, and small ones are made
 *   aborts    the same, but abort() where there is none
 * No kind takes more than MiB, so that a limit that does not hold does no harm. What grows is made by hog_block, or by hog_zeros.
 */
#include "victim.h"
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, BLOCK = 24000, MIB = 1 << 20 };
static long most;

SITE void *hog_block(size_t size)
{
    return keep(malloc(size));
}

SITE void *hog_zeros(size_t size)
{
    return keep(calloc(size / 64, 64));
}

SITE void small_blocks(int count)
{
    for (int i = 0; i < count; i++) {
        void *p = touch(keep(malloc(40 + (size_t)i % 500)), 40);
        if (i % 4 == 0)
            p = keep(realloc(p, 600));
        free(p);
    }
}

static void *grow(void *arg)
{
    for (long taken = 0; taken < most / THREADS; taken += BLOCK) {
        touch(hog_block(BLOCK), BLOCK);
        small_blocks(8);
    }
    return arg;
}

static int threads(void)
{
    pthread_t id[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&id[i], NULL, grow, NULL))
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(id[i], NULL);
    return 0;
}

static int callocs(void)
{
    for (long taken = 0; taken < most; taken += 3 * MIB) {
        touch(hog_zeros(3 * MIB), 3 * MIB);
        small_blocks(300);
    }
    return 0;
}

static int child(void)
{
    touch(keep(malloc(MIB)), MIB);
    pid_t id = fork();
    if (id == 0)
        _exit(threads());
    int status = 0;
    if (id < 0 || waitpid(id, &status, 0) != id)
        return 1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static int fits(long events)
{
    for (long taken = 0; taken < most; taken += BLOCK)
        touch(hog_block(BLOCK), BLOCK);
    for (; events > 0; events -= 1000)
        small_blocks(1000);
    return 0;
}

static int until_null(int aborts)
{
    static void *blocks[1 << 16];
    long count = 0;
    while (count < most / MIB && (blocks[count] = hog_block(MIB)))
        count++;
    if (count < most / MIB && aborts)
        abort();
    for (long i = 0; i < count; i += 5)
        free(blocks[i]);
    small_blocks(1000);
    return count == most / MIB;
}

int main(int argc, char **argv)
{
    const char *kind = argc > 1 ? argv[1] : "";
    most = number(argc, argv, 2, 1024) * MIB;
    if (!strcmp(kind, "threads"))
        return threads();
    if (!strcmp(kind, "callocs"))
        return callocs();
    if (!strcmp(kind, "child"))
        return child();
    if (!strcmp(kind, "fits"))
        return fits(number(argc, argv, 3, 100000));
    if (!strcmp(kind, "null") || !strcmp(kind, "aborts"))
        return until_null(!strcmp(kind, "aborts"));
    return 2;
}
