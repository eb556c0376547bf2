// Blocks of all that a server is asked about: `served BLOCKS`. Static initialisers, chains of
// reallocs, mappings that go in parts, mallopt, threads, templates, and a function whose name
// may be markup.
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#define SITE __attribute__((noinline))

static void *volatile kept[64];
static int count;

static void *keep(void *block)
{
    kept[count++ % 64] = block;
    return block;
}

struct Thing {
    char *room;
    explicit Thing(int size) : room(static_cast<char *>(malloc(size))) { room[0] = 1; }
};

Thing global(1001); // @global

// Its name is written over in the program, by one that is markup.
extern "C" SITE void *hostile_name_that_is_to_be_written_over(int size)
{
    return keep(malloc(size));
}

template <typename T> SITE T *made(int size)
{
    return static_cast<T *>(keep(malloc(size)));
}

SITE static void grown()
{
    char *volatile block = static_cast<char *>(malloc(100));
    for (int size = 200; size <= 3200; size *= 2)
        block = static_cast<char *>(realloc(block, size));
    free(block);
    char *volatile other = static_cast<char *>(realloc(NULL, 50));
    keep(realloc(other, 70000));
}

SITE static void mapped()
{
    long page = sysconf(_SC_PAGESIZE);
    char *parts = static_cast<char *>(mmap(NULL, 8 * page, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memset(parts, 1, 8 * page);
    munmap(parts + 2 * page, page);
    munmap(parts, 2 * page);
    kept[0] = mmap(NULL, 16 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    kept[1] = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

SITE static void *worker(void *)
{
    for (int at = 0; at < 100; at++)
        free(made<short>(24));
    keep(malloc(333));
    return NULL;
}

int main(int words, char **word)
{
    int blocks = words > 1 ? atoi(word[1]) : 1000;
    mallopt(M_MMAP_THRESHOLD, 65536);
    mallopt(M_ARENA_MAX, 2);
    mallopt(77, 1);
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    mapped();
    grown();
    hostile_name_that_is_to_be_written_over(4321);
    made<int>(100000);
    for (int at = 0; at < blocks; at++) {
        void *block = made<long>(16 + at % 50);
        if (at % 3)
            free(block);
    }
    return global.room ? 0 : 2;
}
