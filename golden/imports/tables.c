/* What the files beside it were made from: README. */
#include <stdlib.h>
#include <string.h>

static char *kept[400];

__attribute__((noinline)) static char *copy_of(const char *text) {
    char *copy = malloc(strlen(text) + 1);
    return strcpy(copy, text);
}

/* A table that comes and goes, and names that stay. */
__attribute__((noinline)) static void read_table(void) {
    char *table = calloc(1, 100000);
    for (int i = 0; i < 100; i++)
        kept[i] = copy_of("a name that is kept");
    table[5] = 1;
    free(table);
}

__attribute__((noinline)) static void small_ones(void) {
    for (int i = 100; i < 110; i++)
        kept[i] = malloc(i - 97);
}

__attribute__((noinline)) static void churn(void) {
    for (int i = 0; i < 1000; i++) {
        char *block = malloc(700);
        block[i % 700] = 1;
        free(block);
    }
}

__attribute__((noinline)) static void grow(void) {
    char *list = malloc(16);
    for (size_t bytes = 32; bytes <= 65536; bytes *= 2)
        list = realloc(list, bytes);
    kept[200] = list;
}

int main(void) {
    read_table();
    small_ones();
    churn();
    for (int i = 0; i < 40; i++)
        free(kept[i]);
    grow();
    for (int i = 300; i < 330; i++)
        kept[i] = malloc(3000);
    return 0;
}
