/* Blocks that libc makes for the program, by its own calls to malloc: getline, asprintf, strdup, streams in memory, scandir. */
#include "../torture.h"
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <wchar.h>

int main(void)
{
    for (int round = 0; round < 20; round++) {
        char *text = NULL, *line = NULL, *more = NULL;
        size_t size = 0, room = 0;
        FILE *stream = open_memstream(&text, &size);
        CHECK(stream);
        for (int i = 0; i < 500; i++)
            CHECK(fprintf(stream, "%0*d\n", i % 100 + 1, i) > 0);
        CHECK(fclose(stream) == 0 && size > 500);
        CHECK((stream = fmemopen(text, size, "r")));
        int lines = 0;
        while ((lines % 2 ? getline(&line, &room, stream) : getdelim(&line, &room, '9', stream)) > 0)
            lines++;
        CHECK(fclose(stream) == 0 && lines > 100);
        CHECK(asprintf(&more, "%s%5000d%ls", text, 1, L"wide") > 5000);
        free(more);
        CHECK((more = strndup(text, 100)) && strlen(more) == 100);
        free(more);
        CHECK((more = realpath("/proc/../usr/./lib", NULL)));
        free(more);
        CHECK((more = getcwd(NULL, 0)));
        free(more);
        wchar_t *wide = wcsdup(L"wide characters"), *joined = NULL;
        size_t joined_size = 0;
        CHECK(wide && (stream = open_wmemstream(&joined, &joined_size)) && fwprintf(stream, L"%ls%ls", wide, wide) > 0);
        CHECK(fclose(stream) == 0 && joined_size == 30);
        free(wide);
        free(joined);
        free(line);
        free(text);
    }
    CHECK(mkdir("some", 0700) == 0 && chdir("some") == 0);
    for (int i = 0; i < 50; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%02d", i);
        CHECK(close(open(name, O_CREAT | O_WRONLY, 0600)) == 0);
    }
    struct dirent **names;
    int count = scandir(".", &names, NULL, alphasort);
    CHECK(count == 52 && !strcmp(names[51]->d_name, "f49"));
    while (count--)
        free(names[count]);
    free(names);
    glob_t found;
    CHECK(glob("f*", 0, NULL, &found) == 0 && found.gl_pathc == 50);
    globfree(&found);
    say("libc's own blocks\n");
    return 0;
}
