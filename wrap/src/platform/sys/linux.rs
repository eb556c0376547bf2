//! Linux, by raw system calls: no libc wrapper, for those set errno, may be
//! cancellation points, and may be somebody's hook.
#![allow(unsafe_code)]
//! # Safety
//! Raw system calls are as safe as their arguments: each wrapper passes
//! either borrowed slices with their own lengths, zero-terminated paths
//! (asserted by `path_of`), or ranges whose owner the caller vouches for.

use super::call::{call, path_of};
use super::field::Field;
use super::signals::{self, SIGNAL_WORDS, Signals};
use super::sizes::{self, Sizes};
use super::{Errno, Fd, FileId, Sys, Usage, files, mapped, own_memory, width};
use crate::platform::text::{Text, decimal};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Whether there was a filter when that was asked last. Managers of services kill
/// for calls on another's memory, which their programs have no need of; files are
/// opened by all.
static FILTERED: AtomicBool = AtomicBool::new(false);

/// The platform.
pub struct Linux;

/// Never waits: whoever may write to a folder may put a FIFO or a terminal in
/// the place of a file.
fn open(path: &[u8], flags: libc::c_int) -> Result<Fd, Errno> {
    let harmless = libc::O_CLOEXEC | libc::O_LARGEFILE | libc::O_NONBLOCK | libc::O_NOCTTY;
    let flags = (flags | harmless) as usize;
    let at = libc::AT_FDCWD as usize;
    let fd = call(libc::SYS_openat, [at, path_of(path), flags, 0o600, 0, 0])?;
    Ok(Fd(fd as i32))
}

/// A new file, for us alone.
fn made_by(path: &[u8], flags: libc::c_int) -> Result<Fd, Errno> {
    let fd = open(path, libc::O_RDWR | flags)?;
    // A umask may have taken even our own rights, and is the program's to
    // set; a file system without modes refuses, and has none to lack.
    let _ = call(libc::SYS_fchmod, [fd.0 as usize, 0o600, 0, 0, 0, 0]);
    Ok(fd)
}

/// What the processor translates at once, if it may.
const HUGE_PAGE: usize = 2 << 20;

fn anonymous(bytes: usize, advice: &[libc::c_int]) -> *mut u8 {
    let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    match width::map(0, bytes, prot, flags, None) {
        Ok(at) => {
            for &how in advice {
                let _ = call(libc::SYS_madvise, [at, bytes, how as usize, 0, 0, 0]);
            }
            at as *mut u8
        }
        Err(_) => core::ptr::null_mut(),
    }
}

/// `clock_gettime` of the vDSO, found at start; 0 until then.
pub(crate) static VDSO_CLOCK: AtomicUsize = AtomicUsize::new(0);

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut now = [0i64; 2];
    let vdso = VDSO_CLOCK.load(Ordering::Relaxed);
    if vdso != 0 {
        // SAFETY: the address is that of the vDSO's function of two words of
        // 64 bits, which makes no call the kernel would not.
        let read: extern "C" fn(libc::clockid_t, *mut [i64; 2]) -> libc::c_int =
            unsafe { core::mem::transmute(vdso) };
        read(clock, &raw mut now);
    } else {
        now = width::clock(clock);
    }
    let [seconds, nanoseconds] = now.map(|part| part as u64);
    seconds
        .wrapping_mul(1_000_000_000)
        .wrapping_add(nanoseconds)
}

const MADV_WIPEONFORK: libc::c_int = 18;
impl Sys for Linux {
    const SINK: super::SinkKind = super::SinkKind::Mapped;
    const SIZES: Sizes = sizes::SPARSE;
    const FIXED_BYTES: u64 = 0;
    const NAMES_BY_RANK: bool = false;

    fn memory(bytes: usize) -> *mut u8 {
        anonymous(bytes, &[libc::MADV_NOHUGEPAGE])
    }

    fn memory_wiped_on_fork(bytes: usize) -> *mut u8 {
        if bytes < 2 * HUGE_PAGE {
            return anonymous(bytes, &[libc::MADV_NOHUGEPAGE, MADV_WIPEONFORK]);
        }
        // Tables this large are read all over: small pages would cost a miss of
        // the translation cache each time.
        let whole = anonymous(bytes + HUGE_PAGE, &[libc::MADV_HUGEPAGE, MADV_WIPEONFORK]);
        whole.wrapping_add(whole.align_offset(HUGE_PAGE))
    }

