/* Pages of a block are filled by a userfaultfd handler that itself allocates: whoever touches the block first waits for it. */
#include "../torture.h"
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { PAGE = 4096, PAGES = 32 };
static int fd;

static void *serve(void *nothing)
{
    for (int i = 0; i < PAGES; i++) {
        struct uffd_msg fault;
        CHECK(read(fd, &fault, sizeof fault) == sizeof fault && fault.event == UFFD_EVENT_PAGEFAULT);
        char *page = keep(aligned_alloc(PAGE, PAGE));
        CHECK(page);
        memset(page, 9, PAGE);
        struct uffdio_copy copy = {.dst = fault.arg.pagefault.address & ~(uint64_t)(PAGE - 1), .src = (uintptr_t)page, .len = PAGE};
        CHECK(ioctl(fd, UFFDIO_COPY, &copy) == 0);
        free(page);
    }
    return nothing;
}

int main(void)
{
    fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    struct uffdio_api api = {.api = UFFD_API};
    if (fd < 0 || ioctl(fd, UFFDIO_API, &api))
        skip("userfaultfd: %s", strerror(errno));
    char *p = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED);
    struct uffdio_register area = {.range = {(uintptr_t)p, PAGES * PAGE}, .mode = UFFDIO_REGISTER_MODE_MISSING};
    CHECK(ioctl(fd, UFFDIO_REGISTER, &area) == 0);
    pthread_t id = start_thread(serve, NULL);
    for (int i = 0; i < PAGES; i++) {
        churn(20);
        CHECK(p[i * PAGE + i] == 9);
    }
    join_thread(id);
    CHECK(close(fd) == 0 && munmap(p, PAGES * PAGE) == 0);
    say("%d faults\n", PAGES);
    return 0;
}
