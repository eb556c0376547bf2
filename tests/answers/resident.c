/* What is resident, and the program knows it: it asks the kernel for the pages of each
 * of its blocks at the end. Words: parts, random SEED, zeros,
 * grown, arenas, child. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1 << 20)
/* A tail call would take the function off the stack. */
#define KEEP __attribute__((noinline, noclone, optimize("no-optimize-sibling-calls")))

static char variables[8 * MIB];
static char said[1 << 16];
static size_t said_bytes;

#define say(...) (said_bytes += (size_t)snprintf(said + said_bytes, sizeof said - said_bytes, __VA_ARGS__))

/* Bytes of a range whose pages are in memory. */
static size_t resident(const void *at, size_t bytes)
{
	static unsigned char there[1 << 16];
	uintptr_t low = (uintptr_t)at, high = low + bytes, page = low & ~4095ul;
	size_t sum = 0;
	while (page < high) {
		size_t pages = (high - page + 4095) / 4096;
		if (pages > sizeof there)
			pages = sizeof there;
		if (mincore((void *)page, pages * 4096, there))
			abort();
		for (size_t i = 0; i < pages; i++, page += 4096) {
			uintptr_t from = page < low ? low : page, to = page + 4096 > high ? high : page + 4096;
			sum += there[i] & 1 ? to - from : 0;
		}
	}
	return sum;
}

static void site(const char *name, const void *at, size_t bytes)
{
	say("site %s resident=%zu live=%zu\n", name, resident(at, bytes), bytes);
}

static void rss(void)
{
	char text[100];
	unsigned long all, here;
	int file = open("/proc/self/statm", O_RDONLY);
	ssize_t bytes = read(file, text, sizeof text - 1);
	close(file);
	text[bytes > 0 ? bytes : 0] = 0;
	if (sscanf(text, "%lu %lu", &all, &here) != 2)
		abort();
	say("rss %lu\n", here * 4096);
}

/* Nothing is allocated from here to the end. */
static void end(void)
{
	rss();
	if (write(1, said, said_bytes) < 0)
		abort();
	exit(0);
}

KEEP static char *whole(void) { return memset(malloc(24 * MIB), 1, 24 * MIB); }
KEEP static char *whole_too(void) { return memset(malloc(20 * MIB), 1, 20 * MIB); }
KEEP static char *brief(void) { return memset(malloc(16 * MIB), 1, 16 * MIB); }
KEEP static char *half(void) { return memset(malloc(32 * MIB), 1, 16 * MIB) ; }
KEEP static char *none(void) { return malloc(64 * MIB); }

static char *small_blocks[4000];

KEEP static void smalls(void)
{
	for (int i = 0; i < 4000; i++)
		small_blocks[i] = memset(malloc(5000), 1, 5000);
}

