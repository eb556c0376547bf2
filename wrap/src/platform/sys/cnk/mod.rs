//! The compute node kernel of Blue Gene/Q, by the calls that it has.
//!
//! Its numbers are those of old Linux for the processor, 0 to 272, and of those
//! the 114 that do something: no openat, no clock_gettime, no prctl worth a
//! call. There is no fork. Memory is real at once, so none is reserved, and the
//! first mapping would end the growth of the program's heap, so none is made:
//! all there is lies in the program's own .bss (`memory`). A system call that
//! touches a file travels to another machine, so they are few and large.
#![allow(unsafe_code)]
//! # Safety
//! As in `linux`: calls get borrowed slices with their own lengths, C strings,
//! or ranges whose owner the caller vouches for.

mod kernel;
mod memory;
#[cfg(memlog_cnk)]
mod raw;
#[cfg(test)]
mod tests;

use kernel::{Kernel, Size};
#[cfg(memlog_cnk)]
pub use raw::Raw;

use super::call::path_of;
use super::sizes::{self, Sizes};
use super::{Errno, Fd, FileId, SinkKind, Sys, Usage, readable};
use crate::platform::text::Text;
use core::marker::PhantomData;
use core::sync::atomic::Ordering;

/// The platform, over the kernel itself or a test's.
pub struct Cnk<K: Kernel>(PhantomData<K>);

/// Counts of the time base for which a reading of the clock serves: less than a
/// tenth of a tick of the log on Blue Gene/Q, which counts 1.6 a nanosecond.
const RECENT: u64 = 100_000;
/// What memory is looked at by.
const PAGE: u64 = 4096;

/// The old call of this name.
#[cfg(target_arch = "x86_64")]
const GET_LIMIT: libc::c_long = libc::SYS_getrlimit;
#[cfg(not(target_arch = "x86_64"))]
const GET_LIMIT: libc::c_long = libc::SYS_ugetrlimit;

impl<K: Kernel> Cnk<K> {
    /// As for Linux, without waiting for what may stand there.
    fn open_as(path: &[u8], flags: libc::c_int) -> Result<Fd, Errno> {
        let harmless = libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NONBLOCK | libc::O_NOCTTY;
        let flags = (flags | harmless) as usize;
        let fd = K::call(libc::SYS_open, [path_of(path), flags, 0o600, 0, 0, 0])?;
        Ok(Fd(fd as i32))
    }

    /// Whether the page around an address can be read. A kernel that looks first at
    /// what is to be done with the signals says no more than that it is wrong; where
    /// CNK is one, all between code and stack is memory.
    fn can_read(address: u64) -> bool {
        readable::ask(address, K::call) != Err(Errno(libc::EFAULT))
    }

    fn rusage() -> libc::rusage {
        // SAFETY: all zeros is a valid rusage.
        let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
        let at = &raw mut usage as usize;
        let own = libc::RUSAGE_SELF as usize;
        let _ = K::call(libc::SYS_getrusage, [own, at, 0, 0, 0, 0]);
        usage
    }

    fn stat(number: libc::c_long, of: usize) -> Result<libc::stat, Errno> {
        // SAFETY: all zeros is a valid stat.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        let at = &raw mut stat as usize;
        K::call(number, [of, at, 0, 0, 0, 0]).map(|_| stat)
    }
}

impl<K: Kernel> Sys for Cnk<K> {
    const SINK: SinkKind = SinkKind::Written;
    const SIZES: Sizes = sizes::DENSE;
    const FIXED_BYTES: u64 = memory::BYTES as u64;
    const NAMES_BY_RANK: bool = true;

    fn memory(bytes: usize) -> *mut u8 {
        K::arena().take(bytes)
    }

    unsafe fn memory_over(at: *mut u8, bytes: usize) {
        // SAFETY: by the caller.
        unsafe { Self::zero(at, bytes) };
    }

