//! `memlog_replayer`: executes a file of operations (`memlog_format::operations`) by the
//! malloc that the loader finds first, and says what that took. `memlog replay` starts it,
//! with another allocator preloaded each time.
//!
//! It is no recorder, and asks nothing of its allocator but what the file says: its own
//! tables are mapped, and shared, so that they are no anonymous memory. Anonymous memory is
//! the allocator's then, but for a stack for each thread.
//!
//! * `outside`: the C library, safe
//! * `run`: what each operation does
//! * `slots`: where the blocks are
//! * `threads`: whose turn it is
//! * `resident`: resident memory, read
//! * `told`: what is printed at the end
#![no_std]

mod outside;
mod resident;
mod run;
mod slots;
mod threads;
mod told;

use core::ffi::{CStr, c_char, c_int};

use memlog_format::operations::Opened;

use run::{Mode, Run};
use told::Say;

/// An operation that cannot be read or done, or an argument that is none.
const MALFORMED: c_int = 3;
/// The system refused something.
const REFUSED: c_int = 4;

/// `memlog_replayer FD MODE LIMIT OWN`: executes the file that is open there.
///
/// MODE 1 makes the calls, 0 leaves them out. No more than LIMIT bytes are touched at a
/// time, and OWN are this program's by itself.
#[unsafe(no_mangle)]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    // SAFETY: this is how every program is started.
    let words = unsafe { core::slice::from_raw_parts(words, count.max(0) as usize) };
    let numbers = [1, 2, 3, 4].map(|at| words.get(at).and_then(|&word| number(word)));
    let [Some(file), Some(mode), Some(limit), Some(own)] = numbers else {
        return MALFORMED;
    };
    outside::end_with_parent();
    let Some(bytes) = outside::map_file(file as c_int) else {
        return REFUSED;
    };
    let Ok(opened) = Opened::of(bytes) else {
        return MALFORMED;
    };
    let mode = match mode {
        0 => Mode::Dry,
        _ => Mode::Calls,
    };
    let Some(run) = Run::new(&opened, mode, (limit, own)) else {
        return REFUSED;
    };
    let Some(run) = threads::execute(run, opened.head.threads as usize) else {
        return REFUSED;
    };
    let mut say = Say::default();
    run.tell(&mut say);
    say.end();
    match run.is_malformed() {
        true => MALFORMED,
        false => 0,
    }
}

fn number(word: *const c_char) -> Option<u64> {
    // SAFETY: an argument of a program ends with a zero byte and stays.
    let word = unsafe { CStr::from_ptr(word) };
    word.to_str().ok()?.parse().ok()
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    outside::stop(101)
}
