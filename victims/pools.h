/* See pools.c. */
#include <stddef.h>
void *pool_get(size_t size);
void pool_put(void *block);
void pool_trim(void);
void *wrap_get(size_t size);
void *wrap_move(void *block, size_t size);
void wrap_put(void *block);
int wrap_aligned(void **out, size_t alignment, size_t size);
void *fails(size_t size);
char *text_of(const char *text);
void arena_create(void);
void *arena_get(int unused_here, double unused_too, size_t count, size_t size);
void arena_destroy(void);
