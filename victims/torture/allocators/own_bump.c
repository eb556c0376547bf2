/* The program's allocator takes from one array and never gives back: its blocks are no heap's, and everything that libc
 * and the loader allocate comes from it, before main as well.
 *
 * @flags -ldl
 * @uncounted: nothing passes through a recorder
 */
#include "../loader.h"

static char array[64 << 20] __attribute__((aligned(64)));
static size_t used;

static void *take(size_t alignment, size_t size)
{
    size_t whole = (size + alignment + 31) & ~(size_t)15;
    size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
    if (size > sizeof array || at + whole > sizeof array) {
        errno = ENOMEM;
        return NULL;
    }
    char *block = array + ((at + 16 + alignment - 1) & ~(alignment - 1));
    ((size_t *)(void *)block)[-1] = size;
    return block;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void *calloc(size_t count, size_t size)
{
    return take(16, count * size);
}

void *realloc(void *p, size_t size)
{
    size_t had = p ? ((size_t *)p)[-1] : 0;
    void *more = take(16, size);
    return more && p ? memcpy(more, p, had < size ? had : size) : more;
}

void *memalign(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **p, size_t alignment, size_t size)
{
    *p = memalign(alignment, size);
    return *p ? 0 : ENOMEM;
}

void free(void *p)
{
    CHECK(!p || ((char *)p > array && (char *)p < array + sizeof array));
}

static void *work(void *argument)
{
    churn(1000);
    return argument;
}

int main(void)
{
    pthread_t id = start_thread(work, NULL);
    work(NULL);
    CHECK(dlclose(load("plug_cxx", RTLD_NOW)) == 0);
    join_thread(id);
    FILE *file = tmpfile();
    CHECK(file && fprintf(file, "%1000d", 7) == 1000 && fclose(file) == 0);
    say("bumped\n");
    return 0;
}
