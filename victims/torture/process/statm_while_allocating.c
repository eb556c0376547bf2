/* /proc/self/statm, maps and smaps_rollup are read, with buffers of malloc's, while other threads allocate and map. */
#include "../torture.h"
#include <fcntl.h>
#include <sys/mman.h>

static int done;

static void *allocate(void *nothing)
{
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        churn(50);
        void *p = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        CHECK(p != MAP_FAILED);
        touch(p, 65536);
        CHECK(munmap(p, 65536) == 0);
        usleep(100);
    }
    return nothing;
}

int main(void)
{
    static const char *const files[] = {"/proc/self/statm", "/proc/self/maps", "/proc/self/smaps_rollup", "/proc/self/status"};
    pthread_t ids[2] = {start_thread(allocate, NULL), start_thread(allocate, NULL)};
    for (int i = 0; i < 100; i++) {
        int file = open(files[i % 4], O_RDONLY);
        CHECK(file >= 0);
        size_t have = 0, room = 256;
        char *text = keep(malloc(room));
        for (ssize_t n; (n = read(file, text + have, room - have)) > 0;)
            if ((have += (size_t)n) == room)
                CHECK((text = keep(realloc(text, room *= 2))));
        CHECK(have > 10 && close(file) == 0);
        free(text);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    join_thread(ids[0]);
    join_thread(ids[1]);
    say("read a hundred times\n");
    return 0;
}
