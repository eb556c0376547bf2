/* Takes memory in blocks of 64 KiB until it has MEGABYTES, then ends as it is
 * told: exit, _exit, kill (by its own SIGKILL), abort, or wait.
 *
 *     grower MEGABYTES [END]
 *
 * A table that it makes first is never touched again; the rows come later, at
 * another place. */
#include "victim.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROW = 64 << 10, TABLE = 4 << 20 };

SITE static char *make_table(void)
{
    char *table = malloc(TABLE);
    if (table)
        memset(table, 1, TABLE);
    return table;
}

SITE static char *make_row(void)
{
    char *row = malloc(ROW);
    if (row)
        memset(row, 2, ROW);
    return row;
}

static void end_by(const char *how)
{
    if (!strcmp(how, "_exit"))
        _exit(0);
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    if (!strcmp(how, "abort"))
        abort();
    if (!strcmp(how, "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
    }
}

int main(int argc, char **argv)
{
    long rows = argc > 1 ? atol(argv[1]) * 16 : 16;
    if (!make_table())
        return 3;
    usleep(30000);
    char *last = NULL;
    for (long row = 0; row < rows; row++) {
        char *next = make_row();
        if (!next) {
            puts("no more");
            return 4;
        }
        memcpy(next, &last, sizeof last);
        last = next;
        if (row % 16 == 0)
            usleep(2000);
    }
    end_by(argc > 2 ? argv[2] : "exit");
    return last == NULL;
}
