// A program that tells of the scopes that it is in, and of blocks of an allocator of its own. It prints nothing.
#include "../../../include/memlog.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *volatile kept[4000];
static int count;

/* All of it is touched, so that resident memory is largest at the end. */
__attribute__((noinline)) static void keep(size_t size) { kept[count++] = memset(malloc(size), 1, size); }

static void keep_many(int blocks, size_t size)
{
    for (int i = 0; i < blocks; i++)
        keep(size + i);
    usleep(20000);
}

static void use_arena(void)
{
    char *pool = malloc(1 << 16);
    memlog_pool(pool);
    for (int i = 0; i < 100; i++)
        memlog_custom_alloc(pool + 600 * i, 500);
    kept[count++] = pool;
}

int main(void)
{
    memlog_scope_begin("load");
    keep_many(300, 2000);
    memlog_scope_begin("parse");
    keep_many(500, 3000);
    memlog_scope_end();
    memlog_scope_end();
    memlog_scope_begin("serve \"a\" (1) \\ <b>");
    keep_many(200, 1000);
    memlog_scope_end();
    memlog_scope_begin("arena");
    use_arena();
    memlog_scope_end();
    keep(8 << 20);
    keep_many(50, 700);
    keep(100 << 10);
    keep(100 << 10);
    return 0;
}