    unsafe fn memory_over(at: *mut u8, bytes: usize) {
        let prot = (libc::PROT_READ | libc::PROT_WRITE) as usize;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED;
        let _ = width::map(at as usize, bytes, prot, flags, None);
    }

    unsafe fn zero(at: *mut u8, bytes: usize) {
        let how = libc::MADV_DONTNEED as usize;
        let _ = call(libc::SYS_madvise, [at as usize, bytes, how, 0, 0, 0]);
    }

    unsafe fn make_writable(at: *mut u8, bytes: usize, writable: bool, has_code: bool) -> bool {
        let write = if writable { libc::PROT_WRITE } else { 0 };
        let run = if has_code { libc::PROT_EXEC } else { 0 };
        let prot = (libc::PROT_READ | write | run) as usize;
        call(libc::SYS_mprotect, [at as usize, bytes, prot, 0, 0, 0]).is_ok()
    }

    unsafe fn wipe_on_fork(at: *mut u8, bytes: usize) -> bool {
        let how = MADV_WIPEONFORK as usize;
        call(libc::SYS_madvise, [at as usize, bytes, how, 0, 0, 0]).is_ok()
    }

    fn create(path: &[u8]) -> Result<Fd, Errno> {
        made_by(path, libc::O_CREAT | libc::O_EXCL | libc::O_NOFOLLOW)
    }

    fn create_unnamed(folder: &[u8]) -> Result<Fd, Errno> {
        made_by(folder, libc::O_TMPFILE)
    }

    fn give_name(fd: Fd, path: &[u8]) -> Result<(), Errno> {
        let mut own = Text::<32>::new();
        own.push(b"/proc/self/fd/");
        own.push_number(fd.0 as u64);
        own.push(&[0]);
        let at = libc::AT_FDCWD as usize;
        let (own, path) = (path_of(own.get()), path_of(path));
        let arguments = [at, own, at, path, libc::AT_SYMLINK_FOLLOW as usize, 0];
        call(libc::SYS_linkat, arguments).map(|_| ())
    }

    fn open(path: &[u8]) -> Result<Fd, Errno> {
        open(path, libc::O_RDONLY)
    }

    fn open_log(path: &[u8]) -> Result<Fd, Errno> {
        open(path, libc::O_RDWR | libc::O_NOFOLLOW)
    }

    fn read(fd: Fd, into: &mut [u8]) -> Result<usize, Errno> {
        let at = into.as_mut_ptr() as usize;
        call(libc::SYS_read, [fd.0 as usize, at, into.len(), 0, 0, 0])
    }

    fn readable_below(high: u64, bytes: u64) -> u64 {
        own_memory::readable_below(high, bytes)
    }

    fn pages_there(at: u64, into: &mut [u8]) -> bool {
        own_memory::pages_there(at, into)
    }

    fn read_memory(at: u64, into: &mut [u8]) -> bool {
        own_memory::read(at, into)
    }

    fn read_at(fd: Fd, into: &mut [u8], offset: u64) -> Result<usize, Errno> {
        let at = into.as_mut_ptr() as usize;
        width::transfer(libc::SYS_pread64, fd, at, into.len(), offset)
    }

    fn write_at(fd: Fd, bytes: &[u8], offset: u64) -> Result<usize, Errno> {
        let at = bytes.as_ptr() as usize;
        width::transfer(libc::SYS_pwrite64, fd, at, bytes.len(), offset)
    }

    fn set_length(fd: Fd, bytes: u64) -> Result<(), Errno> {
        width::set_length(fd, bytes)
    }

    fn limit(which: usize) -> u64 {
        // The limit now, and what it may be raised to.
        let mut limit = [u64::MAX; 2];
        let at = &raw mut limit as usize;
        let _ = call(libc::SYS_prlimit64, [0, which, 0, at, 0, 0]);
        limit[0]
    }

    fn identity(fd: Fd) -> Result<FileId, Errno> {
        width::identity(fd)
    }

    fn taken_bytes(fd: Fd) -> Result<u64, Errno> {
        width::taken_bytes(fd)
    }

    fn free_bytes(fd: Fd) -> Option<u64> {
        width::free_bytes(fd)
    }

    fn close(fd: Fd) {
        let _ = call(libc::SYS_close, [fd.0 as usize, 0, 0, 0, 0, 0]);
    }

