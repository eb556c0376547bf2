//! Names of code in files whose parts lie further apart in memory than in the file, as
//! LLVM's linker puts them.

use std::fmt::Write;
use std::fs;
use std::process::Command;

use crate::protobuf::{field, number, varint};
use crate::sites::build::{CLANG, GCC};
use crate::sites::{Folder, said};
use crate::{ask, rows};

/// Tells what is mapped, and where two functions would return to.
const PROGRAM: &str = r#"
#include <stdio.h>
static const char table[3000] = "some";
__attribute__((noinline, noclone)) void *first(void) { return __builtin_return_address(0); }
__attribute__((noinline, noclone)) void *caller_of_first(void) { void *at = first(); __asm__ volatile("" ::: "memory"); return at; }
__attribute__((noinline, noclone)) void *another_caller(void) { void *at = first(); __asm__ volatile("" ::: "memory"); return at; }
int main(int count, char **words)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    printf("%p %p %d\n", caller_of_first(), another_caller(), table[count] + (words == 0));
    while (fgets(line, sizeof line, maps))
        fputs(line, stdout);
    return 0;
}
"#;

/// A profile of gperftools' of these addresses.
fn heap(addresses: &[&str], maps: &str) -> String {
    let mut text = "heap profile: 2: 300 [2: 300] @ heapprofile\n".to_owned();
    for (bytes, address) in [100, 200].iter().zip(addresses) {
        writeln!(text, "1: {bytes} [1: {bytes}] @ {address}").expect("memory");
    }
    text + "\nMAPPED_LIBRARIES:\n" + maps
}

/// The same in pprof's form, whose mappings are those of code alone.
fn pprof(addresses: &[&str], maps: &str, program: &str) -> Vec<u8> {
    let hex =
        |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let mut profile = [field(1, &number(1, 2)), field(1, &number(1, 3))].concat();
    let of_code = maps
        .lines()
        .find(|line| line.ends_with(program) && line.contains("r-xp"))
        .expect("code");
    let words: Vec<_> = of_code.split_whitespace().collect();
    let (start, end) = words[0].split_once('-').expect("a range");
    let mapping = [
        number(1, 1),
        number(2, hex(start)),
        number(3, hex(end)),
        number(4, hex(words[2])),
        number(5, 4),
    ];
    profile.extend(field(3, &mapping.concat()));
    for (id, address) in (1..).zip(addresses) {
        let values = [varint(1), varint(100 * id)].concat();
        let sample = [field(1, &varint(id)), field(2, &values)].concat();
        profile.extend(field(2, &sample));
        let location = [number(1, id), number(2, 1), number(3, hex(address) - 1)];
        profile.extend(field(4, &location.concat()));
    }
    for text in ["", "x", "inuse_objects", "inuse_space", program] {
        profile.extend(field(6, text.as_bytes()));
    }
    profile
}

#[test]
fn code_has_its_names_whoever_linked_it() {
    let has_lld = Command::new("ld.lld").arg("--version").output().is_ok();
    if !has_lld {
        println!("SKIPPED imports: no ld.lld (as root: apt-get install lld)");
    }
    let lld: &[&[&str]] = &[
        &["-fuse-ld=lld", "-pie"],
        &["-fuse-ld=lld", "-no-pie"],
        &["-fuse-ld=lld", "-pie", "-Wl,-z,separate-code"],
    ];
    let gnu: &[&[&str]] = &[&["-pie"], &["-no-pie"], &["-pie", "-Wl,-z,noseparate-code"]];
    let compiler = match GCC.is_here("imports of linked programs") {
        true => &GCC,
        false if CLANG.is_here("imports of linked programs") => &CLANG,
        false => return,
    };
    let all = gnu.iter().chain(lld.iter().filter(|_| has_lld));
    for (index, options) in all.enumerate() {
        let folder = Folder::new(&format!("answers-imports-linked-{index}"));
        let source = folder.path("it.c");
        fs::write(&source, PROGRAM).expect("a source");
        let options = [&["-g", "-O1"], *options].concat();
        let program = compiler.build_file(&folder, &source, "it", &options);
        let output = folder.command(&program).output().expect("it runs");
        let told = String::from_utf8(output.stdout.clone()).expect("text");
        let (first, maps) = told
            .split_once('\n')
            .unwrap_or_else(|| panic!("{}", said(&output)));
        let addresses: Vec<_> = first.split(' ').take(2).collect();
        let of_code = maps.lines().filter(|line| line.contains("r-xp"));
        let of_code = of_code.collect::<Vec<_>>().join("\n") + "\n";
        let program = program.to_str().expect("a name");
        let files = [
            ("all.heap", heap(&addresses, maps).into_bytes()),
            ("code.heap", heap(&addresses, &of_code).into_bytes()),
            ("it.pb", pprof(&addresses, maps, program)),
        ];
        for (name, content) in files {
            let file = folder.path(name);
            fs::write(&file, content).expect("a file");
            let table = ask(&folder, &file, "table --at end");
            let found: Vec<_> = rows(&table)
                .iter()
                .map(|row| (row["name"].as_str(), row["bytes"].as_u64()))
                .collect();
            let expected = [
                (Some("another_caller"), Some(200)),
                (Some("caller_of_first"), Some(100)),
            ];
            assert_eq!(found, expected, "{options:?} {name}:\n{maps}");
        }
    }
}
