//! Which signals wait for a thread.

#[cfg(not(memlog_cnk))]
use super::call::call;

/// The kernel's signals are 64, and 128 on MIPS.
const SIGNAL_BYTES: usize = if cfg!(target_arch = "mips64") { 16 } else { 8 };
/// The same in words.
pub const SIGNAL_WORDS: usize = SIGNAL_BYTES / size_of::<usize>();
/// A set of signals, as the kernel has it.
pub type Signals = [usize; SIGNAL_WORDS];

/// All signals but those that say what the thread itself did just now: kept
/// from it they end the process.
#[cfg(not(memlog_cnk))]
pub const HELD: Signals = {
    let own = [
        libc::SIGSEGV,
        libc::SIGBUS,
        libc::SIGFPE,
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGSYS,
        libc::SIGABRT,
    ];
    let mut set = [usize::MAX; SIGNAL_WORDS];
    let mut at = 0;
    while at < own.len() {
        let bit = own[at] as usize - 1;
        set[bit / usize::BITS as usize] &= !(1 << (bit % usize::BITS as usize));
        at += 1;
    }
    set
};

/// Sets which signals wait; which did before.
#[cfg(not(memlog_cnk))]
pub fn swap(set: &Signals, before: Option<&mut Signals>) {
    let how = libc::SIG_SETMASK as usize;
    let before = before.map_or(0, |before| before as *mut Signals as usize);
    let set = set as *const Signals as usize;
    let _ = call(
        libc::SYS_rt_sigprocmask,
        [how, set, before, SIGNAL_BYTES, 0, 0],
    );
}
