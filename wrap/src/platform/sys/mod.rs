//! All that the recorder asks of a kernel, and the only room for a platform's words.
//!
//! It goes through [`Sys`], a trait of some fifty calls; [`Os`] is
//! the platform of this build. Results are values or a negative errno, as the
//! kernel gives them: nothing here touches `errno`.

#![allow(unsafe_code)]
//! # Safety
//! The unsafe functions of the trait name what their callers vouch for.

mod call;
#[cfg(any(memlog_cnk, test))]
mod cnk;
pub mod field;
mod files;
#[cfg(not(memlog_cnk))]
mod fine;
pub mod limits;
#[cfg(not(memlog_cnk))]
pub mod linux;
#[cfg(not(memlog_cnk))]
mod mapped;
#[cfg(not(memlog_cnk))]
mod own_memory;
mod readable;
#[cfg(not(memlog_cnk))]
mod rights;
pub mod signals;
pub mod sizes;
#[cfg(not(target_pointer_width = "32"))]
#[cfg_attr(memlog_cnk, allow(dead_code))]
mod stat;
// Blue Gene has calls of its own, and only the tables are asked for.
#[cfg_attr(memlog_cnk, allow(dead_code))]
#[cfg_attr(target_pointer_width = "32", path = "narrow.rs")]
#[cfg_attr(not(target_pointer_width = "32"), path = "wide.rs")]
pub mod width;

use crate::platform::text::Text;
use signals::{SIGNAL_WORDS, Signals};
use sizes::Sizes;

/// The platform of this build, chosen by whoever builds: a kernel's own word
/// may be an emulator's.
#[cfg(not(memlog_cnk))]
pub type Os = linux::Linux;
/// The platform of this build.
#[cfg(memlog_cnk)]
pub type Os = cnk::Cnk<cnk::Raw>;

/// Takes what the kernel told the process at its start.
///
/// # Safety
/// `vdso` is where the kernel mapped its own object, or 0.
pub unsafe fn set_facts(vdso: u64, page_bytes: u64) {
    // SAFETY: by the caller.
    let clock = unsafe {
        crate::platform::elf::linkmap::vdso_function(vdso, crate::platform::arch::VDSO_CLOCK)
    };
    #[cfg(not(memlog_cnk))]
    linux::VDSO_CLOCK.store(clock, core::sync::atomic::Ordering::Relaxed);
    // Its clocks are calls that this platform does not have.
    #[cfg(memlog_cnk)]
    let _ = clock;
    if page_bytes != 0 {
        PAGE_BYTES.store(page_bytes as usize, core::sync::atomic::Ordering::Relaxed);
    }
}

static PAGE_BYTES: core::sync::atomic::AtomicUsize = core::sync::atomic::AtomicUsize::new(4096);

/// The flag of dlopen that has a library's names looked for in itself first.
#[cfg(not(target_env = "musl"))]
pub const DEEP_BIND: i32 = libc::RTLD_DEEPBIND;
/// musl has none.
#[cfg(target_env = "musl")]
pub const DEEP_BIND: i32 = 0;

/// Bytes of a page, as the kernel counts them in statm.
pub fn page_bytes() -> u64 {
    PAGE_BYTES.load(core::sync::atomic::Ordering::Relaxed) as u64
}

/// A failed call: the kernel's error number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(pub i32);

/// A file the recorder holds open for the moment.
#[derive(Clone, Copy)]
pub struct Fd(pub i32);

/// What tells one file from another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileId {
    /// Device.
    pub device: u64,
    /// Inode.
    pub inode: u64,
}

/// How the log's bytes can reach its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SinkKind {
    /// Chunks lie in the file itself, mapped shared.
    Mapped,
    /// Chunks are private and written when full.
    Written,
}

/// What a process has used so far.
#[derive(Clone, Copy, Default)]
pub struct Usage {
    /// High-water mark of resident memory in kilobytes.
    pub max_rss_kb: u64,
    /// Processor time in microseconds.
    pub cpu_us: u64,
}

/// A kernel, as far as the recorder needs one.
///
/// Paths are C strings: they end in a zero byte.
pub trait Sys {
    /// Which sink to try first.
    const SINK: SinkKind;
    /// How much room is made for each thing.
    const SIZES: Sizes;
    /// Bytes that the recorder takes whatever happens, in the program's own
    /// data; 0 where it takes memory as it needs it.
    const FIXED_BYTES: u64;
    /// Whether a log is named by the rank instead of the process, where there
    /// is one: each node may count its processes from the same number.
    const NAMES_BY_RANK: bool;