    fn memory_wiped_on_fork(bytes: usize) -> *mut u8 {
        Self::memory(bytes)
    }

    unsafe fn zero(at: *mut u8, bytes: usize) {
        for word in 0..bytes / 8 {
            // SAFETY: by the caller, whole pages; volatile, for others may look
            // at them still, and find a word or nothing.
            unsafe { at.cast::<u64>().add(word).write_volatile(0) };
        }
    }

    unsafe fn make_writable(at: *mut u8, bytes: usize, writable: bool, has_code: bool) -> bool {
        let write = if writable { libc::PROT_WRITE } else { 0 };
        let run = if has_code { libc::PROT_EXEC } else { 0 };
        let prot = (libc::PROT_READ | write | run) as usize;
        K::call(libc::SYS_mprotect, [at as usize, bytes, prot, 0, 0, 0]).is_ok()
    }

    unsafe fn wipe_on_fork(_: *mut u8, _: usize) -> bool {
        // There is no fork that it would have to be done at.
        true
    }

    fn create(path: &[u8]) -> Result<Fd, Errno> {
        let new = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW;
        let fd = Self::open_as(path, new)?;
        let _ = K::call(libc::SYS_fchmod, [fd.0 as usize, 0o600, 0, 0, 0, 0]);
        Ok(fd)
    }

    fn create_unnamed(_: &[u8]) -> Result<Fd, Errno> {
        Err(Errno(libc::ENOSYS))
    }

    fn give_name(_: Fd, _: &[u8]) -> Result<(), Errno> {
        Err(Errno(libc::ENOSYS))
    }

    fn open(path: &[u8]) -> Result<Fd, Errno> {
        Self::open_as(path, libc::O_RDONLY)
    }

    fn open_log(path: &[u8]) -> Result<Fd, Errno> {
        Self::open_as(path, libc::O_RDWR | libc::O_NOFOLLOW)
    }

    fn read(fd: Fd, into: &mut [u8]) -> Result<usize, Errno> {
        let at = into.as_mut_ptr() as usize;
        K::call(libc::SYS_read, [fd.0 as usize, at, into.len(), 0, 0, 0])
    }

    fn readable_below(high: u64, bytes: u64) -> u64 {
        readable::below(high, bytes, PAGE, Self::can_read)
    }

    fn read_memory(at: u64, into: &mut [u8]) -> bool {
        let end = at.saturating_add(into.len() as u64);
        let mut page = at & !(PAGE - 1);
        while page < end {
            if !Self::can_read(page) {
                return false;
            }
            page += PAGE;
        }
        // SAFETY: the kernel can read it, and so can we: what a program is made
        // of stays, and its files are never unmapped where they are linked in.
        unsafe { core::ptr::copy_nonoverlapping(at as *const u8, into.as_mut_ptr(), into.len()) };
        true
    }

    fn read_at(fd: Fd, into: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let at = into.as_mut_ptr() as usize;
        let arguments = [fd.0 as usize, at, into.len(), offset as usize, 0, 0];
        K::call(libc::SYS_pread64, arguments)
    }

    fn write_at(fd: Fd, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
        let at = bytes.as_ptr() as usize;
        let arguments = [fd.0 as usize, at, bytes.len(), offset as usize, 0, 0];
        K::call(libc::SYS_pwrite64, arguments)
    }

    fn set_length(fd: Fd, bytes: u64) -> Result<(), Errno> {
        let arguments = [fd.0 as usize, bytes as usize, 0, 0, 0, 0];
        K::call(libc::SYS_ftruncate, arguments).map(|_| ())
    }

    fn limit(which: usize) -> u64 {
        let mut limit = libc::rlimit {
            rlim_cur: libc::RLIM_INFINITY,
            rlim_max: libc::RLIM_INFINITY,
        };
        let at = &raw mut limit as usize;
        match K::call(GET_LIMIT, [which, at, 0, 0, 0, 0]) {
            Ok(_) => limit.rlim_cur,
            Err(_) => libc::RLIM_INFINITY,
        }
    }

