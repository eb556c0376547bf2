//! Logs made by hand: an ordinary one and all sorts of odd ones.

use memlog_format::counter::Counter;
use memlog_format::ext::Mapping;
use memlog_format::table::StackId;

use crate::recipe::{LIBRARY, PROGRAM, Recipe};

/// `victims/sites.c`, its blocks fewer.
pub fn sites() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    let main = [PROGRAM + 0x10D1, LIBRARY + 0x2_7305, PROGRAM + 0x109B];
    let mut site = |grow: u64, site: u64| {
        let stack = [&main[..], &[PROGRAM + grow, PROGRAM + site]].concat();
        log.stack(StackId::COMPLETE, &stack)
    };
    let epsilon = site(0x1315, 0x12B3);
    let gamma = site(0x1335, 0x1213);
    let beta = site(0x1355, 0x11EE);
    let delta = site(0x1367, 0x1250);
    let alpha = site(0x1385, 0x11AE);
    let leaks = [&main[..2], &[PROGRAM + 0x10A8, PROGRAM + 0x1399]].concat();
    let leak = log.stack(StackId::COMPLETE, &leaks);

    log.read_rss(1_500);
    log.allocate(epsilon, 32, 65_536);
    let gammas = log.allocate(gamma, 20, 10_000);
    log.time(10);
    let betas = log.allocate(beta, 1_000, 48);
    let grown = log.allocate(delta, 1, 16 << 20);
    log.time(40);
    let alphas = log.allocate(alpha, 64, 1 << 20);
    log.read_rss(93_400);
    log.time(50);
    for blocks in [
        &alphas,
        &grown,
        &betas[100..].to_vec(),
        &gammas[5..].to_vec(),
    ] {
        log.release(blocks);
    }
    log.allocate(leak, 10, 4_096);
    log.time(60);
    log
}

/// All that is odd: recursion by itself and through another, stacks that are
/// cut or missing, blocks of no bytes, lost events, a ledger, and names that
/// would break a page which believes them.
pub fn odd() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/lib\"q\\n\n&lt;\xFF.so");
    let (main, left, right) = (PROGRAM + 0x1100, PROGRAM + 0x1200, PROGRAM + 0x1300);
    let deep = [main, left, left, left, right, left, right];
    for depth in 1..=deep.len() {
        let stack = log.stack(StackId::COMPLETE, &deep[..depth]);
        log.allocate(stack, 1, 1_000 * depth as u64);
    }
    let library = log.stack(StackId::COMPLETE, &[main, LIBRARY + 0x10, LIBRARY + 0x20]);
    log.allocate(library, 3, 700);
    let cut = log.stack(StackId::CUT_TOO_DEEP, &[left, right]);
    log.allocate(cut, 2, 2_500);
    log.allocate(StackId::NONE, 1, 999);
    let nothing = log.stack(StackId::COMPLETE, &[main, PROGRAM + 0x1400]);
    log.allocate(nothing, 5, 0);
    let (old_end, end) = (HEAP_END, HEAP_END + 0x2_1000);
    log.map(0, true, Mapping::Break { old_end, end });
    let address = 0x7FFF_E800_0000;
    log.map(
        1,
        false,
        Mapping::Map {
            address,
            length: 1 << 20,
            prot: 3,
            flags: 0x22,
        },
    );
    log.time(7);
    log.read_rss(2_000);
    log.set(Counter::LostNoRoom, 12);
    log
}

const HEAP_END: u64 = 0x5555_5578_C000;

/// A program that allocated nothing.
pub fn empty() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    log.time(3);
    log.read_rss(1_234);
    log
}

/// One whose resident memory nobody read.
pub fn blind() -> Recipe {
    let mut log = Recipe::new(b"/nowhere/libc.so.6");
    let stack = log.stack(StackId::COMPLETE, &[PROGRAM + 0x1100]);
    log.time(2);
    log.allocate(stack, 2, 3_000);
    log
}
