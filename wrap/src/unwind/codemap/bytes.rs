//! What is known of code by its bytes: return trampolines, and the outermost
//! frames of a C library that says nothing of them.

use super::RuleSource;
use crate::platform::arch;
use crate::platform::ground::Ground;
use crate::platform::sys::{Os, Sys};
use crate::unwind::exidx;
use crate::unwind::reading::Reader;
use crate::unwind::rule::Rule;
use crate::unwind::walk::Pc;

/// Bytes of code that are looked at.
const CODE_BYTES: usize = 16;

/// The code at an address, zeros where it cannot be read. Asked of the kernel:
/// between the segments of a file, behind its last instruction and where a
/// broken stack leads there need be no memory.
#[inline(never)]
pub(super) fn code_at(ground: &Ground, address: u64) -> [u8; CODE_BYTES] {
    const PAGE: u64 = 4096;
    let mut code = [0; CODE_BYTES];
    if !ground.is_quiet() {
        let there = PAGE - address % PAGE;
        let (here, beyond) = code.split_at_mut((there as usize).min(CODE_BYTES));
        for (at, part) in [(address, here), (address.wrapping_add(there), beyond)] {
            if part.is_empty() || !Os::read_memory(at, part) {
                part.fill(0);
                break;
            }
        }
    }
    code
}

/// What the call right before an address names, if one does: see there.
#[inline(never)]
pub(super) fn called_by(ground: &Ground, address: u64) -> Option<(i64, bool)> {
    let mut before = [0; arch::code::BEFORE];
    let from = address.checked_sub(before.len() as u64)?;
    if ground.is_quiet() || !Os::read_memory(from, &mut before) {
        return None;
    }
    arch::code::called(&before)
}

/// Whether a call is right before an address, of anybody.
#[inline(never)]
pub(super) fn follows_call(ground: &Ground, address: u64) -> bool {
    let mut before = [0; arch::code::LONGEST_CALL];
    let from = address.wrapping_sub(before.len() as u64);
    let is_read = !ground.is_quiet() && Os::read_memory(from, &mut before);
    is_read && arch::code::ends_in_call(&before)
}

/// Whether a call may return to an address, as far as ARM's instructions say.
#[inline(never)]
pub(super) fn is_returned_to(ground: &Ground, address: u64) -> bool {
    let mut before = [0; 4];
    let from = address.wrapping_sub(before.len() as u64);
    !ground.is_quiet() && Os::read_memory(from, &mut before) && exidx::follows_call(before)
}

/// Where a function ends or begins and nothing says that it was called from
/// there: the kernel's table for RISC-V begins with the trampoline.
#[inline(never)]
pub(super) fn unless_trampoline(
    ground: &Ground,
    pc: Pc,
    module: u32,
    source: RuleSource,
) -> RuleSource {
    match trampoline_of(&code_at(ground, pc.address())) {
        Some(rule) => RuleSource::SignalReturn(module, rule),
        None => source,
    }
}

/// Code of a module that no table describes, and where that module begins;
/// `is_bare`: it is of a C library without any. Apart, as `look_for_module`.
#[inline(never)]
pub(super) fn undescribed(
    ground: &Ground,
    pc: Pc,
    (module, entry): (u32, u64),
    is_bare: bool,
    reader: &mut Reader,
) -> RuleSource {
    let code = code_at(ground, pc.address());
    if let Some(rule) = trampoline_of(&code) {
        return RuleSource::SignalReturn(module, rule);
    }
    let is_left = !pc.is_exact();
    if is_left
        && (is_behind_entry(pc.address(), &code, entry, arch::elf::BEHIND_ENTRY)
            || arch::LAST.iter().any(|last| code.starts_with(last))
            || is_last(ground, pc.address())
            || is_bare && reader.leads_straight(pc.address(), |at| is_about_to_end(ground, at)))
    {
        return RuleSource::Outermost(module);
    }
    match is_bare {
        true => RuleSource::Bare(module, false),
        false => RuleSource::NoTables(module),
    }
}

