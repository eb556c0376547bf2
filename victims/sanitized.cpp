// What a sanitizer finds, and what it lets pass: `sanitized HOW`. Built by tests/sanitizers.rs, with one each.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <string>
#include <vector>

static int counted;

static void *count(void *)
{
    for (int i = 0; i < 1000; i++) {
        counted++;
        void *volatile block = malloc(100);
        free(block);
    }
    return nullptr;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "fine";
    std::vector<std::string> words;
    for (int i = 0; i < 1000; i++)
        words.push_back(std::string(100, 'x'));
    int *numbers = new int[100];
    numbers[argc] = 0;
    delete[] numbers;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, count, nullptr) != 0)
        return 1;
    if (!strcmp(how, "race"))
        count(nullptr);
    pthread_join(thread, nullptr);
    if (!strcmp(how, "after")) {
        char *volatile block = static_cast<char *>(malloc(10));
        free(block);
        return block[3];
    }
    if (!strcmp(how, "leak")) {
        void *volatile block = malloc(1234);
        block = nullptr;
        (void)block;
    }
    if (!strcmp(how, "shift")) {
        volatile int by = 40;
        counted = 1 << by;
    }
    puts("done");
    return 0;
}
