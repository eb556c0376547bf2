/* What IBM's kernel/{location,process,memory}.h define inline, as a program that wants memlog to use them gives
 * them: as functions. Here with answers that a test can look for. */
#include <stdint.h>

uint32_t Kernel_GetRank(void);
uint64_t Kernel_GetJobID(void);
int Kernel_GetMemorySize(int which, uint64_t *bytes);

uint32_t Kernel_GetRank(void) { return 17; }
uint64_t Kernel_GetJobID(void) { return 4711; }

int Kernel_GetMemorySize(int which, uint64_t *bytes)
{
    switch (which) {
    case 207: *bytes = 96 << 10; return 0;          /* ESTSTACK */
    case 208: *bytes = 5ull << 20; return 0;        /* HEAP */
    case 210: *bytes = 105ull << 20; return 0;      /* HEAPMAX */
    case 211: *bytes = 3ull << 20; return 0;        /* MMAP */
    default: return 22;
    }
}
