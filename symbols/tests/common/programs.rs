//! The victims, small but with what makes symbolisation hard.
#![allow(dead_code, reason = "each test file uses a part")]

pub const C: &str = r#"
#include <stdlib.h>
#include <string.h>
static inline __attribute__((always_inline)) void *grab(size_t n) { return malloc(n + 1); }
static inline __attribute__((always_inline)) char *copy(const char *s) {
    char *p = grab(strlen(s));
    if (!p) abort();
    strcpy(p, s);
    return p;
}
__attribute__((noinline)) char *twice(const char *s, int n) {
    char *a = copy(s);
    for (int i = 0; i < n; i++) { char *b = copy(a); free(a); a = b; }
    return a;
}
static __attribute__((noinline)) int deep(int n) { return n ? deep(n - 1) * 3 + 1 : 7; }
int main(int argc, char **argv) {
    char *p = twice(argv[0], argc);
    int r = deep(argc) + p[0];
    free(p);
    return r & 1;
}
"#;

pub const CPP: &str = r#"
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace app {
namespace {
struct Pool {
    std::vector<int *> all;
    int *take(int v) { all.push_back(new int(v)); return all.back(); }
    ~Pool() { for (int *p : all) delete p; }
};
}
template <class T, int N> struct Grid {
    std::vector<T> cells;
    Grid() : cells(N) {}
    __attribute__((noinline)) T sum() const {
        T s{};
        auto add = [&](T v) { s += v; };
        for (auto &c : cells) add(c);
        return s;
    }
    T operator[](int i) const { return cells[i]; }
};
__attribute__((noinline)) std::map<std::string, int> words(int n) {
    std::map<std::string, int> m;
    for (int i = 0; i < n; i++) m[std::to_string(i)] += i;
    return m;
}
__attribute__((noinline)) int run(int n) {
    Pool pool;
    Grid<double, 12> grid;
    auto shared = std::make_shared<Grid<int, 3>>();
    return *pool.take(n) + int(grid.sum()) + shared->sum() + int(words(n).size());
}
}
extern "C" __attribute__((noinline)) int plain_c(int n) { return app::run(n) + 1; }
int main(int argc, char **) { return plain_c(argc) & 1; }
"#;

pub const RUST: &str = r#"
mod store {
    pub trait Keep { fn keep(&mut self, n: u64) -> usize; }
    pub struct Shelf<T> { pub rows: Vec<Vec<T>> }
    impl<T: From<u32> + Clone> Keep for Shelf<T> {
        #[inline(never)]
        fn keep(&mut self, n: u64) -> usize {
            let row: Vec<T> = (0..n as u32).map(|i| T::from(i)).collect();
            self.rows.push(row);
            self.rows.iter().map(|r| r.len()).sum()
        }
    }
}
use store::Keep;
#[inline(always)]
fn boxed(n: u64) -> Box<[u64]> { vec![n; n as usize].into_boxed_slice() }
#[inline(never)]
fn both(n: u64) -> usize {
    let mut shelf = store::Shelf::<u64> { rows: Vec::new() };
    boxed(n).len() + shelf.keep(n)
}
fn main() { std::process::exit((both(std::env::args().count() as u64) & 1) as i32) }
"#;

pub const FORTRAN: &str = r"
module solver
  implicit none
contains
  subroutine grow(n, total)
    integer, intent(in) :: n
    real, intent(out) :: total
    real, allocatable :: field(:)
    allocate(field(n))
    field = 1.5
    call shrink()
    total = sum(field)
    deallocate(field)
  contains
    subroutine shrink()
      field(1) = field(1) / 2
    end subroutine shrink
  end subroutine grow
end module solver

subroutine outside(n)
  use solver
  integer, intent(in) :: n
  real :: total
  call grow(n, total)
  print *, total
end subroutine outside

program heat
  call outside(100)
end program heat
";