    fn is_folder(path: &[u8]) -> bool {
        match open(path, libc::O_DIRECTORY | libc::O_PATH) {
            Ok(fd) => {
                Self::close(fd);
                true
            }
            Err(_) => false,
        }
    }

    fn make_folder(path: &[u8]) -> Result<(), Errno> {
        let at = libc::AT_FDCWD as usize;
        call(libc::SYS_mkdirat, [at, path_of(path), 0o700, 0, 0, 0]).map(|_| ())
    }

    fn unlink(path: &[u8]) {
        let at = libc::AT_FDCWD as usize;
        let _ = call(libc::SYS_unlinkat, [at, path_of(path), 0, 0, 0, 0]);
    }

    fn map_window(fd: Fd, offset: u64, bytes: usize, ready: bool) -> Result<*mut u8, Errno> {
        mapped::map_window(fd, offset, bytes, ready)
    }

    unsafe fn move_window(from: *mut u8, bytes: usize, over: *mut u8) -> Result<(), Errno> {
        mapped::move_window(from as usize, bytes, over as usize)
    }

    fn make_ready(at: *mut u8, bytes: usize) -> Result<(), Errno> {
        mapped::make_ready(at as usize, bytes)
    }

    fn map_foothold(fd: Fd, offset: u64) -> Result<*mut u8, Errno> {
        mapped::map_foothold(fd, offset)
    }

    unsafe fn step_forward(
        foothold: &mut *mut u8,
        bytes: usize,
        unit: usize,
        ready: bool,
    ) -> Result<(*mut u8, usize), Errno> {
        mapped::step_forward(foothold, bytes, unit, ready)
    }

    unsafe fn unmap(at: *mut u8, bytes: usize) {
        mapped::unmap(at as usize, bytes);
    }

    fn has_others_rights() -> bool {
        super::rights::are_anothers()
    }

    fn is_root() -> bool {
        call(libc::SYS_geteuid, [0; 6]) == Ok(0)
    }

    fn pid() -> u32 {
        call(libc::SYS_getpid, [0; 6]).unwrap_or(0) as u32
    }

    fn say(text: &[u8]) {
        let at = text.as_ptr() as usize;
        let _ = call(libc::SYS_write, [2, at, text.len(), 0, 0, 0]);
    }

    fn parent_pid() -> u32 {
        call(libc::SYS_getppid, [0; 6]).unwrap_or(0) as u32
    }

    fn rank() -> Option<u64> {
        None
    }

    fn job() -> Option<u64> {
        None
    }

    fn last_words(_: &mut Text<256>) {}

    fn tid() -> u32 {
        call(libc::SYS_gettid, [0; 6]).unwrap_or(0) as u32
    }

    fn is_gone(pid: u32, tid: u32) -> bool {
        let arguments = [pid as usize, tid as usize, 0, 0, 0, 0];
        call(libc::SYS_tgkill, arguments) == Err(Errno(libc::ESRCH))
    }

    fn exit(status: i32) {
        let _ = call(libc::SYS_exit_group, [status as usize, 0, 0, 0, 0, 0]);
    }

    fn relax() {
        let _ = call(libc::SYS_sched_yield, [0; 6]);
    }

    fn hold_signals() -> Signals {
        let mut before = [0; SIGNAL_WORDS];
        signals::swap(&signals::HELD, Some(&mut before));
        before
    }

    fn let_signals(before: &Signals) {
        signals::swap(before, None);
    }

    fn thread_name(into: &mut [u8; 16]) {
        let at = into.as_mut_ptr() as usize;
        let what = libc::PR_GET_NAME as usize;
        let _ = call(libc::SYS_prctl, [what, at, 0, 0, 0, 0]);
    }

    fn name_of(tid: u32, into: &mut [u8; 16]) -> bool {
        let mut path = Text::<64>::new();
        path.push(b"/proc/self/task/");
        path.push_number(u64::from(tid));
        path.push(b"/comm\0");
        let mut text = [0; 16];
        let name = files::read_start(path.get(), &mut text);
        let name = name.strip_suffix(b"\n").unwrap_or(name);
        *into = [0; 16];
        for (to, from) in into.iter_mut().zip(name) {
            *to = *from;
        }
        !name.is_empty()
    }

