/* How much stack each entry point uses, at most, measured by painting the stack below a call and looking
 * afterwards how deep the paint is gone. Run by ci/gates without and with the recorder; the difference is
 * the recorder's. What is asked is warm in libc's allocator, so that its own use is small and the same.
 *
 * Many call sites, a fresh library and enough events for several chunks of log bring the slow paths in:
 * rules to be compiled, modules to be read, a window to be mapped. One line a call: NAME BYTES.
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#ifndef STATIC
#include <dlfcn.h>
#endif

#define NOINLINE __attribute__((noinline, noclone))
#define WORDS 4096
#define PAINT 0xA5A5A5A5A5A5A5A5ul
#define ROUNDS 200000

static void *block;

/* Paints the stack below its caller, or counts from there to the deepest word that lost its paint. One
 * function for both, so that the array lies at the same place. The compiler is told that it is written. */
static NOINLINE long stack_below(int paint)
{
    unsigned long words[WORDS];
    int i = 0;
    __asm__ volatile("" : : "r"(words) : "memory");
    while (paint && i < WORDS)
        words[i++] = PAINT;
    __asm__ volatile("" : : "r"(words) : "memory");
    while (!paint && i < WORDS && ((volatile unsigned long *)words)[i] == PAINT)
        i++;
    return (WORDS - i) * (long)sizeof(long);
}

static NOINLINE void call_malloc(void) { block = malloc(40); }
static NOINLINE void call_calloc(void) { block = calloc(5, 8); }
static NOINLINE void call_realloc(void) { block = realloc(block, 44); }
static NOINLINE void call_aligned_alloc(void) { block = aligned_alloc(16, 48); }
static NOINLINE void call_posix_memalign(void) { if (posix_memalign(&block, 16, 40)) block = NULL; }
static NOINLINE void call_memalign(void) { block = memalign(16, 40); }
static NOINLINE void call_free(void) { free(block); }
static void *(*operator_new)(size_t); /* where there is one */
static void (*operator_delete)(void *);
static NOINLINE void call_new(void) { block = operator_new(40); }
static NOINLINE void call_delete(void) { operator_delete(block); }
static NOINLINE void call_mmap(void) { block = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }
static volatile size_t too_much = (size_t)-1 / 2; /* what nobody has */
static NOINLINE void call_failing(void) { block = malloc(too_much); }
static NOINLINE void call_munmap(void) { munmap(block, 4096); }

static NOINLINE long use_of(void (*call)(void))
{
    stack_below(1);
    call();
    return stack_below(0);
}

struct most { const char *name; long bytes; };
static struct most most[32];

static void note(const char *what, void (*call)(void))
{
    long bytes = use_of(call);
    struct most *place = most;
    while (place->name && place->name != what)
        place++;
    place->name = what;
    if (bytes > place->bytes)
        place->bytes = bytes;
}

static void allocate_and_free(const char *what, void (*call)(void))
{
    note(what, call);
    note("free", call_free);
}

static void every_entry_point(void)
{
    allocate_and_free("malloc", call_malloc);
    allocate_and_free("calloc", call_calloc);
    allocate_and_free("aligned_alloc", call_aligned_alloc);
    allocate_and_free("posix_memalign", call_posix_memalign);
    allocate_and_free("memalign", call_memalign);
    if (operator_new) {
        note("operator_new", call_new);
        note("operator_delete", call_delete);
    }
    note("malloc", call_malloc);
    note("realloc", call_realloc);
    note("free", call_free);
    note("mmap", call_mmap);
    note("munmap", call_munmap);
    note("failing", call_failing);
}

/* 256 functions: call sites that the recorder has not seen, each with a frame of its own size. */
#define SITE(n) static NOINLINE void site_##n(void) { char room[8 + 16 * (0x##n)]; \
    __asm__ volatile("" : : "r"(room) : "memory"); every_entry_point(); __asm__ volatile("" : : "r"(room) : "memory"); }
#define LINE(n) SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) \
    SITE(n##8) SITE(n##9) SITE(n##a) SITE(n##b) SITE(n##c) SITE(n##d) SITE(n##e) SITE(n##f)
LINE(0) LINE(1) LINE(2) LINE(3) LINE(4) LINE(5) LINE(6) LINE(7)
LINE(8) LINE(9) LINE(a) LINE(b) LINE(c) LINE(d) LINE(e) LINE(f)
#undef SITE
#define SITE(n) site_##n,
static void (*const sites[])(void) = { LINE(0) LINE(1) LINE(2) LINE(3) LINE(4) LINE(5) LINE(6) LINE(7)
    LINE(8) LINE(9) LINE(a) LINE(b) LINE(c) LINE(d) LINE(e) LINE(f) };

static NOINLINE void deeper(int frames, void (*call)(void))
{
    if (frames > 0)
        deeper(frames - 1, call);
    else
        call();
    __asm__ volatile("" : : : "memory"); /* no tail call */
}

static void *in_a_thread(void *unused)
{
    every_entry_point();
    return unused;
}

int main(void)
{
#ifndef STATIC
    operator_new = (void *(*)(size_t))dlsym(RTLD_DEFAULT, "_Znwm");
    operator_delete = (void (*)(void *))dlsym(RTLD_DEFAULT, "_ZdlPv");
#endif
    /* Every bin that is used below holds a block already. */
    for (int i = 0; i < 3; i++) {
        void *warm[64];
        for (int j = 0; j < 64; j++)
            warm[j] = malloc(40);
        for (int j = 0; j < 64; j++)
            free(warm[j]);
    }
    every_entry_point();
    for (int i = 0; i < 3; i++)
        every_entry_point();
    for (unsigned i = 0; i < sizeof sites / sizeof *sites; i++)
        sites[i]();
    deeper(1500, every_entry_point);
    for (int i = 0; i < ROUNDS / 10; i++)
        every_entry_point();
#ifndef STATIC
    static const char *const libraries[] = { "libm.so.6", "libresolv.so.2", "libutil.so.1" };
    for (int i = 0; i < 6; i++) {
        void *library = dlopen(libraries[i % 3], RTLD_NOW);
        every_entry_point();
        if (library)
            dlclose(library);
        every_entry_point();
    }
#endif
    pthread_t thread;
    if (pthread_create(&thread, NULL, in_a_thread, NULL) || pthread_join(thread, NULL))
        return 1;
    for (struct most *place = most; place->name; place++)
        printf("%s %ld\n", place->name, place->bytes);
    return 0;
}