/// Whether this code is one of those behind the last call of what a program
/// begins with.
fn is_behind_entry(address: u64, code: &[u8], entry: u64, ends: &[&[u8]]) -> bool {
    const LONGEST: u64 = 256;
    let is_there = (1..LONGEST).contains(&address.wrapping_sub(entry));
    is_there && ends.iter().any(|end| code.starts_with(end))
}

/// Whether a call leads to one of those that end the process or the thread,
/// from the code of libc that does so last.
fn leads_on(from: u64, target: i64) -> bool {
    let target = from.wrapping_add_signed(target);
    let mut endings = arch::marks::endings().into_iter();
    endings.any(|(end, mark, span)| {
        end != 0 && end == target && mark != 0 && from.abs_diff(mark) < span
    })
}

/// Whether what a call returned to here is handed to exit.
fn is_about_to_end(ground: &Ground, address: u64) -> bool {
    arch::marks::handed_to(&code_at(ground, address))
        .is_some_and(|(target, _)| leads_on(address, target))
}

/// The same, or it was right before.
fn is_last(ground: &Ground, address: u64) -> bool {
    const BEFORE: usize = arch::marks::HANDED_BYTES;
    if is_about_to_end(ground, address) {
        return true;
    }
    let from = address.wrapping_sub(BEFORE as u64);
    let before = code_at(ground, from);
    (0..BEFORE).any(|skipped| {
        let code = before.get(skipped..BEFORE).unwrap_or(&[]);
        let handed = arch::marks::handed_to(code);
        let from = from.wrapping_add(skipped as u64);
        handed.is_some_and(|(target, bytes)| bytes == code.len() && leads_on(from, target))
    })
}

/// The rule of a return trampoline that begins here.
pub(super) fn trampoline_of(code: &[u8]) -> Option<Rule> {
    let mut known = arch::TRAMPOLINES.iter();
    known
        .find(|(bytes, _)| code.starts_with(bytes))
        .map(|&(_, lower)| Rule::signal(lower))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::ground::Ground;
    use crate::tests::memory::Guarded;

    #[test]
    fn a_trampoline_goes_before_what_tables_say() {
        let (bytes, lower) = arch::TRAMPOLINES[0];
        let mut code = [0; CODE_BYTES];
        code[..bytes.len()].copy_from_slice(bytes);
        let told = |code: &[u8]| {
            let pc = Pc::returned(code.as_ptr() as u64);
            unless_trampoline(&Ground::new(), pc, 7, RuleSource::Outermost(7))
        };
        let wanted = Rule::signal(lower);
        assert!(matches!(told(&code), RuleSource::SignalReturn(7, rule) if rule == wanted));
        code[0] ^= 1;
        assert!(matches!(told(&code), RuleSource::Outermost(7)));
    }

    #[test]
    fn a_program_begins_where_its_header_says() {
        let ends = arch::mips64_elf::BEHIND_ENTRY;
        let mut code = [0; CODE_BYTES];
        code[..ends[0].len()].copy_from_slice(ends[0]);
        let is_outermost = |address| is_behind_entry(address, &code, 0x1000, ends);
        assert!(is_outermost(0x1050));
        // Loops of the program's own.
        assert!(
            ![0xff0, 0x1000, 0x1100, 0x5000]
                .into_iter()
                .any(is_outermost)
        );
        assert!(!is_behind_entry(0x1050, &[0; CODE_BYTES], 0x1000, ends));
        assert!(!is_behind_entry(0x1050, &code, 0x1000, &[]));
    }

    /// The last instruction of a segment may be a call, and nothing lie behind.
    #[test]
    fn code_ends_where_memory_does() {
        let pages = Guarded::new(0xc3);
        let end = pages.end();
        assert_eq!(code_at(&Ground::new(), end - 64), [0xc3; CODE_BYTES]);
        for there in 0..CODE_BYTES {
            let mut wanted = [0; CODE_BYTES];
            wanted[..there].fill(0xc3);
            assert_eq!(code_at(&Ground::new(), end - there as u64), wanted);
        }
        assert_eq!(code_at(&Ground::new(), 0), [0; CODE_BYTES]);
        assert_eq!(code_at(&Ground::new(), u64::MAX - 3), [0; CODE_BYTES]);
    }
}
