/* std::regex: its automata are shared graphs of small blocks, and matching recurses some thousand frames deep with
 * allocations on the way, so that every stack is a deep one.
 */
#include "../torture.h"
#include <regex>
#include <string>

int main()
{
    size_t found = 0;
    for (int i = 0; i < 5; i++) {
        std::regex word("([a-z]+)-([0-9]{1,3}|x+)*(?=;)", i % 2 ? std::regex::ECMAScript : std::regex::ECMAScript | std::regex::icase);
        std::string text;
        for (int n = 0; n < 40; n++)
            text += "ab" + std::string(size_t(n % 7), 'c') + "-" + std::to_string(n) + "; ";
        for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
            found += (*at)[1].str().size();
    }
    std::regex deep("(a|b)*c");
    CHECK(std::regex_match(std::string(1500, 'a') + "c", deep));
    bool was_bad = false;
    try {
        std::regex bad("(unclosed[");
    } catch (const std::regex_error &) {
        was_bad = true;
    }
    CHECK(was_bad);
    say("found %zu\n", found);
    return 0;
}