    /// Private zeroed memory, or null. It is given back to nobody.
    fn memory(bytes: usize) -> *mut u8;
    /// Private zeroed memory in the place of what is mapped there.
    ///
    /// # Safety
    /// The range is whole pages of the recorder, whose content nobody needs.
    unsafe fn memory_over(at: *mut u8, bytes: usize);
    /// As [`Sys::memory`], and a forked child finds it zeroed.
    fn memory_wiped_on_fork(bytes: usize) -> *mut u8;
    /// Makes memory from this trait read as zero again.
    ///
    /// # Safety
    /// The range came from [`Sys::memory`], and nothing refers into it but atomics to
    /// which zeros mean nothing.
    unsafe fn zero(at: *mut u8, bytes: usize);
    /// Lets a part of a loaded file be written to, or only read again; if it
    /// `has_code`, that can run all the time. False if that is refused.
    ///
    /// # Safety
    /// Whole pages, mapped privately, which nobody else writes to meanwhile.
    unsafe fn make_writable(at: *mut u8, bytes: usize, writable: bool, has_code: bool) -> bool;
    /// Asks that a forked child find this range zeroed; false if it will not.
    ///
    /// # Safety
    /// The range is whole pages of private anonymous memory of the recorder.
    unsafe fn wipe_on_fork(at: *mut u8, bytes: usize) -> bool;

    /// Creates a new log, for us alone; fails if the name exists.
    fn create(path: &[u8]) -> Result<Fd, Errno>;
    /// Creates a new log in a folder, for us alone, that has no name yet.
    fn create_unnamed(folder: &[u8]) -> Result<Fd, Errno>;
    /// Gives it one; fails if the name exists.
    fn give_name(fd: Fd, path: &[u8]) -> Result<(), Errno>;
    /// Opens for reading.
    fn open(path: &[u8]) -> Result<Fd, Errno>;
    /// Opens an existing log to make it longer.
    fn open_log(path: &[u8]) -> Result<Fd, Errno>;
    /// Reads once.
    fn read(fd: Fd, into: &mut [u8]) -> Result<usize, Errno>;
    /// How far down from an address memory can be read, page by page, for so
    /// many bytes at most, which are few: the address of the lowest byte.
    fn readable_below(high: u64, bytes: u64) -> u64;
    /// Which pages from an address on are in memory, a byte each whose lowest bit says
    /// it; false where that cannot be told.
    fn pages_there(_at: u64, _into: &mut [u8]) -> bool {
        false
    }
    /// Reads the process's own memory; false where there is none.
    fn read_memory(at: u64, into: &mut [u8]) -> bool;
    /// Reads at a place, once.
    fn read_at(fd: Fd, into: &mut [u8], offset: u64) -> Result<usize, Errno>;
    /// Writes at a place, once.
    fn write_at(fd: Fd, bytes: &[u8], offset: u64) -> Result<usize, Errno>;
    /// Sets a file's length.
    fn set_length(fd: Fd, bytes: u64) -> Result<(), Errno>;
    /// Bytes that this process may make a file long; beyond that the kernel
    /// does not only refuse, it sends a signal that kills.
    fn file_limit() -> u64 {
        Self::limit(libc::RLIMIT_FSIZE as usize)
    }
    /// One of the process's own limits.
    fn limit(which: usize) -> u64;
    /// Which file this is.
    fn identity(fd: Fd) -> Result<FileId, Errno>;
    /// Bytes that a file takes on its disk, which may be fewer than it is long.
    fn taken_bytes(_fd: Fd) -> Result<u64, Errno> {
        Err(Errno(libc::ENOSYS))
    }
    /// Bytes that anybody may still take where a file lies, where that is known.
    fn free_bytes(_fd: Fd) -> Option<u64> {
        None
    }
    /// Closes.
    fn close(fd: Fd);
    /// Whether a name is a folder's.
    fn is_folder(path: &[u8]) -> bool;
    /// Makes a folder for this user alone, in one that is there.
    fn make_folder(path: &[u8]) -> Result<(), Errno>;
    /// Removes a name.
    fn unlink(path: &[u8]);

