/* MALLOC_* and GLIBC_TUNABLES make libc's allocator another one: no cache, perturbed, mmapped, one arena, hugepages.
 *
 * @may lack: children that exec at once have no events
 */
#include "../torture.h"
#include <malloc.h>

static const char *const settings[][2] = {
    {"MALLOC_ARENA_MAX", "1"}, {"MALLOC_PERTURB_", "165"}, {"MALLOC_MMAP_THRESHOLD_", "4096"}, {"MALLOC_TOP_PAD_", "0"},
    {"MALLOC_TRIM_THRESHOLD_", "4096"}, {"MALLOC_MMAP_MAX_", "0"}, {"MALLOC_CHECK_", "3"}, {"MALLOC_NONSENSE_", "x"},
    {"GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"}, {"GLIBC_TUNABLES", "glibc.malloc.tcache_max=1"},
    {"GLIBC_TUNABLES", "glibc.malloc.perturb=90:glibc.malloc.arena_max=1"}, {"GLIBC_TUNABLES", "glibc.malloc.hugetlb=1"},
    {"GLIBC_TUNABLES", "glibc.malloc.mxfast=0:glibc.malloc.check=3"}, {"GLIBC_TUNABLES", "glibc.rtld.nns=3"},
    {"GLIBC_TUNABLES", "glibc.rtld.optional_static_tls=0"},
};

static void *work(void *nothing)
{
    churn(500);
    unsigned char *p = keep(malloc(5000));
    CHECK(p);
    if (getenv("MALLOC_PERTURB_"))
        CHECK(p[0] == (unsigned char)~165 && p[4999] == p[0]);
    free(p);
    return nothing;
}

int main(int argc, char **argv)
{
    (void)argv;
    if (argc > 1) {
        pthread_t id = start_thread(work, NULL);
        work(NULL);
        join_thread(id);
        return 0;
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        pid_t child = fork();
        CHECK(child >= 0);
        if (!child) {
            CHECK(setenv(settings[i][0], settings[i][1], 1) == 0);
            execl("/proc/self/exe", "self", "child", (char *)NULL);
            _exit(97);
        }
        say("%s=%s: %d\n", settings[i][0], settings[i][1], status_of(child));
    }
    return 0;
}
