/* A program that tells its allocator what to do, and says what that answered; it
 * changes its environment first. Words: few, many, forked. */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct { int parameter, value; } all[] = {
	{M_MMAP_THRESHOLD, 1 << 20}, {M_ARENA_MAX, 2}, {M_TOP_PAD, 0}, {M_PERTURB, -1}, {M_MXFAST, 1 << 20}, {4711, 3}};

__attribute__((noinline)) static void tune(int which)
{
	int taken = mallopt(all[which].parameter, all[which].value);
	printf("%d %d %d\n", all[which].parameter, all[which].value, taken);
}

/* What the compiler cannot leave out. */
static void allocate(void)
{
	char *volatile block = malloc(100);
	free(block);
}

static void *in_thread(void *unused)
{
	for (int i = 2; i < 6; i++)
		tune(i);
	return unused;
}

/* One that does little has no log. */
static void child(void)
{
	in_thread(0);
	for (int i = 0; i < 30; i++) {
		usleep(10000);
		allocate();
	}
	exit(0);
}

int main(int count, char **words)
{
	const char *word = count > 1 ? words[1] : "few";
	setenv("TOLD_BEGAN", "changed", 1);
	setenv("TOLD_LATER", "later", 1);
	if (!strcmp(word, "many")) {
		for (int i = 0; i < 3000; i++)
			mallopt(M_TOP_PAD, i);
		if (!fork())
			child();
		wait(0);
		return 0;
	}
	tune(0);
	tune(1);
	fflush(stdout);
	if (!strcmp(word, "forked")) {
		if (!fork())
			child();
		wait(0);
		return 0;
	}
	pthread_t thread;
	pthread_create(&thread, 0, in_thread, 0);
	pthread_join(thread, 0);
	allocate();
	return 0;
}
