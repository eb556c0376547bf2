/* Callbacks of qsort and bsearch allocate and throw; the exception flies through libc's frames. */
#include "../torture.h"
#include <string>

static int calls;

static int compare(const void *a, const void *b)
{
    std::string text(50, 'c');
    if (++calls % 100 == 0)
        throw text;
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

int main()
{
    static int numbers[20];
    int caught = 0;
    for (int round = 0; round < 50; round++) {
        for (int i = 0; i < 20; i++)
            numbers[i] = i * 7919 % 1009;
        try {
            qsort(numbers, 20, sizeof *numbers, compare);
            for (int i = 0; i < 10; i++)
                bsearch(&i, numbers, 20, sizeof *numbers, compare);
        } catch (const std::string &text) {
            caught += text.size() == 50;
        }
    }
    say("%d caught\n", caught);
    return 0;
}
