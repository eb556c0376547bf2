/* std::filesystem and iostreams: directory iterators that share their state, streams with buffers, facets and locales of
 * their own, and exceptions that carry paths.
 */
#include "../torture.h"
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <locale>
#include <set>
#include <sstream>

namespace fs = std::filesystem;

struct Points : std::numpunct<char> {
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
};

int main()
{
    fs::create_directories("tree/a/b/c");
    for (int i = 0; i < 30; i++) {
        std::ofstream file(fs::path("tree") / (i % 2 ? "a" : "a/b") / ("file" + std::to_string(i)));
        file.imbue(std::locale(std::locale::classic(), new Points));
        file << std::setw(12) << i * 1000000 << '\n' << std::string(size_t(i) * 100, 'f');
    }
    std::set<std::string> names;
    size_t sum = 0;
    for (const auto &entry : fs::recursive_directory_iterator("tree")) {
        names.insert(entry.path().filename().string());
        if (entry.is_regular_file()) {
            std::ifstream file(entry.path());
            std::stringstream text;
            text << file.rdbuf();
            sum += text.str().size();
        }
    }
    int failed = 0;
    for (int i = 0; i < 20; i++) {
        try {
            sum += fs::file_size(fs::path("tree") / ("nothing" + std::to_string(i)));
        } catch (const fs::filesystem_error &error) {
            failed += error.path1().filename().string().size() > 7;
        }
    }
    CHECK(fs::remove_all("tree") == 34);
    std::cout << names.size() << " names, " << sum << " bytes, " << failed << " failed" << std::endl;
    return 0;
}
