/* Allocations of C++ whose callers were inlined; all of them are kept, so that all are live at the end. */
#include <cstdlib>
#include <string>
#include <vector>

#define INLINED inline __attribute__((always_inline))
#define CALLED __attribute__((noinline))

namespace mesh {

struct Cells {
    std::vector<double> values;
    INLINED void grow(int count) { values.resize(count); }
};

template <class T> struct Field {
    T *rows[8];
    INLINED T *row(int at, int count)
    {
        return rows[at] = static_cast<T *>(malloc(count * sizeof(T)));
    }
    CALLED void fill(int count)
    {
        for (int at = 0; at < 8; at++)
            row(at, count + at)[0] = T(at);
    }
};

INLINED Cells *refined(int count)
{
    Cells *cells = new Cells;
    cells->grow(count);
    return cells;
}

CALLED Cells *deep(int level, int count)
{
    if (level == 0)
        return refined(count);
    Cells *cells = deep(level - 1, count + 1);
    cells->values[0] += level;
    return cells;
}

}

static mesh::Field<double> wide;
static mesh::Field<short> narrow;
static std::string *label;
static mesh::Cells *cells;

int main(int argc, char **argv)
{
    wide.fill(1000 * argc);
    narrow.fill(50 * argc);
    cells = mesh::deep(5, 300);
    label = new std::string(argv[0] + std::string(100, '.'));
    return label->size() > 100 && cells->values[0] > 14 ? 0 : 1;
}