KEEP static char *maps(void)
{
	char *at = mmap(0, 32 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(at, 1, 12 * MIB);
}

KEEP static char *shares(void)
{
	int file = memfd_create("shared", 0);
	if (ftruncate(file, 8 * MIB))
		abort();
	char *at = mmap(0, 8 * MIB, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	close(file);
	return memset(at, 1, 6 * MIB);
}

KEEP static char *reads_file(const char *path)
{
	int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	static char piece[MIB];
	memset(piece, 1, sizeof piece);
	for (int i = 0; i < 10; i++)
		if (write(file, piece, sizeof piece) != sizeof piece)
			abort();
	char *at = mmap(0, 10 * MIB, PROT_READ, MAP_PRIVATE, file, 0);
	volatile char sum = 0;
	for (size_t i = 0; i < 10 * MIB; i += 4096)
		sum += at[i];
	close(file);
	return at;
}

/* Past every hook. */
static char *hidden(size_t bytes)
{
	long at = syscall(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset((void *)at, 1, bytes);
}

static pthread_barrier_t ready;

static void *deep(void *unused)
{
	volatile char stack[5 * MIB];
	for (size_t i = 0; i < sizeof stack; i += 4096)
		stack[i] = 1;
	pthread_barrier_wait(&ready);
	pause();
	return unused;
}

static void parts(const char *path)
{
	memset(variables, 1, sizeof variables);
	pthread_t thread;
	pthread_barrier_init(&ready, 0, 2);
	pthread_create(&thread, 0, deep, 0);
	pthread_barrier_wait(&ready);
	char *one = whole(), *two = half(), *three = none();
	smalls();
	size_t small_resident = 0;
	for (int i = 1; i < 4000; i += 2)
		small_resident += resident(small_blocks[i], 5000);
	for (int i = 0; i < 4000; i += 2)
		free(small_blocks[i]);
	char *four = maps(), *five = shares(), *six = reads_file(path);
	hidden(20 * MIB);
	site("whole", one, 24 * MIB);
	site("half", two, 32 * MIB);
	site("none", three, 64 * MIB);
	say("site smalls resident=%zu live=%d\n", small_resident, 2000 * 5000);
	site("maps", four, 32 * MIB);
	site("shares", five, 8 * MIB);
	site("reads_file", six, 10 * MIB);
	end();
}

static struct block {
	char *at;
	size_t bytes;
} blocks[3000];

KEEP static char *site_a(size_t bytes) { return malloc(bytes); }
KEEP static char *site_b(size_t bytes) { return calloc(1, bytes); }
KEEP static char *site_c(size_t bytes) { return aligned_alloc(64, (bytes + 63) & ~63ul); }

static void random_ones(unsigned seed)
{
	static char *(*const sites[])(size_t) = { site_a, site_b, site_c };
	static const char *const names[] = { "site_a", "site_b", "site_c" };
	const int count = 3000;
	srand(seed);
	for (int step = 0; step < 20000; step++) {
		int place = rand() % count;
		struct block *block = &blocks[place];
		free(block->at);
		block->at = 0;
		if (rand() % 3 == 0)
			continue;
		size_t bytes = 1 + (size_t)rand() % (1u << (4 + rand() % 15));
		if (place % 3 == 2)
			bytes = (bytes + 63) & ~63ul;
		block->bytes = bytes;
		block->at = sites[place % 3](bytes);
		size_t touched = rand() % 2 ? bytes : (size_t)rand() % bytes;
		memset(block->at, 1, touched);
	}
	for (int which = 0; which < 3; which++) {
		size_t there = 0, live = 0;
		for (int place = which; place < count; place += 3)
			if (blocks[place].at) {
				there += resident(blocks[place].at, blocks[place].bytes);
				live += blocks[place].bytes;
			}
		say("site %s resident=%zu live=%zu\n", names[which], there, live);
	}
	end();
}

KEEP static char *only_read(void) { return calloc(1, 48 * MIB); }

/* Pages of zeros are in the page table and in no count. */
static void zeros(void)
{
	char *all = whole(), *more = whole_too();
	char *at = only_read();
	volatile char sum = 0;
	for (size_t i = 0; i < 48 * MIB; i += 4096)
		sum += at[i];
	/* Before much goes memory is read. */
	free(brief());
	site("whole", all, 24 * MIB);
	site("whole_too", more, 20 * MIB);
	end();
}

/* One block that realloc grows, and that goes at once: the peak lies before. */
static void grown(void)
{
	char *at = 0;
	size_t bytes = 0;
	for (int i = 0; i < 60; i++) {
		at = realloc(at, bytes + MIB);
		memset(at + bytes, 1, MIB);
		bytes += MIB;
	}
	say("peak %zu\n", bytes);
	rss();
	free(at);
	end();
}

/* Many mappings, which go one after the other in no time. */
KEEP static char *arena(void)
{
	char *at = mmap(0, MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(at, 1, MIB);
}

static void arenas(void)
{
	char *all[60];
	for (int i = 0; i < 60; i++)
		all[i] = arena();
	rss();
	for (int i = 0; i < 60; i++)
		munmap(all[i], MIB);
	end();
}

KEEP static char *of_child(void) { return memset(malloc(6 * MIB), 1, 6 * MIB); }

/* A child holds what its parent allocated. */
static void child(void)
{
	char *at = whole();
	if (fork() == 0) {
		char *own = of_child();
		site("whole", at, 24 * MIB);
		site("of_child", own, 6 * MIB);
		end();
	}
	wait(0);
	exit(0);
}

int main(int count, char **words)
{
	const char *word = count > 1 ? words[1] : "";
	if (!strcmp(word, "parts"))
		parts(words[2]);
	if (!strcmp(word, "random"))
		random_ones((unsigned)atoi(words[2]));
	if (!strcmp(word, "zeros"))
		zeros();
	if (!strcmp(word, "grown"))
		grown();
	if (!strcmp(word, "arenas"))
		arenas();
	if (!strcmp(word, "child"))
		child();
	return 2;
}
