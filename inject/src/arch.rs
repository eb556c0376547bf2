//! What a stopped thread has in its registers, and ptrace itself. x86_64 alone: all that
//! is known here of a processor.
#![allow(unsafe_code)]
//! # Safety
//! Each call hands the kernel a place of the size that it writes or reads.

use std::io;

/// The registers.
#[derive(Clone, Copy)]
pub struct Registers(Raw);

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
type Raw = libc::user_regs_struct;
#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
type Raw = [u64; 27];

/// Whether all this is known of the processor that memlog is built for.
pub const IS_KNOWN: bool = cfg!(all(target_os = "linux", target_arch = "x86_64"));

/// What ptrace is asked for. The C libraries give these numbers different types.
pub mod request {
    pub const POKE: u32 = 5;
    pub const GO_ON: u32 = 7;
    pub const GET: u32 = 12;
    pub const SET: u32 = 13;
    pub const DETACH: u32 = 17;
    pub const TO_CALL: u32 = 24;
    pub const SEIZE: u32 = 0x4206;
    pub const INTERRUPT: u32 = 0x4207;
    pub const GET_MASK: u32 = 0x420a;
    pub const SET_MASK: u32 = 0x420b;
    pub const GET_SEQUENCE: u32 = 0x420f;
    pub const GET_DISPATCH: u32 = 0x4210;
}

