//! The few things asked of the system that the standard library does not offer.
//!
//! # Safety
//!
//! The only file of this package that may hold `unsafe`: each function here is
//! one C call behind a safe signature, and nothing is kept between calls but
//! the number of the child that signals are passed on to.
#![allow(unsafe_code)]

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use memlog_format::counter::AREA_END;

/// Real user and group of this process.
pub fn real_ids() -> (u32, u32) {
    // SAFETY: both calls take nothing, touch no memory of ours and cannot fail.
    unsafe { (libc::getuid(), libc::getgid()) }
}

/// The largest resident set of this process's children, in kilobytes.
pub fn children_max_rss_kb() -> u64 {
    // SAFETY: all zeros is a valid rusage, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage);
        usage
    };
    usage.ru_maxrss as u64
}

/// Has a file that would grow too large be an error, and no death.
pub fn ignore_file_limit() {
    // SAFETY: no memory is involved.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// Whether anybody has a file open to write to it, or has it in memory so. Such
/// as it is here: on another machine somebody may.
pub fn may_be_written(file: &File) -> bool {
    // Who opens it to write to it would have us ended by SIGIO.
    const HARMLESS: i32 = libc::SIGURG;
    const F_SETSIG: i32 = 10;
    // SAFETY: no memory is involved, and the file is open.
    let ask = |what, how: i32| unsafe { libc::fcntl(file.as_raw_fd(), what, how) };
    // The kernel lets have a lease of a file only where nobody may write to it.
    // Numbers of another width in musl's headers.
    #[allow(clippy::unnecessary_cast)]
    let (read, none) = (libc::F_RDLCK as i32, libc::F_UNLCK as i32);
    let is_ours = ask(F_SETSIG, HARMLESS) == 0 && ask(libc::F_SETLEASE, read) == 0;
    if is_ours {
        ask(libc::F_SETLEASE, none);
    }
    !is_ours
}

/// Whether the kernel counts all who may write to a file at the file itself.
/// Where one file system lies over another, a mapping is of the lower one's; on
/// other machines somebody may have it open that this kernel knows nothing of.
pub fn knows_its_writers(file: &File) -> io::Result<bool> {
    /// ext2 to ext4, XFS, btrfs, F2FS, tmpfs.
    const PLAIN: [u64; 5] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994];
    // SAFETY: statfs is plain integers, for which all zeros is a value.
    let mut answer: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the file is open, and the answer outlives the call.
    if unsafe { libc::fstatfs(file.as_raw_fd(), &mut answer) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // Its type has another width from machine to machine.
    #[allow(clippy::unnecessary_cast)]
    let kind = answer.f_type as u64 & 0xFFFF_FFFF;
    Ok(PLAIN.contains(&kind))
}

/// Whether this process can gain no privilege through exec.
pub fn has_no_new_privileges() -> bool {
    // SAFETY: this option takes four ignored zeros and returns 0, 1 or -1.
    unsafe { libc::prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 }
}

/// What a mounted file system forbids.
#[derive(Clone, Copy)]
pub struct MountFlags {
    /// No code can be mapped from it.
    pub no_exec: bool,
    /// Setuid bits and capabilities of its files have no effect.
    pub no_suid: bool,
}

fn file_system_of(path: &Path) -> io::Result<libc::statvfs> {
    let path = c_path(path)?;
    // SAFETY: statvfs is plain integers, for which all zeros is a value.
    let mut answer: libc::statvfs = unsafe { std::mem::zeroed() };
    // SAFETY: the path ends in a zero byte and the answer outlives the call.
    match unsafe { libc::statvfs(path.as_ptr(), &mut answer) } {
        0 => Ok(answer),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The flags of the file system that `path` lies on.
pub fn mount_flags(path: &Path) -> io::Result<MountFlags> {
    let answer = file_system_of(path)?;
    Ok(MountFlags {
        no_exec: answer.f_flag & libc::ST_NOEXEC != 0,
        no_suid: answer.f_flag & libc::ST_NOSUID != 0,
    })
}

/// Whether files can be made in `folder` by the effective user.
pub fn is_writable(folder: &Path) -> io::Result<()> {
    let path = c_path(folder)?;
    let wanted = libc::W_OK | libc::X_OK;
    // SAFETY: the path ends in a zero byte and is only read.
    match unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), wanted, libc::AT_EACCESS) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Whether the effective user may execute `file`.
pub fn is_executable(file: &Path) -> bool {
    let Ok(path) = c_path(file) else { return false };
    // SAFETY: the path ends in a zero byte and is only read.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

/// Whether `file` carries capabilities of its own.
pub fn has_capabilities(file: &Path) -> bool {
    let Ok(path) = c_path(file) else { return false };
    let name = c"security.capability".as_ptr();
    // SAFETY: both strings end in a zero byte; a size of 0 asks for the length
    // only, so nothing is written through the null pointer.
    unsafe { libc::getxattr(path.as_ptr(), name, std::ptr::null_mut(), 0) > 0 }
}

/// Whether a signal does nothing here, as whoever started this has it.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: all zeros is a sigaction, which the call fills in; nothing is changed.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0
            && action.sa_sigaction == libc::SIG_IGN
    }
}

/// The child that signals are passed on to; 0 while there is none.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// A signal that came before there was a child; 0 while there is none.
static EARLY: AtomicI32 = AtomicI32::new(0);

/// Signals that people and batch systems send to end or to prod a program.
const PASSED_ON: [libc::c_int; 6] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGQUIT,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// From now on a signal that was sent to this process alone goes to the child.
/// What the terminal sends reaches the whole foreground group without us, and
/// a signal that is ignored (`nohup`) stays ignored here as it does there.
pub fn pass_signals_on() {
    for signal in PASSED_ON {
        // SAFETY: sigaction is integers, a mask and a nullable function, for
        // all of which zeros is a value; both structures outlive the calls. The
        // handler does only what is allowed in one: atomics and kill.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut action) != 0
                || action.sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// No more children come: such signals do again what they do usually, and one that came
/// since the last child ended does so now.
pub fn pass_no_signals_on() {
    for signal in PASSED_ON {
        // SAFETY: as above; all zeros is the usual action.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            let is_known = libc::sigaction(signal, std::ptr::null(), &mut action) == 0;
            if is_known && action.sa_sigaction == on_signal as *const () as usize {
                action = std::mem::zeroed();
                libc::sigaction(signal, &action, std::ptr::null_mut());
            }
        }
    }
    match EARLY.swap(0, Ordering::AcqRel) {
        0 => {}
        // SAFETY: no memory is involved.
        signal => drop(unsafe { libc::raise(signal) }),
    }
}

extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let child = CHILD.load(Ordering::Acquire);
    if child == 0 {
        EARLY.store(signal, Ordering::Release);
        return;
    }
    // SAFETY: the kernel hands a valid siginfo to a handler set with SA_SIGINFO,
    // and fills in the sender of every signal whose code is not above zero.
    let (code, sender) = unsafe { ((*info).si_code, (*info).si_pid()) };
    let from_a_process = code <= 0;
    if from_a_process && sender != child {
        send(child, signal);
    }
}

fn send(child: libc::pid_t, signal: libc::c_int) {
    // SAFETY: touches no memory; the child is not reaped before CHILD is
    // cleared, so the number cannot mean another process.
    unsafe { libc::kill(child, signal) };
}

/// Waits until the child has ended, passing signals on meanwhile, and leaves it
/// to be reaped.
pub fn wait_for_end(child: u32) {
    CHILD.store(child.cast_signed(), Ordering::Release);
    match EARLY.swap(0, Ordering::AcqRel) {
        0 => {}
        signal => send(child.cast_signed(), signal),
    }
    loop {
        // SAFETY: siginfo is plain integers; the kernel writes it, we do not
        // read it. WNOWAIT leaves the child for std to reap.
        let ended = unsafe {
            let mut info: libc::siginfo_t = std::mem::zeroed();
            libc::waitid(libc::P_PID, child, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if ended == 0 || io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            break;
        }
    }
    CHILD.store(0, Ordering::Release);
}

fn c_path(path: &Path) -> io::Result<CString> {
    CString::new(path.as_os_str().as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// The words of a log's first chunk, which its recorder has mapped too.
pub struct SharedWords(memmap2::MmapRaw);

impl SharedWords {
    /// Of a log that is open for reading and writing.
    pub fn of(file: &File) -> io::Result<Self> {
        let map = memmap2::MmapOptions::new().len(AREA_END).map_raw(file)?;
        match file.metadata()?.len() >= AREA_END as u64 {
            true => Ok(Self(map)),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn word(&self, at: usize) -> &AtomicU64 {
        assert!(at.is_multiple_of(8) && at + 8 <= AREA_END);
        // SAFETY: inside the mapping, aligned, and used as an atomic word by all.
        unsafe { &*self.0.as_mut_ptr().add(at).cast::<AtomicU64>() }
    }

    /// A word, by its place in the file.
    pub fn get(&self, at: usize) -> u64 {
        u64::from_le(self.word(at).load(Ordering::Acquire))
    }

    /// Changes a word.
    pub fn set(&self, at: usize, to: u64) {
        self.word(at).store(to.to_le(), Ordering::Release);
    }

    /// Puts bytes there, and zeros up to the end of their last word.
    pub fn put(&self, at: usize, bytes: &[u8]) {
        for (index, part) in bytes.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.set(at + 8 * index, u64::from_le_bytes(word));
        }
    }
}
