/* ROUNDS: gets blocks by an allocator's own names and gives them back by those
 * and by free: "ALLOCATIONS BYTES RELEASES LIVE_BYTES". */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined JEMALLOC
void *mallocx(size_t, int), *rallocx(void *, size_t, int), dallocx(void *, int), sdallocx(void *, size_t, int);
#define GET(round, size) mallocx(size, round % 2 ? 64 : 0)
#define MOVE(block, size) rallocx(block, size, 0)
#define PUT(block) dallocx(block, 0)
#define PUT_TOO(block, size) sdallocx(block, size, 0)
#elif defined MIMALLOC
void *mi_malloc(size_t), *mi_zalloc_aligned(size_t, size_t), *mi_mallocn(size_t, size_t), *mi_new(size_t);
void *mi_realloc(void *, size_t), mi_free(void *), mi_free_size(void *, size_t);
#define GET(round, size) \
    (round % 4 == 0 ? mi_malloc(size) : round % 4 == 1 ? mi_zalloc_aligned(size, 64) : round % 4 == 2 ? mi_mallocn(1, size) : mi_new(size))
#define MOVE(block, size) mi_realloc(block, size)
#define PUT(block) mi_free(block)
#define PUT_TOO(block, size) mi_free_size(block, size)
#else
void *tc_malloc(size_t), *tc_memalign(size_t, size_t), *tc_calloc(size_t, size_t), *tc_new(size_t);
void *tc_realloc(void *, size_t), tc_free(void *), tc_free_sized(void *, size_t);
#define GET(round, size) \
    (round % 4 == 0 ? tc_malloc(size) : round % 4 == 1 ? tc_memalign(64, size) : round % 4 == 2 ? tc_calloc(1, size) : tc_new(size))
#define MOVE(block, size) tc_realloc(block, size)
#define PUT(block) tc_free(block)
#define PUT_TOO(block, size) tc_free_sized(block, size)
#endif

int main(int count, char **words) {
    long allocations = 0, bytes = 0, releases = 0, live = 0;
    int rounds = count > 1 ? atoi(words[1]) : 0;
    for (int round = 0; round < rounds; round++) {
        size_t size = 10 + round;
        void *block = round % 5 == 2 ? malloc(size) : GET(round, size);
        allocations++, bytes += size, live += size;
        if (round % 3 == 0) {
            block = MOVE(block, size + 500);
            releases++, allocations++, bytes += size + 500, live += 500;
            size += 500;
        }
        if (round % 7 == 0) continue;
        if (round % 7 < 3) PUT(block);
        else if (round % 7 == 4) PUT_TOO(block, size);
        else free(block);
        releases++, live -= size;
    }
    char line[128];
    int length = snprintf(line, sizeof line, "%ld %ld %ld %ld\n", allocations, bytes, releases, live);
    return write(1, line, length) != length;
}