    fn identity(fd: Fd) -> Result<FileId, Errno> {
        let stat = Self::stat(libc::SYS_fstat, fd.0 as usize)?;
        Ok(FileId {
            device: stat.st_dev,
            inode: stat.st_ino,
        })
    }

    fn close(fd: Fd) {
        let _ = K::call(libc::SYS_close, [fd.0 as usize, 0, 0, 0, 0, 0]);
    }

    fn is_folder(path: &[u8]) -> bool {
        let stat = Self::stat(libc::SYS_stat, path_of(path));
        stat.is_ok_and(|stat| stat.st_mode & libc::S_IFMT == libc::S_IFDIR)
    }

    fn make_folder(path: &[u8]) -> Result<(), Errno> {
        K::call(libc::SYS_mkdir, [path_of(path), 0o700, 0, 0, 0, 0]).map(|_| ())
    }

    fn unlink(path: &[u8]) {
        let _ = K::call(libc::SYS_unlink, [path_of(path), 0, 0, 0, 0, 0]);
    }

    fn map_window(_: Fd, _: u64, _: usize, _: bool) -> Result<*mut u8, Errno> {
        Err(Errno(libc::ENOSYS))
    }

    fn make_ready(_: *mut u8, _: usize) -> Result<(), Errno> {
        Err(Errno(libc::ENOSYS))
    }

    unsafe fn unmap(_: *mut u8, _: usize) {}

    fn has_others_rights() -> bool {
        let id = |number| K::call(number, [0; 6]);
        id(libc::SYS_getuid) != id(libc::SYS_geteuid)
            || id(libc::SYS_getgid) != id(libc::SYS_getegid)
    }

    fn pid() -> u32 {
        K::call(libc::SYS_getpid, [0; 6]).unwrap_or(0) as u32
    }

    fn say(text: &[u8]) {
        let at = text.as_ptr() as usize;
        let _ = K::call(libc::SYS_write, [2, at, text.len(), 0, 0, 0]);
    }

    fn parent_pid() -> u32 {
        0
    }

    fn rank() -> Option<u64> {
        K::rank()
    }

    fn job() -> Option<u64> {
        K::job().filter(|&job| job != 0)
    }

    fn last_words(into: &mut Text<256>) {
        let told: [(&[u8], Option<u64>); 3] = [
            (b"heap at most ", K::memory_size(Size::HeapMost)),
            (b"mapped ", K::memory_size(Size::Mapped)),
            (b"stack ", K::memory_size(Size::Stack)),
        ];
        for (what, bytes) in told {
            let Some(bytes) = bytes else {
                continue;
            };
            into.push(if into.is_empty() {
                b"the kernel says at the end: "
            } else {
                b", "
            });
            into.push(what);
            into.push_number(bytes / 1024);
            into.push(b" KiB");
        }
    }

    fn tid() -> u32 {
        K::call(libc::SYS_gettid, [0; 6]).unwrap_or(0) as u32
    }

    fn is_gone(pid: u32, tid: u32) -> bool {
        let arguments = [pid as usize, tid as usize, 0, 0, 0, 0];
        K::call(libc::SYS_tgkill, arguments) == Err(Errno(libc::ESRCH))
    }

