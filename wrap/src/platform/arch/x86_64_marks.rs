//! Names of libc that may be missing in it, and the code that hands what a call
//! returned to one of them.

unsafe extern "C" {
    /// Where exit, pthread_exit, __libc_start_main, pthread_create, __environ,
    /// _r_debug and _dl_debug_addr lie in this program, 0 for what it has not.
    /// Only once relocations are done.
    fn memlog_libc_marks(marks: *mut [u64; 7]);
}

fn marks() -> [u64; 7] {
    let mut marks = [0; 7];
    // SAFETY: a function of the assembly, which fills seven words.
    unsafe { memlog_libc_marks(&raw mut marks) };
    marks
}

/// The functions that the outermost frames of a process and of its threads call
/// last; each with the function of libc that those frames lie beside, and how
/// far from its beginning at most.
pub fn endings() -> [(u64, u64, u64); 2] {
    let [exit, thread_exit, start, create, ..] = marks();
    [(exit, start, 128), (thread_exit, create, 512)]
}

/// Where libc keeps the address of the environment, or 0.
pub fn environment() -> u64 {
    let [.., environment, _, _] = marks();
    environment
}

/// What the loader tells debuggers: where it is, and where its address is; 0
/// for what this loader has not.
pub fn loader_debug() -> (u64, u64) {
    let [.., debug, address] = marks();
    (debug, address)
}

/// Bytes of the longest `HANDS_ON` and the call behind it.
pub const HANDED_BYTES: usize = 3 + CALL_BYTES;
const CALL_BYTES: usize = 5;
/// `mov %rax, %rdi`, `movslq %eax, %rdi` and `mov %eax, %edi`.
const HANDS_ON: [&[u8]; 3] = [&[0x48, 0x89, 0xc7], &[0x48, 0x63, 0xf8], &[0x89, 0xc7]];

/// Whom this code calls with what a call before it returned, if that is all it
/// does; from its beginning, how far, and how many bytes it is.
pub fn handed_to(code: &[u8]) -> Option<(i64, usize)> {
    const CALL: u8 = 0xe8;
    HANDS_ON.iter().find_map(|hands_on| {
        let (&opcode, distance) = code.strip_prefix(*hands_on)?.split_first()?;
        let distance = i32::from_le_bytes(*distance.first_chunk()?);
        let bytes = hands_on.len() + CALL_BYTES;
        let target = i64::from(distance).wrapping_add(bytes as i64);
        (opcode == CALL).then_some((target, bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::handed_to;

    #[test]
    fn a_result_is_handed_on_by_a_move_and_a_call() {
        let call = [0xe8, 0x10, 0, 0, 0];
        for hands_on in super::HANDS_ON {
            let code = [hands_on, &call].concat();
            let bytes = code.len();
            assert_eq!(handed_to(&code), Some((0x10 + bytes as i64, bytes)));
            let back = [hands_on, &[0xe8, 0xf0, 0xff, 0xff, 0xff]].concat();
            assert_eq!(handed_to(&back), Some((bytes as i64 - 0x10, bytes)));
            assert_eq!(handed_to(&code[..bytes - 1]), None, "torn");
        }
        let jump = [0x89, 0xc7, 0xe9, 0x10, 0, 0, 0, 0];
        let other = [0x89, 0xc6, 0xe8, 0x10, 0, 0, 0, 0];
        let later = [0x89, 0xc7, 0x90, 0xe8, 0x10, 0, 0, 0];
        for code in [jump, other, later, [0; 8]] {
            assert_eq!(handed_to(&code), None);
        }
    }
}
