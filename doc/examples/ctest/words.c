/* Makes words and frees them: `words COUNT`. Built with -DLEAK, it forgets each tenth. */
#include <stdio.h>
#include <stdlib.h>

static char *make_word(int number)
{
    char *word = malloc(16);
    if (word)
        snprintf(word, 16, "word %d", number);
    return word;
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 10;
    for (int i = 0; i < count; i++) {
        char *word = make_word(i);
#ifdef LEAK
        if (i % 10 == 0)
            continue;
#endif
        free(word);
    }
    return 0;
}
