/* Ways of attached.c that stay out of the way of all: what memlog may meet once. */

/* A filter of this thread alone, which allows all. */
static void *filtered(void *nothing)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        wrong("a filter");
    is_filtered = 1;
    return churn(nothing);
}

/* A transfer that nobody takes until the end: it is whole, or all of it is lost. */
static void *stuck(void *nothing)
{
    enum { BYTES = 1 << 20 };
    static char bytes[BYTES];
    int pair[2];
    if (pipe(pair))
        wrong("pipe");
    stuck_in = pair[0];
    if (write(pair[1], bytes, BYTES) != BYTES)
        wrong("a write was cut short");
    return nothing;
}

static void *takes(void *nothing)
{
    char bytes[4096];
    for (long left = 1 << 20; left > 0;) {
        if (!is_over || stuck_in < 0) {
            usleep(10000);
            continue;
        }
        long got = read(stuck_in, bytes, sizeof bytes);
        if (got <= 0)
            wrong("read");
        left -= got;
    }
    return nothing;
}

/* Children that the C library knows nothing of. */
static int allocates(void *nothing)
{
    (void)nothing;
    for (int at = 0; at < 20000; at++) {
        void *volatile block = malloc(100);
        free(block);
    }
    _exit(0);
}

static void *clones(void *nothing)
{
    enum { BYTES = 1 << 18 };
    static char stack[BYTES] __attribute__((aligned(16)));
    while (!is_over) {
        int child = clone(allocates, stack + BYTES, SIGCHLD, NULL), status;
        if (child < 0 || waitpid(child, &status, 0) != child || status)
            wrong("a child by clone");
        usleep(30000);
        turns++;
    }
    return nothing;
}

/* By an address that the loader was asked for. */
static void *asks(void *nothing)
{
    while (!is_over) {
        free(asked_for(100));
        usleep(1000);
    }
    return nothing;
}

static void *first(void *nothing)
{
    void *volatile block = malloc(10);
    free(block);
    return nothing;
}

static void *heir(void *nothing)
{
    int child = fork(), status;
    if (child == 0)
        allocates(NULL);
    if (waitpid(child, &status, 0) != child || status)
        wrong("a child of an heir");
    return nothing;
}

/* A thread has the stack of one that ended, whose place in the log another one has now,
 * and forks before it allocates. */
static void heirs(void)
{
    pthread_t thread, other;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 18);
    pthread_create(&thread, NULL, first, NULL);
    pthread_join(thread, NULL);
    pthread_create(&other, &small, churn, NULL);
    usleep(20000);
    pthread_create(&thread, NULL, heir, NULL);
    pthread_join(thread, NULL);
    printf("forked\n");
}
