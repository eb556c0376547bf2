//! The filter, as the kernel's classic BPF.
//!
//! ```text
//! another processor's call        kill
//! on the list                     allow; clone, mmap, getrusage, prctl, execve
//!                                 only with the arguments that CNK takes
//! what libc asks at its start     ENOSYS, which libc expects of old kernels
//! anything else                   ENOSYS, or kill
//! ```

use libc::{sock_filter, sock_fprog};

/// CNK's calls, and what stands for each on x86_64.
const LIST: &str = include_str!("../../../wrap/src/platform/sys/cnk/calls.txt");

/// Calls beyond the list without which nothing runs here: the thread pointer is
/// a register that only the kernel sets, and our own start.
const NEEDED: [libc::c_long; 1] = [libc::SYS_arch_prctl];

/// What glibc 2.36 tries first, and does without: never a reason to kill.
const TRIED: [libc::c_long; 11] = [
    libc::SYS_set_robust_list,
    libc::SYS_prlimit64,
    libc::SYS_getrandom,
    libc::SYS_openat,
    libc::SYS_newfstatat,
    libc::SYS_rseq,
    libc::SYS_clone3,
    libc::SYS_readlinkat,
    libc::SYS_sigaltstack,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
];

const AUDIT_ARCH_X86_64: u32 = 0xc000_003e;
/// Calls of the x32 interface have this bit.
const X32_BIT: u32 = 0x4000_0000;

/// Places in `struct seccomp_data`.
const NUMBER_AT: u32 = 0;
const ARCH_AT: u32 = 4;
const fn argument_at(index: u32) -> u32 {
    16 + 8 * index
}

/// The flags that a thread must have, all of them and no others, but for the
/// two that may be missing: the thread pointer, and one that means nothing any
/// more and that today's libc leaves out.
const THREAD: libc::c_int = libc::CLONE_VM
    | libc::CLONE_FS
    | libc::CLONE_FILES
    | libc::CLONE_SIGHAND
    | libc::CLONE_THREAD
    | libc::CLONE_SYSVSEM
    | libc::CLONE_PARENT_SETTID
    | libc::CLONE_CHILD_CLEARTID;
const MAY_BE: libc::c_int = libc::CLONE_SETTLS | libc::CLONE_DETACHED;

/// What happens to a call that is not on the list.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// It is not there.
    Refuse,
    /// The process is killed, so that nothing goes unseen.
    Kill,
}

/// A program for the kernel.
pub struct Filter(Vec<sock_filter>);

impl Filter {
    /// CNK's; `image` is the address of the one path that execve may have.
    pub fn new(strictness: Strictness, image: u64) -> Self {
        let denied = match strictness {
            Strictness::Refuse => errno(libc::ENOSYS),
            Strictness::Kill => libc::SECCOMP_RET_KILL_PROCESS,
        };
        let mut filter = Self(Vec::new());
        filter.load(ARCH_AT);
        filter.unless_equal(AUDIT_ARCH_X86_64, libc::SECCOMP_RET_KILL_PROCESS);
        filter.load(NUMBER_AT);
        filter.if_any(X32_BIT, libc::SECCOMP_RET_KILL_PROCESS);
        filter.checked(libc::SYS_execve, |filter| {
            filter.argument_is(0, image, errno(libc::ENOSYS));
        });
        filter.checked(libc::SYS_clone, |filter| {
            filter.load(argument_at(0));
            filter.and(!(MAY_BE as u32));
            filter.unless_equal(THREAD as u32, errno(libc::EINVAL));
        });
        filter.checked(libc::SYS_mmap, |filter| {
            filter.load(argument_at(3));
            filter.if_any(libc::MAP_SHARED as u32, errno(libc::ENOSYS));
            filter.if_any(libc::MAP_GROWSDOWN as u32, errno(libc::ENOMEM));
            filter.unless_any(libc::MAP_PRIVATE as u32, errno(libc::EINVAL));
        });
        filter.checked(libc::SYS_getrusage, |filter| {
            filter.load(argument_at(0));
            filter.unless_equal(libc::RUSAGE_SELF as u32, errno(libc::EINVAL));
        });
        filter.checked(libc::SYS_prctl, |filter| {
            const PR_SET_FPEXC: u32 = 12;
            filter.load(argument_at(0));
            filter.unless_equal(PR_SET_FPEXC, denied);
        });
        for number in listed().chain(NEEDED) {
            filter.if_equal(number as u32, libc::SECCOMP_RET_ALLOW);
        }
        for number in TRIED {
            filter.if_equal(number as u32, errno(libc::ENOSYS));
        }
        filter.give(denied);
        filter
    }

    /// As the kernel takes it.
    pub fn program(&mut self) -> sock_fprog {
        sock_fprog {
            len: self.0.len() as u16,
            filter: self.0.as_mut_ptr(),
        }
    }

    /// For this call the checks, which allow what they do not refuse.
    fn checked(&mut self, number: libc::c_long, checks: impl FnOnce(&mut Self)) {
        let mut inside = Self(Vec::new());
        checks(&mut inside);
        inside.give(libc::SECCOMP_RET_ALLOW);
        let over = inside.0.len() as u8;
        self.jump(libc::BPF_JEQ, number as u32, 0, over);
        self.0.append(&mut inside.0);
    }

    /// Whether all of a pointer is this.
    fn argument_is(&mut self, index: u32, value: u64, otherwise: u32) {
        // Little-endian: the lower half first.
        for (at, half) in [(0, value as u32), (4, (value >> 32) as u32)] {
            self.load(argument_at(index) + at);
            self.unless_equal(half, otherwise);
        }
    }

    fn load(&mut self, at: u32) {
        self.put(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at, 0, 0);
    }

    fn and(&mut self, mask: u32) {
        self.put(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, mask, 0, 0);
    }

    fn if_equal(&mut self, value: u32, result: u32) {
        self.jump(libc::BPF_JEQ, value, 0, 1);
        self.give(result);
    }

    fn unless_equal(&mut self, value: u32, result: u32) {
        self.jump(libc::BPF_JEQ, value, 1, 0);
        self.give(result);
    }

    fn if_any(&mut self, bits: u32, result: u32) {
        self.jump(libc::BPF_JSET, bits, 0, 1);
        self.give(result);
    }

    fn unless_any(&mut self, bits: u32, result: u32) {
        self.jump(libc::BPF_JSET, bits, 1, 0);
        self.give(result);
    }

    fn give(&mut self, result: u32) {
        self.put(libc::BPF_RET | libc::BPF_K, result, 0, 0);
    }

    fn jump(&mut self, how: u32, value: u32, if_so: u8, if_not: u8) {
        self.put(libc::BPF_JMP | how | libc::BPF_K, value, if_so, if_not);
    }

    fn put(&mut self, code: u32, k: u32, jt: u8, jf: u8) {
        let code = code as u16;
        self.0.push(sock_filter { code, jt, jf, k });
    }
}

const fn errno(error: libc::c_int) -> u32 {
    libc::SECCOMP_RET_ERRNO | error as u32
}

/// The numbers of the list here.
pub fn listed() -> impl Iterator<Item = libc::c_long> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_the_kernels() {
        let numbers: Vec<_> = listed().collect();
        assert!(numbers.len() > 100, "{}", numbers.len());
        for there in [libc::SYS_open, libc::SYS_pwrite64, libc::SYS_gettimeofday] {
            assert!(numbers.contains(&there));
        }
        for absent in TRIED
            .into_iter()
            .chain([libc::SYS_fork, libc::SYS_process_vm_readv])
        {
            assert!(!numbers.contains(&absent), "{absent}");
        }
    }
}
