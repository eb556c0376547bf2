/* Becomes nobody and then executes its arguments. */
#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2 || setgid(65534) || setuid(65534))
        return 90;
    execv(argv[1], argv + 1);
    return 91;
}
