/* regcomp, glob, scandir, wordexp, fts and realpath: libc's larger users of the allocator, with callbacks of the program
 * and error paths that take apart what was half built.
 */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <regex.h>
#include <sys/stat.h>
#include <wordexp.h>

static int choose(const struct dirent *entry)
{
    churn(5);
    return entry->d_name[0] == 'f';
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

int main(void)
{
    char name[40], *roots[] = {(char *)"tree", NULL};
    CHECK(mkdir("tree", 0700) == 0);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "tree/%s%02d", i % 4 ? "file" : "other", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        CHECK(fd >= 0 && close(fd) == 0);
    }
    for (int i = 0; i < 20; i++) {
        regex_t pattern;
        CHECK(regcomp(&pattern, "^(a+|b*)([0-9]{2,5})(x|y|z)$", REG_EXTENDED) == 0);
        regmatch_t at[4];
        CHECK(regexec(&pattern, "aaa1234z", 4, at, 0) == 0 && at[2].rm_eo == 7);
        regfree(&pattern);
        CHECK(regcomp(&pattern, "a(b[c", REG_EXTENDED) != 0);
        glob_t found;
        CHECK(glob("tree/{file,other}*[13579]", GLOB_BRACE, NULL, &found) == 0 && found.gl_pathc == 20);
        CHECK(glob("tree/none*", GLOB_APPEND, NULL, &found) == GLOB_NOMATCH);
        globfree(&found);
        struct dirent **list;
        int count = scandir("tree", &list, choose, alphasort);
        CHECK(count == 30);
        while (count-- > 0)
            free(list[count]);
        free(list);
        wordexp_t words;
        CHECK(wordexp("'one two' tree/other* ${NOTHING:-three}", &words, WRDE_NOCMD) == 0 && words.we_wordc == 12);
        wordfree(&words);
        CHECK(wordexp("$(date)", &words, WRDE_NOCMD) == WRDE_CMDSUB);
        FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
        CHECK(walk);
        for (count = 0; fts_read(walk); count++)
            ;
        CHECK(count == 42 && fts_close(walk) == 0);
        char *real = realpath("tree/../tree/./other00", NULL);
        CHECK(real);
        free(real);
    }
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "tree/%s%02d", i % 4 ? "file" : "other", i);
        CHECK(unlink(name) == 0);
    }
    CHECK(rmdir("tree") == 0);
    say("patterns\n");
    return 0;
}
