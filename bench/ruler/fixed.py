"""Two whole programs that do the same work on every machine, so that counts of two days can be compared.

No header of the machine is read, no start-up file and no locale. The compiler sizes its heap by the machine's memory
unless it is told.
"""
import os

from . import house
from .programs import SQL, Missing, Program, need, write

CXX_HEAD = """
void *operator new(unsigned long, void *place) noexcept { return place; }
template <class T> struct Row {
    T *data = nullptr;
    unsigned size = 0, room = 0;
    Row() {}
    Row(const Row &other) { for (const T &one : other) push(one); }
    ~Row() { for (unsigned i = 0; i < size; i++) data[i].~T(); ::operator delete(data); }
    T *begin() const { return data; }
    T *end() const { return data + size; }
    void push(const T &one) {
        if (size == room) {
            room = room ? 2 * room : 4;
            T *more = static_cast<T *>(::operator new(room * sizeof(T)));
            for (unsigned i = 0; i < size; i++) { new (more + i) T(data[i]); data[i].~T(); }
            ::operator delete(data);
            data = more;
        }
        new (data + size++) T(one);
    }
    template <class F> auto map(F f) const -> Row<decltype(f(data[0]))> {
        Row<decltype(f(data[0]))> made;
        for (const T &one : *this) made.push(f(one));
        return made;
    }
};
template <class K, class V> struct Tree {
    struct Node { K key; V value; Node *low = nullptr, *high = nullptr; Node(const K &k) : key(k), value() {} };
    Node *root = nullptr;
    static void drop(Node *n) { if (n) { drop(n->low); drop(n->high); delete n; } }
    ~Tree() { drop(root); }
    V &operator[](const K &key) {
        Node **at = &root;
        while (*at) {
            if (key < (*at)->key) at = &(*at)->low;
            else if ((*at)->key < key) at = &(*at)->high;
            else return (*at)->value;
        }
        return (*(*at = new Node(key))).value;
    }
    template <class F> static void each(const Node *n, F f) {
        if (n) { each(n->low, f); f(n->key, n->value); each(n->high, f); }
    }
};
template <int N> struct Count { static int sum(int i) { return i + Count<N - 1>::sum(i); } };
template <> struct Count<0> { static int sum(int i) { return i; } };
"""
CXX_UNIT = """
struct Key{n} {{
    int a; Row<char> b;
    virtual ~Key{n}() {{}}
    bool operator<(const Key{n} &other) const {{ return a < other.a || (a == other.a && b.size < other.b.size); }}
}};
struct More{n} : Key{n} {{ long c = {n}; ~More{n}() {{ c = 0; }} }};
int work{n}(const Row<Key{n}> &given) {{
    Tree<Key{n}, Row<Key{n}>> tree;
    for (const Key{n} &key : given) tree[key].push(key);
    Row<More{n}> more = given.map([&](const Key{n} &key) {{ More{n} m; m.a = key.a + {n}; return m; }});
    int sum = Count<{n} % 7 + 8>::sum(given.size);
    tree.each(tree.root, [&](const Key{n} &key, const Row<Key{n}> &row) {{ sum += key.a * row.size; }});
    for (const More{n} &m : more)
        switch (m.a & 7) {{ case 1: sum += m.c; break; case 4: sum ^= 3; break; case 6: sum <<= 1; }}
    return sum;
}}
"""


def compiler():
    """That of cc: its version is a part of the baselines' key."""
    path = house.call("cc", "-print-prog-name=cc1plus").strip()
    if not os.path.isabs(path):
        raise Missing("cc has no cc1plus (as root: apt-get install g++)")
    return path


def cc1plus(units):
    text = write(f"fixed{units}.ii", [CXX_HEAD, *(CXX_UNIT.format(n=n) for n in range(units))])
    heap = ["--param", "ggc-min-expand=100", "--param", "ggc-min-heapsize=131072"]
    options = ["-quiet", "-O2", "-std=gnu++17", "-fpreprocessed", "-frandom-seed=1", *heap]
    return Program([compiler(), *options, text, "-o", os.devnull], {"LC_ALL": "C"})


def sqlite3(rows):
    script = write(f"fixed{rows}.sql", [SQL.format(rows=rows)])
    return Program([need("sqlite3", "sqlite3"), "-init", os.devnull, ":memory:"], {"LC_ALL": "C"}, script)


def named(cell):
    """With the version, where the count depends on it and nothing else tells it."""
    if cell != "sqlite3":
        return cell
    return f"sqlite3 {house.call(need('sqlite3', 'sqlite3'), '-version').split()[0]}"


PROGRAMS = {"cc1plus": cc1plus, "sqlite3": sqlite3}
