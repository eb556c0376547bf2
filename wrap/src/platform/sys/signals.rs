//! Which signals wait for a thread.

#[cfg(not(memlog_cnk))]
use super::call::call;

const IS_MIPS: bool = cfg!(target_arch = "mips64");
/// The kernel's signals are 64, and 128 on MIPS.
const SIGNAL_BYTES: usize = if IS_MIPS { 16 } else { 8 };
/// The same in words.
pub const SIGNAL_WORDS: usize = SIGNAL_BYTES / size_of::<usize>();
/// A set of signals, as the kernel has it.
pub type Signals = [usize; SIGNAL_WORDS];

/// All signals but those that say what the thread itself did just now: kept
/// from it they end the process.
#[cfg(not(memlog_cnk))]
pub const HELD: Signals = {
    // libc has other machines' numbers for MIPS.
    let (bus, sys) = if IS_MIPS {
        (10, 12)
    } else {
        (libc::SIGBUS, libc::SIGSYS)
    };
    let own = [
        libc::SIGILL,
        libc::SIGTRAP,
        libc::SIGABRT,
        libc::SIGFPE,
        libc::SIGSEGV,
        bus,
        sys,
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
    let how = if IS_MIPS { 3 } else { libc::SIG_SETMASK } as usize;
    let before = before.map_or(0, |before| before as *mut Signals as usize);
    let set = set as *const Signals as usize;
    let _ = call(
        libc::SYS_rt_sigprocmask,
        [how, set, before, SIGNAL_BYTES, 0, 0],
    );
}

#[cfg(all(test, not(memlog_cnk)))]
mod tests {
    use crate::platform::sys::{Os, Sys};

    fn waits(signal: i32) -> bool {
        // SAFETY: all zeros is a valid set, which is written to.
        let mut set: libc::sigset_t = unsafe { core::mem::zeroed() };
        // SAFETY: the set is ours; no other is given.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, core::ptr::null(), &raw mut set) };
        // SAFETY: as above.
        unsafe { libc::sigismember(&raw const set, signal) == 1 }
    }

    #[test]
    fn signals_wait_and_come_again() {
        let before = Os::hold_signals();
        assert!(waits(libc::SIGALRM) && waits(libc::SIGTERM) && waits(libc::SIGCHLD));
        for own in [libc::SIGSEGV, libc::SIGBUS, libc::SIGABRT, libc::SIGSYS] {
            assert!(!waits(own), "{own}");
        }
        let inner = Os::hold_signals();
        Os::let_signals(&inner);
        assert!(waits(libc::SIGALRM), "who held them first lets them go");
        Os::let_signals(&before);
        assert!(!waits(libc::SIGALRM) && !waits(libc::SIGTERM));
    }
}
