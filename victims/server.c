/* A server loop with a leak, for doc/TUTORIAL.md: `server [requests=100000]`. Prints one line, exits 0.
 *
 * A request is a path and eight headers. The last 256 answers of 16 KiB are cached. After half of the requests a
 * summary is made: a table of 1,000,000 counters, freed again. Every tenth request is malformed, and of those
 * the headers are never freed; with -DFIXED they are.
 */
#include "victim.h"
#include <stdio.h>
#include <string.h>

enum { HEADERS = 8, CACHED = 256, ANSWER = 16 << 10, COUNTERS = 1000000 };

struct request {
    char *path;
    char *headers[HEADERS];
};
static char *cache[CACHED];

SITE char *copy_of(const char *text)
{
    return strcpy(keep(malloc(strlen(text) + 1)), text);
}

SITE void parse_headers(struct request *request, long number)
{
    char text[64];
    for (int i = 0; i < HEADERS; i++) {
        snprintf(text, sizeof text, "X-Header-%d: value of request %08ld", i, number);
        request->headers[i] = copy_of(text);
    }
}

SITE void release_headers(struct request *request)
{
    for (int i = 0; i < HEADERS; i++)
        free(request->headers[i]);
}

SITE void cache_answer(long number)
{
    char **slot = &cache[number % CACHED];
    free(*slot);
    *slot = touch(keep(malloc(ANSWER)), ANSWER);
}

/* Whether the request was well formed. */
SITE int handle(long number)
{
    struct request request;
    request.path = copy_of("/index.html");
    parse_headers(&request, number);
    if (number % 10 == 0) {
        free(request.path);
#ifdef FIXED
        release_headers(&request);
#endif
        return 0;
    }
    cache_answer(number);
    release_headers(&request);
    free(request.path);
    return 1;
}

SITE void daily_summary(void)
{
    long *counters = touch(keep(calloc(COUNTERS, sizeof *counters)), COUNTERS * sizeof *counters);
    free(counters);
}

int main(int argc, char **argv)
{
    long requests = number(argc, argv, 1, 100000), good = 0;
    for (long i = 0; i < requests; i++) {
        good += handle(i);
        if (i == requests / 2)
            daily_summary();
    }
    printf("%ld of %ld requests were well formed\n", good, requests);
    return 0;
}