    fn exit(status: i32) {
        let _ = K::call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]);
    }

    fn relax() {
        let _ = K::call(libc::SYS_sched_yield, [0; 6]);
    }

    fn thread_name(into: &mut [u8; 16]) {
        *into = [0; 16];
    }

    fn usage() -> Usage {
        let usage = Self::rusage();
        let cpu = [usage.ru_utime, usage.ru_stime]
            .map(|time| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64);
        // The kernel's figure is what there is now, and falls when the topmost
        // mapping goes. How far its heap part has been is known apart.
        let fallen = match [Size::HeapMost, Size::Heap].map(K::memory_size) {
            [Some(most), Some(now)] => most.saturating_sub(now),
            _ => 0,
        };
        let now_kb = usage.ru_maxrss as u64 + fallen / 1024;
        let before_kb = K::figures().peak_kb.fetch_max(now_kb, Ordering::Relaxed);
        Usage {
            max_rss_kb: before_kb.max(now_kb),
            cpu_us: cpu.iter().sum(),
        }
    }

    fn rss_now_kb() -> u64 {
        Self::rusage().ru_maxrss as u64
    }

    fn high_water_kb() -> u64 {
        Self::usage().max_rss_kb
    }

    fn current_break() -> u64 {
        K::call(libc::SYS_brk, [0; 6]).unwrap_or(0) as u64
    }

    fn wall_ns() -> u64 {
        let mut now = libc::timeval {
            tv_sec: 0,
            tv_usec: 0,
        };
        let at = &raw mut now as usize;
        let _ = K::call(libc::SYS_gettimeofday, [at, 0, 0, 0, 0, 0]);
        (now.tv_sec as u64)
            .wrapping_mul(1_000_000_000)
            .wrapping_add(now.tv_usec as u64 * 1000)
    }

    fn ticks_ns() -> u64 {
        let figures = K::figures();
        let base = K::time_base();
        let read_at = figures.read_at.load(Ordering::Acquire);
        if base != 0 && read_at != 0 && base.wrapping_sub(read_at) < RECENT {
            return figures.clock_ns.load(Ordering::Relaxed);
        }
        let now = Self::wall_ns();
        let before = figures.clock_ns.fetch_max(now, Ordering::Relaxed);
        figures.read_at.store(base, Ordering::Release);
        before.max(now)
    }

    fn host(into: &mut [u8]) -> usize {
        // SAFETY: all zeros is a valid utsname.
        let mut name: libc::utsname = unsafe { core::mem::zeroed() };
        let at = &raw mut name as usize;
        if K::call(libc::SYS_uname, [at, 0, 0, 0, 0, 0]).is_err() {
            return 0;
        }
        let letters = name.nodename.iter().take_while(|&&letter| letter != 0);
        let pairs = into.iter_mut().zip(letters);
        pairs.map(|(place, &letter)| *place = letter as u8).count()
    }

    fn read_link(path: &[u8], into: &mut [u8]) -> usize {
        // For /proc/self/exe the kernel fills the buffer and says 0.
        into.fill(0);
        let buffer = into.as_mut_ptr() as usize;
        let arguments = [path_of(path), buffer, into.len(), 0, 0, 0];
        match K::call(libc::SYS_readlink, arguments) {
            Ok(0) => {
                let end = into.iter().position(|&byte| byte == 0);
                end.unwrap_or(into.len())
            }
            Ok(count) => count.min(into.len()),
            Err(_) => 0,
        }
    }

    fn working_directory(into: &mut [u8]) -> usize {
        let at = into.as_mut_ptr() as usize;
        // The kernel counts the zero byte.
        K::call(libc::SYS_getcwd, [at, into.len(), 0, 0, 0, 0])
            .unwrap_or(1)
            .saturating_sub(1)
    }

    fn complain(line: &[u8]) {
        let at = line.as_ptr() as usize;
        let _ = K::call(libc::SYS_write, [2, at, line.len(), 0, 0, 0]);
    }

    fn end_process(ask: bool) {
        let signal = if ask { libc::SIGTERM } else { libc::SIGKILL };
        let arguments = [Self::pid() as usize, signal as usize, 0, 0, 0, 0];
        let _ = K::call(libc::SYS_kill, arguments);
        if !ask {
            Self::exit(128 + 9);
        }
    }

    fn is_filtered() -> bool {
        // There are no filters, and nothing to ask by.
        false
    }

    fn was_filtered() -> bool {
        false
    }
}
