//! What a loader does to a mapped file: its pointers are relocated, and functions of
//! other files lead to one that returns, or, where their name says so, to one that
//! never does.
#![allow(unsafe_code)]
//! # Safety
//! What is written lies in private pages of a file that was mapped for a test.

use super::loaded::{Loaded, bytes_at, section};
use std::path::Path;
use std::ptr;

/// Functions that do not come back.
const NEVER: [&str; 23] = [
    "abort",
    "exit",
    "_exit",
    "_Exit",
    "__stack_chk_fail",
    "__assert_fail",
    "__chk_fail",
    "__fortify_fail",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "__longjmp_chk",
    "err",
    "errx",
    "verrx",
    "pthread_exit",
    "__libc_start_main",
    "_Unwind_Resume",
    "__cxa_throw",
    "__cxa_rethrow",
    "__cxa_bad_cast",
    "_ZSt9terminatev",
    "__cxa_call_unexpected",
];
/// `ret`, and from the second byte on `ud2`.
const STUB: [u8; 3] = [0xc3, 0x0f, 0x0b];

const WORD: u64 = 1;
const OF_DATA: u64 = 6;
const OF_CALL: u64 = 7;
const RELATIVE: u64 = 8;
const RESOLVED: u64 = 37;

const UNDEFINED: u16 = 0;
const IS_RESOLVED: u8 = 10;

/// Binds an x86_64 file; how many words were written.
pub fn bind(loaded: &Loaded, path: &Path) -> usize {
    let file = std::fs::read(path).expect("it was mapped");
    let bias = loaded.module.image.bias;
    let table = |name: &str| section(&file, name).map(|(at, size)| (bias.wrapping_add(at), size));
    let (Some(symbols), Some(names)) = (table(".dynsym"), table(".dynstr")) else {
        return 0;
    };
    let stub = stub();
    let mut bound = 0;
    for (from, size) in [".rela.dyn", ".rela.plt"].into_iter().filter_map(table) {
        for at in (from..from + size).step_by(24) {
            let [place, info, addend] = [0, 8, 16].map(|field| word(at + field));
            let value = match info & 0xffff_ffff {
                RELATIVE => bias.wrapping_add(addend),
                RESOLVED => stub,
                WORD | OF_DATA | OF_CALL => {
                    let symbol = symbols.0 + 24 * (info >> 32);
                    target(symbol, names.0, bias).unwrap_or_else(|never| stub + u64::from(never))
                }
                _ => continue,
            };
            bound += usize::from(write(bias.wrapping_add(place), value, loaded));
        }
    }
    bound
}

/// Where a symbol is, or whether one of another file never returns.
fn target(symbol: u64, names: u64, bias: u64) -> Result<u64, bool> {
    let head = bytes_at(symbol, 8);
    let kind = head[4] & 15;
    if u16::from_le_bytes([head[6], head[7]]) != UNDEFINED && kind != IS_RESOLVED {
        return Ok(bias.wrapping_add(word(symbol + 8)));
    }
    let name = names + u64::from(u32::from_le_bytes([head[0], head[1], head[2], head[3]]));
    let name: Vec<u8> = (name..)
        .map(|at| bytes_at(at, 1)[0])
        .take_while(|&byte| byte != 0)
        .collect();
    let name = String::from_utf8_lossy(&name);
    Err(NEVER.contains(&name.as_ref()) || name.contains("__throw_"))
}

fn word(at: u64) -> u64 {
    let bytes = bytes_at(at, 8);
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// A page of its own, for it is code.
fn stub() -> u64 {
    let rights = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a fresh mapping.
    let page = unsafe { libc::mmap(ptr::null_mut(), 4096, rights, flags, -1, 0) };
    assert_ne!(page, libc::MAP_FAILED);
    // SAFETY: inside it.
    unsafe { page.cast::<[u8; 3]>().write(STUB) };
    page as u64
}

/// Writes a word of the file's data; false where it is none of its.
fn write(at: u64, value: u64, loaded: &Loaded) -> bool {
    let module = &loaded.module;
    if !module.contains(at) || !module.contains(at + 7) {
        return false;
    }
    let page = at & !4095;
    let bytes = (at + 8 - page).next_multiple_of(4096) as usize;
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a private page of the file's data, which only this test has.
    let is_writable = unsafe { libc::mprotect(page as *mut _, bytes, rights) } == 0;
    if is_writable {
        // SAFETY: inside it.
        unsafe { ptr::write_unaligned(at as *mut u64, value) };
    }
    is_writable
}
