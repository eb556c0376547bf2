//! The C library behind safe functions: files, mappings, clocks, threads' waiting.
//!
//! The build binds every name without a version, so the program runs with any C library.

use core::ffi::{c_int, c_void};
use core::ptr::{null, null_mut};
use core::sync::atomic::AtomicU32;

/// Ends at once.
pub fn stop(code: c_int) -> ! {
    // SAFETY: takes a number and does not return.
    unsafe { libc::_exit(code) }
}

/// Goes when whoever started this goes, however that is.
pub fn end_with_parent() {
    // SAFETY: no memory is involved.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// All of an open file, for as long as the process lives.
pub fn map_file(file: c_int) -> Option<&'static [u8]> {
    // SAFETY: the call only looks at the descriptor.
    let length = unsafe { libc::lseek(file, 0, libc::SEEK_END) };
    let length = usize::try_from(length).ok().filter(|&length| length > 0)?;
    // SAFETY: a new mapping at a place that the kernel chooses.
    let place = unsafe {
        libc::mmap(
            null_mut(),
            length,
            libc::PROT_READ,
            libc::MAP_SHARED,
            file,
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: mapped to be read, never unmapped; who started this made the file, has
    // unlinked it and does not write to it any more.
    Some(unsafe { core::slice::from_raw_parts(place.cast(), length) })
}

/// Zeros for so many values, for as long as the process lives. They are shared memory,
/// which is not anonymous, and are there already: no page of them is missing later.
pub fn table<T: Copy>(count: usize) -> Option<&'static mut [T]> {
    let length = count.checked_mul(size_of::<T>())?.max(1);
    // SAFETY: a new mapping at a place that the kernel chooses.
    let place = unsafe {
        libc::mmap(
            null_mut(),
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_SHARED | libc::MAP_ANONYMOUS | libc::MAP_POPULATE,
            -1,
            0,
        )
    };
    if place == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: mapped for this value alone, aligned to a page, and zeros are a value of each
    // T that is used here.
    Some(unsafe { core::slice::from_raw_parts_mut(place.cast(), count) })
}

/// A file to be read again and again, -1 where there is none.
pub fn open(path: &core::ffi::CStr) -> c_int {
    // SAFETY: the path ends with a zero byte.
    unsafe { libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) }
}

/// What a file holds from there on, as much as there is room for.
pub fn read(file: c_int, room: &mut [u8], from: u64) -> usize {
    // SAFETY: the room is of this length.
    let read = unsafe { libc::pread(file, room.as_mut_ptr().cast(), room.len(), from as _) };
    usize::try_from(read).unwrap_or(0)
}

/// Writes to standard output, as much as it takes.
pub fn write(mut text: &[u8]) {
    while !text.is_empty() {
        // SAFETY: the text is of this length.
        let written = unsafe { libc::write(1, text.as_ptr().cast(), text.len()) };
        match usize::try_from(written) {
            Ok(written) if written > 0 => text = text.get(written..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// Bytes of a page.
pub fn page_bytes() -> usize {
    // SAFETY: takes a number.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096).max(1)
}

/// Processor time of all threads, in nanoseconds.
pub fn cpu_ns() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the structure outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    #[allow(clippy::unnecessary_cast, reason = "words of 32 bits elsewhere")]
    let (seconds, rest) = (time.tv_sec as u64, time.tv_nsec as u64);
    seconds * 1_000_000_000 + rest
}

/// Pages that had to be brought so far.
pub fn faults() -> u64 {
    // SAFETY: all zeros is a valid rusage, and the call fills it in.
    let usage = unsafe {
        let mut usage: libc::rusage = core::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    #[allow(clippy::unnecessary_cast, reason = "words of 32 bits elsewhere")]
    let faults = usage.ru_minflt as u64 + usage.ru_majflt as u64;
    faults
}

/// Sleeps while the word is zero.
pub fn sleep_while_zero(word: &AtomicU32) {
    // SAFETY: the word outlives the call; no time limit is given.
    unsafe {
        let forever = null::<libc::timespec>();
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            0,
            forever,
        );
    }
}

/// Wakes who sleeps there.
pub fn wake(word: &AtomicU32) {
    // SAFETY: only the word's address is used.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            1,
        );
    }
}

/// What a thread runs.
pub type Body = extern "C" fn(*mut c_void) -> *mut c_void;

/// Starts a thread with a small stack; whether that was possible.
pub fn start(body: Body, argument: usize) -> bool {
    const STACK: usize = 128 << 10;
    // SAFETY: zeros are bytes of both, which the calls fill in; the body takes a number.
    unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        let mut thread: libc::pthread_t = core::mem::zeroed();
        libc::pthread_attr_init(&mut attributes);
        // Where that is too small the usual size is taken.
        libc::pthread_attr_setstacksize(&mut attributes, STACK);
        libc::pthread_create(&mut thread, &attributes, body, argument as *mut c_void) == 0
    }
}
