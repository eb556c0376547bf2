/* Allocates until it is ended: a log that grows. */
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    for (;;) {
        for (int i = 0; i < 100; i++)
            *(volatile char *)malloc(100) = 1;
        usleep(5000);
    }
}
