/* Allocations inside of musl, and callbacks out of it: each function here calls one of musl's that allocates, or that
 * calls the program back. Whoever reads the log must find it in the stack of what was allocated. */
#define _GNU_SOURCE
/* Who calls by a jump is not on the stack. */
#pragma GCC optimize("no-optimize-sibling-calls")
#include <dirent.h>
#include <glob.h>
#include <netdb.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define BY static __attribute__((noinline)) void
static void *volatile block;

/* Called back: a frame of the program inside of musl's. */
BY called_back(int size)
{
    block = malloc(size);
    free(block);
}
static int compare(const void *a, const void *b)
{
    called_back(101);
    return strcmp(*(char *const *)a, *(char *const *)b);
}
static void release(void *thing)
{
    called_back(102);
    free(thing);
}
static void once(void) { called_back(103); }
static void handler(int signal) { called_back(100 + signal); }
static void at_exit(void) { called_back(104); free(strdup("at exit")); }
__attribute__((constructor)) static void begins(void) { called_back(105); }
__attribute__((destructor)) static void ends(void) { called_back(106); }

static pthread_key_t key;
static void *thread(void *leaves)
{
    void *own = calloc(1, 107);
    pthread_setspecific(key, own);
    pthread_cleanup_push(release, malloc(108));
    free(strdup("thread"));
    if (leaves)
        pthread_exit(0);
    pthread_cleanup_pop(1);
    return 0;
}

BY by_strdup(void) { for (int i = 0; i < 3; i++) free(strdup("abc")), free(strndup("abcdef", 3)); }
BY by_wcsdup(void) { free(wcsdup(L"abc")); }
BY by_asprintf(void)
{
    char *text = 0;
    if (asprintf(&text, "%d %s %f", 1, "x", 2.5) > 0)
        free(text);
}
BY by_getline(void)
{
    char *line = 0;
    size_t room = 0;
    FILE *file = fopen("/etc/passwd", "r");
    while (file && getline(&line, &room, file) > 0)
        ;
    free(line);
    if (file)
        fclose(file);
}
BY by_qsort(void)
{
    char *words[] = {"c", "a", "b", "x", "d", "r", "m", "f"}, **word = words;
    qsort(words, 8, sizeof *words, compare);
    bsearch(&word[3], words, 8, sizeof *words, compare);
}
BY by_tsearch(void)
{
    static char *words[] = {"a", "b"};
    void *root = 0;
    tsearch(&words[0], &root, compare);
    tsearch(&words[1], &root, compare);
    tdelete(&words[0], &root, compare);
    tdelete(&words[1], &root, compare);
}
BY by_hsearch(void)
{
    ENTRY entry = {"key", 0};
    if (hcreate(30))
        hsearch(entry, ENTER), hdestroy();
}
BY by_scandir(void)
{
    struct dirent **all = 0;
    int count = scandir("/", &all, 0, alphasort);
    while (count-- > 0)
        free(all[count]);
    free(all);
}
BY by_glob(void)
{
    glob_t found;
    if (glob("/etc/p*", 0, 0, &found) == 0)
        globfree(&found);
}
BY by_regex(void)
{
    regex_t regex;
    if (regcomp(&regex, "^(a|b)*c[0-9]+$", REG_EXTENDED))
        return;
    regexec(&regex, "ababc12", 0, 0, 0);
    regfree(&regex);
}
BY by_setenv(void) { setenv("MUSL_INNER", "yes", 1), unsetenv("MUSL_INNER"); }
BY by_realpath(void) { free(realpath("/etc/passwd", 0)), free(getcwd(0, 0)); }
BY by_getaddrinfo(void)
{
    struct addrinfo *found = 0;
    if (!getaddrinfo("127.0.0.1", "80", 0, &found))
        freeaddrinfo(found);
}
BY by_once(void)
{
    static pthread_once_t control = PTHREAD_ONCE_INIT;
    pthread_once(&control, once);
}
BY by_raise(void) { signal(SIGUSR1, handler), raise(SIGUSR1); }
/* But for one. */
__attribute__((noinline, optimize("optimize-sibling-calls"))) static char *jumps(const char *text) { return strdup(text); }
static char *(*volatile jumping)(const char *) = jumps;
BY by_tail(void) { free(jumping("tail")); }
/* What a thread with little stack can do alone, it can do recorded. */
static void *small(void *unused)
{
    free(strdup("small"));
    return unused;
}
BY by_small_stack(void)
{
    pthread_t id;
    pthread_attr_t little;
    pthread_attr_init(&little);
    pthread_attr_setstacksize(&little, 4096);
    if (!pthread_create(&id, &little, small, 0))
        pthread_join(id, 0);
}
BY by_threads(void)
{
    pthread_t id;
    for (long leaves = 0; leaves < 2; leaves++)
        if (!pthread_create(&id, 0, thread, (void *)leaves))
            pthread_join(id, 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    atexit(at_exit);
    pthread_key_create(&key, release);
    by_strdup(), by_wcsdup(), by_asprintf(), by_getline(), by_qsort(), by_tsearch(), by_hsearch(), by_scandir();
    by_glob(), by_regex(), by_setenv(), by_realpath(), by_getaddrinfo(), by_once(), by_raise(), by_tail();
    by_threads(), by_small_stack();
    if (argc > 1)
        exit(3);
    return 0;
}
