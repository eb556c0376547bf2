// Static initialisers whose truth is known: what lines with a mark ask for. With -DLIBRARY
// it is a library, which is loaded by main where WHEN is.
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <vector>


struct Thing {
    char *room;
    explicit Thing(int size) : room(static_cast<char *>(malloc(size))) { room[0] = 1; }
};

#ifdef LIBRARY
Thing in_library(4001); // @in_library bytes=4001
#else
Thing global(1001);                         // @global bytes=1001
static std::vector<int> list(100, 7);       // @list bytes=400
std::string *text = new std::string(99, 'x'); // @text bytes=132

__attribute__((constructor)) static void constructor()
{
    static char *volatile kept = static_cast<char *>(malloc(303)); // @constructor bytes=303
    kept[0] = 1;
}

static int called() { return list.size() + (global.room ? 1 : 0); }

int main(int count, char **words)
{
    static Thing local(5005);
    char *volatile room = static_cast<char *>(malloc(707));
    room[0] = static_cast<char>(called());
    if (count > 1 && !dlopen(words[1], RTLD_NOW))
        return 1;
    return local.room && text ? 0 : 2;
}
#endif