    // By itself: a rusage takes 144 bytes of whoever has it on his stack.
    #[inline(never)]
    fn usage() -> Usage {
        // SAFETY: all zeros is a valid rusage.
        let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
        let at = &raw mut usage as usize;
        let _ = call(
            libc::SYS_getrusage,
            [libc::RUSAGE_SELF as usize, at, 0, 0, 0, 0],
        );
        let cpu = [usage.ru_utime, usage.ru_stime]
            .map(|time| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64);
        Usage {
            max_rss_kb: usage.ru_maxrss as u64,
            cpu_us: cpu.iter().sum(),
        }
    }

    fn rss_now_kb() -> u64 {
        let mut text = [0u8; 128];
        let text = files::read_start(b"/proc/self/statm\0", &mut text);
        let mut fields = text.split(|&byte| byte == b' ');
        let pages = fields.nth(1).and_then(decimal).unwrap_or(0);
        pages.saturating_mul(super::page_bytes() / 1024)
    }

    fn high_water_kb() -> u64 {
        let Ok(fd) = Self::open(b"/proc/self/status\0") else {
            return 0;
        };
        let mut field = Field::new(b"\nVmHWM:");
        let mut piece = [0u8; 512];
        while let Ok(count @ 1..) = Self::read(fd, &mut piece) {
            if field.is_in(piece.get(..count).unwrap_or(&[])) {
                break;
            }
        }
        Self::close(fd);
        field.value()
    }

    fn current_break() -> u64 {
        call(libc::SYS_brk, [0; 6]).unwrap_or(0) as u64
    }

    fn wall_ns() -> u64 {
        // Who may not read the processor's counter is ended by the other.
        clock_ns(libc::CLOCK_REALTIME_COARSE)
    }

    fn ticks_ns() -> u64 {
        clock_ns(libc::CLOCK_MONOTONIC_COARSE)
    }

    fn fine_ns() -> u64 {
        clock_ns(libc::CLOCK_MONOTONIC)
    }

    fn fine_clock() -> Result<(), &'static [u8]> {
        super::fine::check()
    }

    fn host(into: &mut [u8]) -> usize {
        // SAFETY: all zeros is a valid utsname.
        let mut name: libc::utsname = unsafe { core::mem::zeroed() };
        let at = &raw mut name as usize;
        if call(libc::SYS_uname, [at, 0, 0, 0, 0, 0]).is_err() {
            return 0;
        }
        let mut length = 0;
        for (place, &letter) in into.iter_mut().zip(name.nodename.iter()) {
            if letter == 0 {
                break;
            }
            *place = letter as u8;
            length += 1;
        }
        length
    }

    fn read_link(path: &[u8], into: &mut [u8]) -> usize {
        let at = libc::AT_FDCWD as usize;
        let buffer = into.as_mut_ptr() as usize;
        let arguments = [at, path_of(path), buffer, into.len(), 0, 0];
        call(libc::SYS_readlinkat, arguments).unwrap_or(0)
    }

    fn working_directory(into: &mut [u8]) -> usize {
        let at = into.as_mut_ptr() as usize;
        // The kernel counts the zero byte.
        call(libc::SYS_getcwd, [at, into.len(), 0, 0, 0, 0])
            .unwrap_or(1)
            .saturating_sub(1)
    }

    fn complain(line: &[u8]) {
        let at = line.as_ptr() as usize;
        let _ = call(libc::SYS_write, [2, at, line.len(), 0, 0, 0]);
    }

    fn end_process(ask: bool) {
        let signal = if ask { libc::SIGTERM } else { libc::SIGKILL };
        let arguments = [Self::pid() as usize, signal as usize, 0, 0, 0, 0];
        let _ = call(libc::SYS_kill, arguments);
        if !ask {
            // The first process of a container takes no signal of its own.
            let _ = call(libc::SYS_exit_group, [128 + 9, 0, 0, 0, 0, 0]);
        }
    }

    fn is_filtered() -> bool {
        // Strict mode kills for the question itself: a door has seen it coming
        // and the recorder asks no more, or whatever comes next would be the end.
        let what = libc::PR_GET_SECCOMP as usize;
        let is_filtered = !matches!(call(libc::SYS_prctl, [what, 0, 0, 0, 0, 0]), Ok(0) | Err(_));
        FILTERED.store(is_filtered, Ordering::Relaxed);
        is_filtered
    }

    fn was_filtered() -> bool {
        FILTERED.load(Ordering::Relaxed)
    }
}
