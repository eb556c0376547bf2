//! Stacks through code without unwind tables that went on on another stack than it
//! was called on, as Go's does, or in the frame of another function, as what GHC
//! makes does: whole where instructions and tables prove it, cut where something
//! only looks like it.

mod common;

use std::path::Path;
use std::process::Command;

use common::callers::{FIRST_SIZE, RecordedRun, recorded, run};
use common::tools::{Folder, skip};

/// All as the plain walk has it.
fn verified(folder: &Path, program: &Path) -> RecordedRun {
    let seen = recorded(folder, &[("MEMLOG_VERIFY", "1")], program);
    assert_eq!(seen.stats["counters"]["verify_differs"], 0);
    seen
}

#[test]
fn what_left_its_stack_is_followed_and_what_looks_like_it_is_cut() {
    let has_gcc = Command::new("gcc").arg("--version").output().is_ok();
    if std::env::consts::ARCH != "x86_64" || !has_gcc {
        return skip("switched: elsewhere no code is read, or there is no gcc");
    }
    let folder = Folder::new("switched");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/switched.c");
    let program = folder.path().join("program");
    run(Command::new("gcc")
        .args(["-O2", "-w", "-fno-omit-frame-pointer", "-o"])
        .args([&program, &source]));
    let RecordedRun { stacks, cut, .. } = verified(folder.path(), &program);
    let whole: [(u64, &[&str]); 5] = [
        (0, &["asmcall", "call_c", "once", "routine", "goexit"]),
        (
            1,
            &[
                "back",
                "call_back",
                "nested",
                "asmcall",
                "call_c",
                "routine",
                "goexit",
            ],
        ),
        (2, &["nested", "asmcall", "call_c", "routine", "goexit"]),
        (4, &["asmcall_there", "call_there", "main"]),
        (6, &["inner", "call_host", "main"]),
    ];
    for (number, wanted) in whole {
        let got = &stacks[&(FIRST_SIZE + number)];
        let is_outermost = |name: &String| !wanted.contains(&"main") || name == "_start";
        assert_eq!(got[0], "block", "{number}: {got:?}");
        assert_eq!(got[1..=wanted.len()], *wanted, "{number}: {got:?}");
        assert!(got.last().is_some_and(is_outermost), "{number}: {got:?}");
    }
    // A stack that is no routine's; a frame pointer that leads elsewhere; functions
    // that end by a jump, or jump amid their frame, where a dead call of a host lies.
    let cuts = [
        (3, "asmcall"),
        (5, "lost"),
        (7, "ends_by_jump"),
        (8, "jumps_amid"),
    ];
    for (number, last) in cuts {
        assert_eq!(stacks[&(FIRST_SIZE + number)], ["block", last], "{number}");
    }
    assert_eq!(cut, cuts.len() as u64);
}

/// Says the callers of each block as Go's own walk has them, without those of C.
const ROUTINES: &str = r#"package main

/*
#include <stdlib.h>
__attribute__((noinline)) static void *inner(long n) { return malloc(n); }
__attribute__((noinline)) static void give(void *p) { free(p); }
extern long goBack(long);
__attribute__((noinline)) static long through(long n) { return goBack(n) + 1; }
*/
import "C"
import ("fmt"; "runtime"; "sync")

var lock sync.Mutex

//go:noinline
func leaf(n int) int {
	p := C.inner(C.long(n))
	callers := make([]uintptr, 100)
	frames := runtime.CallersFrames(callers[:runtime.Callers(1, callers)])
	lock.Lock()
	fmt.Print(n)
	for more := true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		fmt.Print(" ", frame.Function)
	}
	fmt.Println()
	lock.Unlock()
	C.give(p)
	return n
}
//go:noinline
func deep(n, more int) int { if more == 0 { return leaf(n) + 1 }; return deep(n, more-1) + 1 }
//go:noinline
//export goBack
func goBack(n C.long) C.long { return C.long(deep(int(n), 2)) }
func main() {
	for i := 0; i < 20; i++ { deep(100000+i, i) }
	var all sync.WaitGroup
	for g := 0; g < 20; g++ {
		all.Add(1)
		g := g
		go func() { defer all.Done(); var room [3000]byte; room[g] = 1; deep(200000+g, g+int(room[g])); C.through(C.long(300000 + g)) }()
	}
	all.Wait()
}
"#;

#[test]
fn stacks_of_go_are_those_that_go_walks() {
    let folder = Folder::new("switched-go");
    let at = |name: &str| folder.path().join(name);
    let has_cgo = Command::new("go").args(["env", "CGO_ENABLED"]).output();
    if std::env::consts::ARCH != "x86_64" || !has_cgo.is_ok_and(|said| said.stdout == b"1\n") {
        return skip("switched: elsewhere no code is read, or there is no Go with C");
    }
    std::fs::write(at("routines.go"), ROUTINES).unwrap();
    run(Command::new("go")
        .args(["build", "-o"])
        .args([at("program"), at("routines.go")])
        .env("GOCACHE", at("cache"))
        .env("GOFLAGS", "-mod=mod"));
    let RecordedRun { said, stacks, .. } = verified(folder.path(), &at("program"));
    let is_of_go = |name: &&str| name.starts_with("main.") && !name.contains("_C");
    let mut compared = 0;
    for line in said.lines() {
        let mut words = line.split(' ');
        let size: u64 = words.next().unwrap().parse().unwrap();
        let wanted: Vec<_> = words.filter(is_of_go).collect();
        let all = &stacks[&size];
        let names = all.iter().map(String::as_str);
        let got: Vec<_> = names.filter(is_of_go).collect();
        assert_eq!(got, wanted, "{size}: {all:?}");
        let ends = ["runtime.goexit", "runtime.goexit.abi0"];
        let last = all.last().map(String::as_str).unwrap_or("");
        assert!(ends.contains(&last), "{size}: {all:?}");
        compared += 1;
    }
    assert_eq!(compared, 60);
}
