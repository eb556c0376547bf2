/* The malloc family called from another object: a shared one where there are any. */
#include <stdlib.h>

typedef void *(*allocator)(size_t);

void *across(size_t size) { return malloc(size); }
void *across_grown(void *block, size_t size) { return realloc(block, size); }
void across_free(void *block) { free(block); }
/* A pointer made here is called there: both must mean the same function. */
allocator across_pointer(void) { return malloc; }
/* And one made there is called here. */
void *across_call(allocator from, size_t size) { return from(size); }
