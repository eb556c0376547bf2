/* The entry points are reached not by calls but by addresses: from a table, by dlsym of each scope, and handed to libc as
 * obstack's chunk functions. Blocks of one way are released by another.
 *
 * @flags -ldl
 */
#include "../torture.h"
#include <dlfcn.h>
#include <obstack.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

static void *(*const table_malloc)(size_t) = malloc;
static void (*const table_free)(void *) = free;

int main(void)
{
    void *self = dlopen(NULL, RTLD_NOW), *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    CHECK(self && libc);
    void *(*mallocs[4])(size_t) = {table_malloc};
    void (*frees[4])(void *) = {table_free};
    void *const scopes[] = {RTLD_DEFAULT, self, RTLD_NEXT};
    for (int i = 0; i < 3; i++) {
        *(void **)&mallocs[i + 1] = dlsym(scopes[i], "malloc");
        *(void **)&frees[i + 1] = dlsym(scopes[i], "free");
        CHECK(mallocs[i + 1] && frees[i + 1]);
    }
    CHECK((uintptr_t)mallocs[1] == (uintptr_t)mallocs[0] && (uintptr_t)mallocs[2] == (uintptr_t)mallocs[0]);
    for (int i = 0; i < 4000; i++) {
        void *p = keep(mallocs[i % 4](100 + (size_t)i));
        CHECK(p);
        memset(p, 1, 100);
        frees[i / 4 % 4](p);
    }
    struct obstack stack;
    obstack_init(&stack);
    for (int i = 0; i < 5000; i++)
        CHECK(obstack_alloc(&stack, 100));
    obstack_free(&stack, NULL);
    dlclose(self);
    dlclose(libc);
    say("by every way\n");
    return 0;
}
