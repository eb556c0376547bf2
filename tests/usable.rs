//! What an allocator maps when it is asked how large a block is, is the allocator's, and
//! no mapping of the program.

mod sites;

use serde_json::Value;
use sites::build::{GCC, optioned};
use sites::{Folder, said};

/// It maps 1 MiB for each thread that asks for the first time.
const ALLOCATOR: &str = r#"
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/mman.h>
void *__libc_malloc(size_t);
void __libc_free(void *);
static __thread char *own;
void *malloc(size_t size) { return __libc_malloc(size); }
void free(void *block) { __libc_free(block); }
size_t malloc_usable_size(void *block) {
    if (!own)
        own = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return block ? ((size_t *)block)[-1] & ~(size_t)15 : 0;
}
"#;

/// A thread whose first call asks, and which maps 3 MiB itself.
const PROGRAM: &str = r#"
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
static void *ask(void *block) {
    size_t usable = malloc_usable_size(block);
    void *own = mmap(NULL, 3 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return usable < 100 || own == MAP_FAILED ? block : NULL;
}
int main(void) {
    pthread_t thread;
    void *block = malloc(100), *bad;
    pthread_create(&thread, NULL, ask, block);
    pthread_join(thread, &bad);
    return bad != NULL;
}
"#;

#[test]
fn what_asking_for_a_size_maps_is_the_allocators() {
    let folder = Folder::new("usable");
    let (allocator, program) = (folder.path("allocator.c"), folder.path("program.c"));
    std::fs::write(&allocator, ALLOCATOR).expect("a file");
    std::fs::write(&program, PROGRAM).expect("a file");
    let shared = optioned("gcc", &["-O1", "-g", "-fPIC", "-shared"]);
    let allocator = shared.build_file::<&str>(&folder, &allocator, "liballocator.so", &[]);
    let program = GCC.build_file::<&str>(&folder, &program, "program", &["-D_GNU_SOURCE"]);
    let log = folder.path("it.memlog");
    let mut command = folder.memlog(&["record".as_ref(), "-o".as_ref(), log.as_os_str()]);
    command.arg(&program).env("LD_PRELOAD", &allocator);
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{}", said(&output));
    let words = ["maps", "--json", "--at", "end"].map(std::ffi::OsStr::new);
    let words = [&words[..], &[log.as_os_str()]].concat();
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let rows = page["rows"].as_array().expect("rows");
    let rows: Vec<_> = rows
        .iter()
        .map(|row| (row["name"].as_str().expect("a name"), row["bytes"].as_u64()))
        .collect();
    assert_eq!(rows, [("ask", Some(3 << 20))]);
}
