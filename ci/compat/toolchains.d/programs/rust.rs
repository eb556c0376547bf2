//! Blocks of sizes that nobody else asks for, by functions whose names are known, in threads and through a panic.
use std::hint::black_box;
use std::panic;
use std::thread;

#[inline(never)]
fn innermost(size: usize) -> Vec<u8> {
    black_box(Vec::with_capacity(size))
}

#[inline(never)]
fn between(size: usize) -> usize {
    let block = innermost(size);
    black_box(block.capacity())
}

#[inline(never)]
fn by_main() {
    for _ in 0..30 {
        assert!(black_box(between(70_001)) >= 70_001);
    }
}

#[inline(never)]
fn by_thread() {
    for _ in 0..20 {
        assert!(black_box(between(70_003)) >= 70_003);
    }
}

#[inline(never)]
fn unwound() {
    let _kept = innermost(70_005);
    panic::resume_unwind(Box::new(7));
}

fn main() {
    by_main();
    let threads: Vec<_> = (0..3).map(|_| thread::spawn(by_thread)).collect();
    for one in threads {
        one.join().unwrap();
    }
    let caught = (0..5).filter(|_| panic::catch_unwind(unwound).is_err()).count();
    println!("caught {caught}");
}
