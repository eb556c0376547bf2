/* glibc's own checks of the heap and its trace, which since 2.34 are in a library of their own: mcheck's blocks carry a
 * head and a tail, and mtrace writes a line for each call to a stream that allocates.
 *
 * @flags -ldl
 * @uncounted: the second recorder stands before that library and ends in libc
 */
#include "../again.h"
#include <mcheck.h>

int main(int argc, char **argv)
{
    (void)argc;
    again_behind(argv, "libc_malloc_debug.so.0");
    CHECK(setenv("MALLOC_TRACE", "trace", 1) == 0);
    mtrace();
    void *block = keep(malloc(100));
    churn(300);
    free(block);
    muntrace();
    FILE *trace = fopen("trace", "r");
    CHECK(trace);
    int lines = 0;
    for (int c; (c = getc(trace)) != EOF;)
        lines += c == '\n';
    CHECK(fclose(trace) == 0 && unlink("trace") == 0 && lines > 500);
    say("traced\n");
    return 0;
}
