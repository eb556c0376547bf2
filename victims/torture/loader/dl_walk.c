/* dl_iterate_phdr with a callback that allocates, dladdr and dlinfo, while another thread loads and unloads: the loader's
 * lock is held in the callback, so whoever asks the loader inside malloc asks under it.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <link.h>

static int note(struct dl_phdr_info *info, size_t size, void *sum)
{
    (void)size;
    char *copy = strdup(info->dlpi_name);
    CHECK(copy);
    churn(5);
    *(size_t *)sum += strlen(copy) + info->dlpi_phnum;
    free(copy);
    return 0;
}

static void *walk(void *argument)
{
    for (int i = 0; i < 100; i++) {
        size_t sum = 0;
        CHECK(dl_iterate_phdr(note, &sum) == 0 && sum > 20);
        Dl_info about;
        CHECK(dladdr((void *)malloc, &about) && about.dli_fname);
        free(keep(strdup(about.dli_fname)));
    }
    return argument;
}

int main(void)
{
    pthread_t walkers[2] = {start_thread(walk, NULL), start_thread(walk, NULL)};
    for (int i = 0; i < 100; i++) {
        void *handle = load("plug_small", RTLD_LAZY);
        struct link_map *map;
        CHECK(dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && strstr(map->l_name, "plug_small"));
        churn(10);
        CHECK(dlclose(handle) == 0);
    }
    join_thread(walkers[0]);
    join_thread(walkers[1]);
    say("walked\n");
    return 0;
}
