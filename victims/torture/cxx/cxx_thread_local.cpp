/* thread_local objects of a plugin: threads close the plugin and end, and the objects' destructors run behind that, at the
 * threads' end, in code that nobody holds open any more.
 *
 * @flags -ldl
 */
#include "../loader.h"
#include <thread>
#include <vector>

int main()
{
    for (int round = 0; round < 10; round++) {
        void *handle = load("plug_thread_local", RTLD_NOW);
        auto gone = reinterpret_cast<int (*)()>(find(handle, "objects_gone"));
        const int before = gone();
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++)
            threads.emplace_back([] {
                void *again = load("plug_thread_local", RTLD_NOW);
                auto add = reinterpret_cast<size_t (*)(size_t)>(find(again, "object_add"));
                for (size_t i = 1; i < 30; i++)
                    CHECK(add(i * 10) == i);
                CHECK(dlclose(again) == 0);
            });
        for (auto &thread : threads)
            thread.join();
        CHECK(gone() == before + 4);
        CHECK(dlclose(handle) == 0);
        std::thread last([] {
            void *own = load("plug_thread_local", RTLD_NOW);
            CHECK(reinterpret_cast<size_t (*)(size_t)>(find(own, "object_add"))(77) == 1);
            CHECK(dlclose(own) == 0);
        });
        last.join();
    }
    say("50 objects\n");
    return 0;
}
