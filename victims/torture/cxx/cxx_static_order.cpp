/* Static objects, those of functions, exit handlers and thread_local ones of main, interleaved: each destructor allocates,
 * one makes a new static object, and the last one runs when much of the C++ library is gone.
 */
#include "../torture.h"
#include <map>
#include <memory>
#include <string>

static char order[32];

static void note(char which)
{
    order[strlen(order)] = which;
    churn(20);
}

struct Noted {
    std::string text;
    char which;
    explicit Noted(char which) : text(300, which), which(which) {}
    ~Noted()
    {
        text += std::string(1000, which);
        note(which);
    }
};

struct Last {
    std::map<int, std::string> table{{1, std::string(100, 'z')}};
    ~Last()
    {
        table[2] = std::string(200, 'z');
        say("%s\n", order);
        CHECK(strcmp(order, "tfhsexgb") == 0);
    }
};

static Last last;
static Noted before('b');

static Noted &of_function(char which)
{
    static Noted first(which);
    return first;
}

static void make_late()
{
    static Noted late('x');
    note('e');
}

int main()
{
    thread_local Noted of_thread('t');
    static Noted gone('g');
    CHECK(atexit(make_late) == 0);
    CHECK(of_function('s').which == 's' && of_thread.which == 't' && gone.which == 'g');
    CHECK(atexit([] { note('h'); }) == 0);
    static Noted first_to_go('f');
    return 0;
}
