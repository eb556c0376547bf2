/* The program's operator new takes small blocks from a pool, which malloc knows nothing of, and the rest from mmap; malloc
 * itself is libc's. A block of the one must never be taken for a block of the other.
 */
#include "../torture.h"
#include <list>
#include <new>
#include <sstream>
#include <string>
#include <sys/mman.h>

union Cell {
    Cell *next;
    char bytes[256];
};
static Cell pool[4096], *unused;
static size_t fresh;

void *operator new(size_t size)
{
    if (size > sizeof(Cell)) {
        void *block = mmap(nullptr, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (block == MAP_FAILED)
            throw std::bad_alloc();
        *static_cast<size_t *>(block) = size + 4096;
        return static_cast<char *>(block) + 4096;
    }
    Cell *cell = unused;
    if (cell)
        unused = cell->next;
    else if (fresh < sizeof pool / sizeof *pool)
        cell = &pool[fresh++];
    else
        throw std::bad_alloc();
    return cell;
}

void operator delete(void *block) noexcept
{
    Cell *cell = static_cast<Cell *>(block);
    if (cell >= pool && cell < pool + sizeof pool / sizeof *pool) {
        cell->next = unused;
        unused = cell;
    } else if (block) {
        void *start = static_cast<char *>(block) - 4096;
        CHECK(munmap(start, *static_cast<size_t *>(start)) == 0);
    }
}

void operator delete(void *block, size_t) noexcept { operator delete(block); }

int main()
{
    std::list<std::string> lines;
    for (int i = 0; i < 500; i++) {
        lines.push_back(std::string(size_t(i), 'p'));
        churn(10);
        if (i % 3 == 0)
            lines.pop_front();
    }
    std::ostringstream out;
    for (const auto &line : lines)
        out << line.size() << ' ';
    lines.clear();
    bool was_full = false;
    std::list<int> full;
    try {
        for (;;)
            full.push_back(1);
    } catch (const std::bad_alloc &) {
        was_full = true;
    }
    CHECK(was_full && out.str().size() > 1000 && full.size() > 3900);
    say("pooled\n");
    return 0;
}
