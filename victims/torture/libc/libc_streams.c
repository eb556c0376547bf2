/* Streams that allocate: getline grows a block of the caller's, open_memstream gives its block away, a cookie's functions
 * allocate, scanf makes blocks, and printf calls hooks of the program's, which allocate in the middle of it.
 */
#include "../torture.h"
#include <printf.h>

static int print_doubled(FILE *stream, const struct printf_info *info, const void *const *arguments)
{
    (void)info;
    char *text = NULL;
    CHECK(asprintf(&text, "<%d>", 2 * **(const int *const *)arguments) > 0);
    churn(5);
    int length = fprintf(stream, "%s", text);
    free(text);
    return length;
}

static int sizes(const struct printf_info *info, size_t count, int *types, int *size)
{
    (void)info;
    if (count > 0)
        types[0] = PA_INT, size[0] = sizeof(int);
    return 1;
}

static ssize_t write_cookie(void *cookie, const char *bytes, size_t size)
{
    free(keep(strndup(bytes, size)));
    *(size_t *)cookie += size;
    return (ssize_t)size;
}

int main(void)
{
    CHECK(register_printf_specifier('Y', print_doubled, sizes) == 0);
    for (int i = 0; i < 30; i++) {
        char *text = NULL, *line = NULL, *word = NULL;
        size_t size = 0, room = 0, total = 0;
        const char *format = "%Y %100d\n";
        FILE *memory = open_memstream(&text, &size);
        CHECK(memory);
        for (int n = 0; n < 100; n++)
            CHECK(fprintf(memory, format, n, n) > 0);
        CHECK(fclose(memory) == 0 && size > 10000 && !strncmp(text, "<0>", 3));
        memory = fmemopen(text, size, "r");
        int lines = 0;
        while (getline(&line, &room, memory) > 0)
            lines++;
        CHECK(lines == 100 && fclose(memory) == 0);
        CHECK(sscanf(text, "%ms", &word) == 1 && !strcmp(word, "<0>"));
        FILE *stream = fopencookie(&total, "w", (cookie_io_functions_t){.write = write_cookie});
        CHECK(stream && setvbuf(stream, NULL, _IOFBF, 300) == 0);
        CHECK(fprintf(stream, "%5000d%s", i, text) > 5000 && fclose(stream) == 0 && total == 5000 + size);
        free(word);
        free(line);
        free(text);
    }
    printf("%s and %d\n", "streams", 30);
    return 0;
}
