//! How Go's assembly calls C: on the stack of the system's thread, from which it
//! goes back to the routine's own. No table says so, its instructions do.
//!
//! ```text
//! asmcgocall, behind its call:        or, where it was on that stack already:
//!   mov  A(%rsp), %rdi   the routine    mov  B(%rsp), %rsi   its sp
//!   mov  8(%rdi), %rsi   stack's end    mov  %rsi, %rsp
//!   sub  B(%rsp), %rsi   less depth     mov  %eax, ..(%rsp)
//!   mov  %rdi, %fs:..    is current     ret
//!   mov  %rsi, %rsp
//!   mov  %eax, ..(%rsp)
//!   ret
//! ```

use crate::platform::rules::Back;

/// Bytes that are looked at behind a call.
pub const BACK_BYTES: usize = 64;
/// Bytes that are looked at around where a routine ends.
pub const END_BYTES: usize = 16;
/// How many of them lie before it.
pub const END_BEFORE: usize = 8;
/// Functions begin at multiples of this.
pub const ALIGNED: u64 = 16;
/// Bytes before a function that are looked at.
pub const FILLING_BYTES: usize = 2;

/// How the function goes back to the stack that it was called on, if this is all
/// that it does behind a call.
pub fn back(code: &[u8]) -> Option<Back> {
    const TO_SP: &[u8] = &[0x48, 0x89, 0xf4];
    const TO_ROUTINE: &[u8] = &[0x48, 0x8b, 0x7c, 0x24];
    const TO_SAVED: &[u8] = &[0x48, 0x8b, 0x74, 0x24];
    const STACKS_END: &[u8] = &[0x48, 0x8b, 0x77, 0x08];
    const LESS: &[u8] = &[0x48, 0x2b, 0x74, 0x24];
    if let Some(code) = code.strip_prefix(TO_SAVED) {
        let (at, code) = words(code)?;
        stores_result_and_returns(code.strip_prefix(TO_SP)?)?;
        return Some(Back::Saved { at });
    }
    let code = without_place(code).strip_prefix(TO_ROUTINE)?;
    let (routine, code) = words(code)?;
    let code = code.strip_prefix(STACKS_END)?.strip_prefix(LESS)?;
    let (depth, code) = words(code)?;
    stores_result_and_returns(current(code)?.strip_prefix(TO_SP)?)?;
    Some(Back::Routine { routine, depth })
}

/// A distance of a byte, in words.
fn words(code: &[u8]) -> Option<(u8, &[u8])> {
    let (&distance, code) = code.split_first()?;
    let is_one = distance.is_multiple_of(8) && distance < 0x80;
    is_one.then_some((distance / 8, code))
}

/// Past `mov ..(%rip), %rcx` or `mov $.., %rcx`: where a thread's word is.
fn without_place(code: &[u8]) -> &[u8] {
    let behind = match code {
        [0x48, 0x8b, 0x0d, ..] | [0x48, 0xc7, 0xc1, ..] => code.get(7..),
        _ => None,
    };
    behind.unwrap_or(code)
}

/// Past the store of rdi in a thread's word.
fn current(code: &[u8]) -> Option<&[u8]> {
    match without_place(code) {
        [0x64, 0x48, 0x89, 0x3c, 0x25, ..] => without_place(code).get(9..),
        [0x64, 0x48, 0x89, 0x39, rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Whether the result is stored and the function returns.
fn stores_result_and_returns(code: &[u8]) -> Option<()> {
    matches!(code, [0x89, 0x44, 0x24, _, 0xc3, ..]).then_some(())
}

/// Whether a routine ends where these bytes are, `END_BEFORE` of which lie before:
/// behind the first instruction of a function, which is no call.
///
/// ```text
/// goexit:  nop
///          call goexit1       the routine's first frame returns to here
///          nop
/// ```
pub fn is_routines_end(address: u64, code: &[u8; END_BYTES]) -> bool {
    const NOP: u8 = 0x90;
    let (before, code) = code.split_at(END_BEFORE);
    let begins = matches!(before, [.., 0xcc | 0xc3, NOP]) && address % ALIGNED == 1;
    begins && matches!(code, [0xe8, _, _, _, _, NOP, ..])
}

/// Whether these bytes fill what a function leaves free before the next one.
pub fn is_filling(before: &[u8; FILLING_BYTES]) -> bool {
    *before == [0xcc; FILLING_BYTES]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Go 1.19 has them.
    const ASKED: &[u8] = &[
        0x48, 0x8b, 0x7c, 0x24, 0x30, 0x48, 0x8b, 0x77, 0x08, 0x48, 0x2b, 0x74, 0x24, 0x28, 0x64,
        0x48, 0x89, 0x3c, 0x25, 0xf8, 0xff, 0xff, 0xff, 0x48, 0x89, 0xf4, 0x89, 0x44, 0x24, 0x18,
        0xc3,
    ];
    const THERE: &[u8] = &[
        0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4, 0x89, 0x44, 0x24, 0x18, 0xc3,
    ];

    #[test]
    fn the_way_back_is_what_the_instructions_say() {
        let routine = Back::Routine {
            routine: 6,
            depth: 5,
        };
        assert_eq!(back(ASKED), Some(routine));
        assert_eq!(back(THERE), Some(Back::Saved { at: 5 }));
        // In a library the place of the thread's word is looked up.
        let store = [0x64, 0x48, 0x89, 0x39];
        for place in [
            [0x48, 0x8b, 0x0d, 1, 2, 3, 4],
            [0x48, 0xc7, 0xc1, 1, 2, 3, 4],
        ] {
            let late = [&ASKED[..14], &place, &store, &ASKED[23..]].concat();
            assert_eq!(back(&late), Some(routine));
            let early = [&place, &ASKED[..14], &store, &ASKED[23..]].concat();
            assert_eq!(back(&early), Some(routine));
        }
    }

    #[test]
    fn whatever_else_they_say_is_no_way_back() {
        for code in [ASKED, THERE] {
            for length in 0..code.len() {
                assert_eq!(back(&code[..length]), None, "torn at {length}");
            }
            for (at, bit) in (0..code.len()).flat_map(|at| [(at, 1), (at, 8), (at, 0x80)]) {
                let mut other = code.to_vec();
                other[at] ^= bit;
                let is_number = match code.len() {
                    13 => [4, 11].contains(&at),
                    _ => [4, 13, 19, 20, 21, 22, 29].contains(&at),
                };
                assert!(back(&other).is_none() || is_number, "{at} {bit}");
            }
        }
    }

    #[test]
    fn a_routine_ends_behind_the_first_byte_of_a_function() {
        let code = |text: &[u8]| <[u8; END_BYTES]>::try_from(text).unwrap();
        let end = [
            0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc, 0x90, 0xe8, 1, 2, 3, 4, 0x90, 0xcc, 0xcc,
        ];
        assert!(is_routines_end(0x1001, &code(&end)));
        assert!(!is_routines_end(0x1002, &code(&end)), "in a function");
        for at in [6, 7, 8, 13] {
            let mut other = end;
            other[at] ^= 1;
            assert!(!is_routines_end(0x1001, &code(&other)), "{at}");
        }
    }
}
