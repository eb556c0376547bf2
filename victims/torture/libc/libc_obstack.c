/* Obstacks, whose chunks are the program's functions', and argp with getopt's permuted arguments, envz and argz vectors:
 * libc calls back into the program to allocate.
 */
#include "../torture.h"
#include <argp.h>
#include <argz.h>
#include <obstack.h>

static long chunks;

static void *chunk(size_t size)
{
    chunks++;
    return keep(malloc(size));
}

static void release(void *block)
{
    chunks--;
    free(block);
}
#define obstack_chunk_alloc chunk
#define obstack_chunk_free release

static error_t parse(int key, char *argument, struct argp_state *state)
{
    if (key == 'n')
        *(int *)state->input += atoi(argument);
    churn(2);
    return key == 'n' || key == ARGP_KEY_ARG ? 0 : ARGP_ERR_UNKNOWN;
}

int main(void)
{
    static const struct argp_option options[] = {{"number", 'n', "N", 0, "a number", 0}, {0}};
    static const struct argp argp = {options, parse, "REST", "obstacks", NULL, NULL, NULL};
    for (int i = 0; i < 30; i++) {
        struct obstack stack;
        obstack_init(&stack);
        char *first = (char *)obstack_alloc(&stack, 10);
        for (int n = 0; n < 500; n++)
            obstack_printf(&stack, "%d ", n);
        obstack_1grow(&stack, 0);
        CHECK(strlen((char *)obstack_finish(&stack)) == 1890 && chunks > 0);
        CHECK(obstack_copy0(&stack, "text", 4));
        obstack_free(&stack, first);
        obstack_free(&stack, NULL);
        CHECK(chunks == 0);

        char *arguments[] = {(char *)"name", (char *)"rest", (char *)"-n", (char *)"5", (char *)"--number=7", NULL};
        int sum = 0;
        CHECK(argp_parse(&argp, 5, arguments, ARGP_NO_EXIT, NULL, &sum) == 0 && sum == 12);
        char *vector = NULL, *help = NULL;
        size_t length = 0, size = 0;
        CHECK(argz_create_sep("a:bc:def:g", ':', &vector, &length) == 0 && argz_count(vector, length) == 4);
        CHECK(argz_replace(&vector, &length, "def", "a much longer text", NULL) == 0);
        free(vector);
        FILE *memory = open_memstream(&help, &size);
        argp_help(&argp, memory, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, (char *)"name");
        CHECK(fclose(memory) == 0 && strstr(help, "--number"));
        free(help);
    }
    say("stacked\n");
    return 0;
}
