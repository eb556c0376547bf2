//! Many addresses of real files against binutils, how many are looked up in a second, and that
//! what is kept of them is the same: some thousand always, and 100,000 of each file with `MEMLOG_LONG=1`.

mod common;

use std::path::{Path, PathBuf};
use std::time::Instant;

use common::compare::Comparison;
use common::{all, build_id, disk, functions, llvm, spec};
use memlog_symbols::{Lookup, Options, Store, Symbolizer};

fn is_long() -> bool {
    std::env::var_os("MEMLOG_LONG").is_some()
}

/// So many addresses, spread over all functions of a file, in their order.
fn spread(file: &Path, count: usize) -> Vec<u64> {
    let functions = functions(file);
    let bytes: u64 = functions.iter().map(|symbol| symbol.size).sum();
    let step = (bytes / count as u64).max(1);
    let (mut found, mut next) = (Vec::new(), 0);
    for symbol in functions {
        let mut at = next;
        while at < symbol.size {
            found.push(symbol.begin + at);
            at += step;
        }
        next = at - symbol.size;
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// At how many a second they come: the first time, when all is known, and of what was kept of
/// them, without the file's debug information.
fn rates(file: &Path, addresses: &[u64]) {
    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, Options::default());
    let module = symbols.add_module(&spec(file));
    symbols.remember(module, None);
    let cold = timed("cold", || all(&symbols, module, addresses));
    let warm = timed("warm", || all(&symbols, module, addresses));
    assert!(warm == cold);
    let learned = symbols.learned(module).expect("names to keep");
    println!("  {} bytes are kept", learned.len());

    let store = Store::new();
    let mut symbols = Symbolizer::new(&store, disk, Options::default());
    let module = symbols.add_module(&spec(file));
    let kept = timed("kept", || {
        symbols.remember(module, Some(learned));
        all(&symbols, module, addresses)
    });
    assert!(kept == cold);
    assert!(symbols.learned(module).is_none(), "all was known");
}

/// Prints the rate. With all known it is 100,000 on any machine, if this is optimised.
fn timed(name: &str, look_up: impl FnOnce() -> Vec<Lookup>) -> Vec<Lookup> {
    let start = Instant::now();
    let found = look_up();
    let seconds = start.elapsed().as_secs_f64();
    let rate = found.len() as f64 / seconds;
    println!("  {name}: {rate:.0} addresses a second, {seconds:.2} s");
    let is_cold = name == "cold" || cfg!(debug_assertions) || !is_long();
    assert!(is_cold || rate >= 100_000.0, "{rate}");
    found
}

/// This program: Rust, with lines and inlined functions, and some C++ names.
#[test]
fn this_program() {
    let file = std::env::current_exe().unwrap();
    let count = if is_long() { 100_000 } else { 3_000 };
    let addresses = spread(&file, count);
    rates(&file, &addresses);
    let comparison = Comparison {
        module: spec(&file),
        options: Options::default(),
        reference: &file,
        tools: "",
    };
    comparison.judge(&addresses, count / 2);
}

/// The C library, whose debug information is in a file of its own, and packed by dwz.
#[test]
fn the_c_library() {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut paths = maps
        .lines()
        .filter_map(|line| line.split_whitespace().nth(5));
    let Some(file) = paths.find(|path| path.ends_with("/libc.so.6")) else {
        return println!("SKIPPED there is no libc.so.6 in this program");
    };
    let file = PathBuf::from(file);
    let id = build_id(&file);
    let hex: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
    let debug = hex.split_at_checked(2);
    let debug = debug.map(|(first, rest)| format!("/usr/lib/debug/.build-id/{first}/{rest}.debug"));
    let Some(debug) = debug.map(PathBuf::from).filter(|path| path.exists()) else {
        return println!("SKIPPED the C library has no debug file here (Debian: libc6-dbg)");
    };
    if llvm(&debug, &[]).is_none() {
        return println!("SKIPPED the C library: there is no llvm-symbolizer (Debian: llvm)");
    }
    let count = if is_long() { 100_000 } else { 3_000 };
    let addresses = spread(&debug, count);
    rates(&file, &addresses);
    let comparison = Comparison {
        module: spec(&file),
        options: Options::default(),
        reference: &debug,
        tools: "",
    };
    comparison.judge(&addresses, count / 2);
}
