/* Huge pages of sizes the machine has not, or has none of: each refusal as the kernel gives it, and the heap goes on. */
#include "../torture.h"
#include <sys/mman.h>

int main(void)
{
    for (int power = 12; power < 40; power += 3) {
        errno = 0;
        void *p = mmap(NULL, (size_t)1 << power, PROT_READ | PROT_WRITE,
            MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE | power << MAP_HUGE_SHIFT, -1, 0);
        say("2^%d: %d\n", power, p == MAP_FAILED ? errno : 0);
        if (p != MAP_FAILED)
            CHECK(munmap(p, (size_t)1 << power) == 0);
        churn(100);
    }
    return 0;
}