/// ptrace(2), for what takes and gives plain numbers.
pub fn trace(request: u32, tid: u32, address: u64, data: u64) -> io::Result<()> {
    // SAFETY: by the callers in this file and in `threads`, which give addresses of
    // another process, numbers, or places that are large enough.
    let result = unsafe { libc::ptrace(request as _, tid as libc::pid_t, address, data) };
    match result {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// Writes a word, whatever the rights of its page.
pub fn poke(tid: u32, at: u64, word: u64) -> io::Result<()> {
    trace(request::POKE, tid, at, word)
}

/// The signals that a thread does not take for now.
pub fn mask(tid: u32) -> io::Result<u64> {
    let mut mask = 0u64;
    trace(request::GET_MASK, tid, 8, &raw mut mask as u64)?;
    Ok(mask)
}

/// Where the kernel is told of a thread's sequence that is to begin anew when it is
/// interrupted (rseq), if it is told of any.
pub fn sequence(tid: u32) -> Option<u64> {
    let mut told = [0u64; 3];
    let bytes = size_of_val(&told) as u64;
    trace(request::GET_SEQUENCE, tid, bytes, told.as_mut_ptr() as u64).ok()?;
    Some(told[0]).filter(|&at| at != 0)
}

/// Whether the kernel hands a thread's system calls back to the program.
pub fn is_dispatched(tid: u32) -> bool {
    let mut told = [0u64; 4];
    let bytes = size_of_val(&told) as u64;
    let asked = trace(request::GET_DISPATCH, tid, bytes, told.as_mut_ptr() as u64);
    asked.is_ok() && told[0] != 0
}

/// Sets them.
pub fn set_mask(tid: u32, mask: u64) -> io::Result<()> {
    trace(request::SET_MASK, tid, 8, &raw const mask as u64)
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod here {
    use super::{Raw, Registers, request, trace};
    use std::io;

    /// An instruction that makes a system call.
    pub const SYSTEM_CALL: [u8; 2] = [0x0f, 0x05];

    pub mod number {
        pub const MPROTECT: u64 = 10;
        pub const MMAP: u64 = 9;
        pub const MUNMAP: u64 = 11;
        pub const PRCTL: u64 = 157;
    }

    const EINTR: i64 = -4;
    /// Begin again, unless a handler of a signal runs first.
    const AGAIN: u64 = -514i64 as u64;
    /// Calls that only wait: read write readv writev connect accept sendto recvfrom
    /// sendmsg recvmsg semop msgsnd msgrcv rt_sigtimedwait futex io_getevents semtimedop
    /// epoll_wait epoll_pwait accept4 recvmmsg sendmmsg io_pgetevents io_uring_enter
    /// epoll_pwait2 sendfile splice. Those that say EINTR themselves when their thread was stopped
    /// have done nothing by then.
    const WAITS: [u64; 27] = [
        0, 1, 19, 20, 42, 43, 44, 45, 46, 47, 65, 69, 70, 128, 202, 208, 220, 232, 281, 288, 299,
        307, 333, 426, 441, 40, 275,
    ];
    /// Calls that say how much they did when they are stopped amid it: write pwrite64 writev
    /// sendto sendmsg sendfile splice vmsplice pwritev sendmmsg pwritev2.
    const CUT: [u64; 11] = [1, 18, 20, 44, 46, 40, 275, 278, 296, 307, 328];
    /// Calls with a time limit that go on by another one: poll nanosleep futex
    /// restart_syscall clock_nanosleep.
    const RESTARTED: [u64; 5] = [7, 35, 202, 219, 230];
    const RECVFROM: u64 = 45;
    const RECVMSG: u64 = 47;

    /// Whether a call that waits says how much it has done so far when it is stopped.
    pub fn is_cut_short(number: u64, given: &[u64; 6]) -> bool {
        let all = |flags: u64| flags & libc::MSG_WAITALL as u64 != 0;
        match number {
            RECVFROM => all(given[3]),
            RECVMSG => all(given[2]),
            _ => CUT.contains(&number),
        }
    }

    /// Whether a call goes on by another one when it was stopped.
    pub fn is_restarted(number: u64) -> bool {
        RESTARTED.contains(&number)
    }

    impl Registers {
        /// Reads them.
        pub fn of(tid: u32) -> io::Result<Self> {
            // SAFETY: plain integers, for which all zeros is a value.
            let mut raw: Raw = unsafe { std::mem::zeroed() };
            trace(request::GET, tid, 0, &raw mut raw as u64)?;
            Ok(Self(raw))
        }

        /// Sets them.
        pub fn set(&self, tid: u32) -> io::Result<()> {
            let raw = &raw const self.0 as u64;
            trace(request::SET, tid, 0, raw)
        }

        /// Where it is.
        pub fn pc(&self) -> u64 {
            self.0.rip
        }

        /// Where the C library keeps what it knows of the thread.
        pub fn thread(&self) -> u64 {
            self.0.fs_base
        }

        /// As they are to be for a system call at this instruction.
        #[must_use]
        pub fn calling(&self, pc: u64, number: u64, arguments: [u64; 6]) -> Self {
            let mut raw = self.0;
            let [a, b, c, d, e, f] = arguments;
            (raw.rip, raw.rax, raw.orig_rax) = (pc, number, u64::MAX);
            (raw.rdi, raw.rsi, raw.rdx) = (a, b, c);
            (raw.r10, raw.r8, raw.r9) = (d, e, f);
            Self(raw)
        }

        /// What the call came to.
        pub fn result(&self) -> i64 {
            self.0.rax as i64
        }

        /// If the thread was stopped in a call that only waits, and that call would say
        /// so to the program: as they are to be for the kernel to begin it again.
        pub fn waiting_again(&self) -> Option<Self> {
            let number = self.0.orig_rax;
            let is_told = self.0.rax as i64 == EINTR && WAITS.contains(&number);
            is_told.then(|| {
                let mut raw = self.0;
                raw.rax = AGAIN;
                Self(raw)
            })
        }

        /// Whether it is right behind an instruction, by the two bytes before it.
        pub fn before(&self) -> u64 {
            self.0.rip.wrapping_sub(2)
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
mod here {
    use super::Registers;
    use std::io;

    pub const SYSTEM_CALL: [u8; 2] = [0; 2];

    pub mod number {
        pub const MPROTECT: u64 = 0;
        pub const MMAP: u64 = 0;
        pub const MUNMAP: u64 = 0;
        pub const PRCTL: u64 = 0;
    }

    pub fn is_cut_short(_: u64, _: &[u64; 6]) -> bool {
        false
    }
    pub fn is_restarted(_: u64) -> bool {
        false
    }

    /// Never called: `checks` refuses first.
    impl Registers {
        pub fn of(_: u32) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }
        pub fn set(&self, _: u32) -> io::Result<()> {
            Err(io::ErrorKind::Unsupported.into())
        }
        pub fn pc(&self) -> u64 {
            self.0[0]
        }
        pub fn thread(&self) -> u64 {
            self.0[0]
        }
        #[must_use]
        pub fn calling(&self, _: u64, _: u64, _: [u64; 6]) -> Self {
            *self
        }
        pub fn result(&self) -> i64 {
            self.0[0] as i64
        }
        pub fn waiting_again(&self) -> Option<Self> {
            None
        }
        pub fn before(&self) -> u64 {
            self.0[0]
        }
    }
}

pub use here::{SYSTEM_CALL, is_cut_short, is_restarted, number};
