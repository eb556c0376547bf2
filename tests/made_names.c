/* Makes two functions at run time, which keep a frame pointer and allocate by
 * malloc, and writes down their names as its first argument says: map, dump or
 * none. The second asks for a death by SIGKILL. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *(*made)(long size);

static made make(unsigned char *at) {
    /* push %rbp; mov %rsp, %rbp; movabs $malloc, %rax; call *%rax; pop %rbp; ret */
    unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,    0,    0,   0,
                            0,    0,    0,    0,    0xff, 0xd0, 0x5d, 0xc3};
    void *(*callee)(size_t) = malloc;
    memcpy(code + 6, &callee, sizeof callee);
    memcpy(at, code, sizeof code);
    return (made)at;
}

static void map(unsigned char *code) {
    char name[64];
    sprintf(name, "/tmp/perf-%d.map", getpid());
    FILE *file = fopen(name, "w");
    fprintf(file, "%lx 20 made at run time\n%lx 20 another\n", (long)code, (long)code + 64);
    fclose(file);
}

static void load(FILE *file, unsigned char *code, unsigned index, const char *name) {
    unsigned size = 56 + strlen(name) + 1 + 32;
    unsigned head[] = {0, size, 0, 0, getpid(), getpid()};
    unsigned long body[] = {(long)code, (long)code, 32, index};
    fwrite(head, sizeof head, 1, file);
    fwrite(body, sizeof body, 1, file);
    fwrite(name, strlen(name) + 1, 1, file);
    fwrite(code, 32, 1, file);
}

static void dump(unsigned char *code) {
    char name[64];
    sprintf(name, "jit-%d.dump", getpid());
    FILE *file = fopen(name, "w");
    unsigned header[] = {0x4a695444, 1, 40, 62, 0, getpid(), 0, 0, 0, 0};
    fwrite(header, sizeof header, 1, file);
    const char *source = "source.lang";
    unsigned lines[] = {2, 32 + 16 + 12, 0, 0};
    unsigned long where[] = {(long)code, 1, (long)code};
    unsigned line[] = {77, 0};
    fwrite(lines, sizeof lines, 1, file);
    fwrite(where, sizeof where, 1, file);
    fwrite(line, sizeof line, 1, file);
    fwrite(source, strlen(source) + 1, 1, file);
    load(file, code, 1, "made at run time");
    load(file, code + 64, 2, "another");
    fclose(file);
}

int main(int count, char **words) {
    unsigned char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (code == MAP_FAILED || count < 2)
        return 1;
    made one = make(code), other = make(code + 64);
    void *kept = malloc(100);
    for (int round = 0; round < 100; round++) {
        free(one(100000 + round));
        free(other(200000));
    }
    one(12345678);
    other(2345678);
    free(kept);
    if (!strcmp(words[1], "map"))
        map(code);
    if (!strcmp(words[1], "dump"))
        dump(code);
    if (count > 2)
        raise(SIGKILL);
    return 0;
}
