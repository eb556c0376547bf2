/* A plugin with an object of each thread, whose destructor allocates and frees, and so keeps the plugin from going.
 *
 * @plugin
 * @flags -fno-gnu-unique
 */
#include "../torture.h"
#include <string>
#include <vector>

static int gone;

struct Object {
    std::vector<std::string> lines;
    ~Object()
    {
        lines.emplace_back(500, 'e');
        churn(20);
        __atomic_add_fetch(&gone, 1, __ATOMIC_RELAXED);
    }
};

static thread_local Object object;

extern "C" size_t object_add(size_t length)
{
    object.lines.emplace_back(length, 'l');
    return object.lines.size();
}

extern "C" int objects_gone(void)
{
    return __atomic_load_n(&gone, __ATOMIC_RELAXED);
}