    /// Maps a window of a file, shared. If it is to be ready, all of it can be
    /// written to, or there is none.
    fn map_window(fd: Fd, offset: u64, bytes: usize, ready: bool) -> Result<*mut u8, Errno>;
    /// Puts a window in the place of other memory, or leaves both as they are.
    ///
    /// # Safety
    /// Nothing refers to the window where it was, and `over` is as long, and ours.
    unsafe fn move_window(_from: *mut u8, _bytes: usize, _over: *mut u8) -> Result<(), Errno> {
        Err(Errno(libc::ENOSYS))
    }
    /// Makes a part of a window ready: what is written there has room.
    fn make_ready(at: *mut u8, bytes: usize) -> Result<(), Errno>;
    /// Maps a page of a file where its next window will begin. It is not to be
    /// touched: it only keeps the file within reach.
    fn map_foothold(_fd: Fd, _offset: u64) -> Result<*mut u8, Errno> {
        Err(Errno(libc::ENOSYS))
    }
    /// Makes a window of the page that keeps its place, without a descriptor.
    /// Where it is to be ready: as many bytes as there is room for, in whole
    /// `unit`s. The page then keeps the place behind the window, or where the
    /// window would have been.
    ///
    /// # Safety
    /// `foothold` came from here, and nothing else refers to it.
    unsafe fn step_forward(
        _foothold: &mut *mut u8,
        _bytes: usize,
        _unit: usize,
        _ready: bool,
    ) -> Result<(*mut u8, usize), Errno> {
        Err(Errno(libc::ENOSYS))
    }
    /// Unmaps a window.
    ///
    /// # Safety
    /// Nothing refers into the window any more.
    unsafe fn unmap(at: *mut u8, bytes: usize);

    /// Whether the process was given rights that who started it lacks: it is
    /// setuid, setgid, or its file has capabilities. For where the auxiliary
    /// vector cannot be read.
    fn has_others_rights() -> bool;
    /// Whether the process may do all that root may.
    fn is_root() -> bool {
        false
    }
    /// The process.
    fn pid() -> u32;
    /// Tells whoever reads standard error.
    fn say(text: &[u8]);
    /// The parent.
    fn parent_pid() -> u32;
    /// The rank in a parallel job, where the kernel knows it.
    fn rank() -> Option<u64>;
    /// The job, where the kernel knows it.
    fn job() -> Option<u64>;
    /// What the kernel has to say of memory at the end, in words.
    fn last_words(into: &mut Text<256>);
    /// The thread.
    fn tid() -> u32;
    /// Whether a thread of a process is surely gone. The process is named: in a
    /// vfork's child the caller is another than the owner of the memory.
    fn is_gone(pid: u32, tid: u32) -> bool;
    /// Ends the process at once.
    fn exit(status: i32);
    /// Lets another thread run.
    fn relax();

    /// Keeps signals from this thread, but for those that its own next step
    /// may raise; what was kept from it before.
    fn hold_signals() -> Signals {
        [0; SIGNAL_WORDS]
    }
    /// Lets those come again that came before.
    fn let_signals(_before: &Signals) {}
    /// The thread's name.
    fn thread_name(into: &mut [u8; 16]);
    /// The name of any thread of this process; false if that cannot be had.
    fn name_of(_tid: u32, _into: &mut [u8; 16]) -> bool {
        false
    }
    /// What the process has used so far.
    fn usage() -> Usage;
    /// Resident memory at this moment in kilobytes, 0 if unknown.
    fn rss_now_kb() -> u64;
    /// High-water mark of this image alone in kilobytes, 0 if unknown.
    fn high_water_kb() -> u64;
    /// The end of the data segment.
    fn current_break() -> u64;
    /// The wall clock, nanoseconds since 1970.
    fn wall_ns() -> u64;
    /// A coarse clock that never jumps, nanoseconds.
    fn ticks_ns() -> u64;
    /// The same, as fine as the processor's counter. It is ahead of the other.
    fn fine_ns() -> u64 {
        Self::ticks_ns()
    }
    /// Whether that can be read without a system call, or why not.
    fn fine_clock() -> Result<(), &'static [u8]> {
        Err(b"this kernel has no such clock")
    }
    /// Host name.
    fn host(into: &mut [u8]) -> usize;
    /// The target of a symbolic link; how many bytes.
    fn read_link(path: &[u8], into: &mut [u8]) -> usize;
    /// Working directory.
    fn working_directory(into: &mut [u8]) -> usize;
    /// One line to standard error.
    fn complain(line: &[u8]);
    /// Ends this process by a signal: one that it can take notice of if it is
    /// to be asked, else one that it cannot.
    fn end_process(ask: bool);
    /// Asks whether a filter may kill us for an unusual call, and keeps the answer.
    fn is_filtered() -> bool;
    /// The last answer.
    fn was_filtered() -> bool;
}
