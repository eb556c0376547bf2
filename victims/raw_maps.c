/* Memory that grows by a known share of mappings made by bare system calls: `raw_maps HEAP_MB RAW_MB`. Prints nothing. */
#define _GNU_SOURCE
#include "victim.h"
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

SITE static void *raw(size_t bytes)
{
    long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return keep((void *)at);
}

int main(int argc, char **argv)
{
    long heap = number(argc, argv, 1, 10), bare = number(argc, argv, 2, 10);
    for (long i = 0; i < heap * 10; i++)
        touch(keep(malloc(100000)), 100000);
    for (long i = 0; i < bare; i++)
        touch(raw(1000000), 1000000);
    touch(keep(malloc(100000)), 100000);
    return 0;
}
