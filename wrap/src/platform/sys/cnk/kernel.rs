//! What is asked of the kernel: system calls, the time base, and the functions
//! of its own interface that the program may have linked.

use super::memory::Arena;
use crate::platform::sys::Errno;
use core::sync::atomic::AtomicU64;

/// What the kernel tells of memory: the numbers of its interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The main stack, as any thread may ask.
    Stack = 207,
    /// From the heap's start to the end of the topmost mapping, or to the break.
    Heap = 208,
    /// The most that this ever was.
    HeapMost = 210,
    /// Bytes of live mappings.
    Mapped = 211,
}

/// What the kernel has told so far.
pub struct KernelFigures {
    /// The highest figure of memory.
    pub peak_kb: AtomicU64,
    /// The clock, and at which count of the time base it was read.
    pub clock_ns: AtomicU64,
    /// That count.
    pub read_at: AtomicU64,
}

/// The kernel, or what a test has in its place.
pub trait Kernel {
    /// A system call.
    fn call(number: libc::c_long, arguments: [usize; 6]) -> Result<usize, Errno>;
    /// The processor's counter, 0 where there is none.
    fn time_base() -> u64;
    /// The rank.
    fn rank() -> Option<u64>;
    /// The job.
    fn job() -> Option<u64>;
    /// One of the sizes of memory.
    fn memory_size(which: Size) -> Option<u64>;
    /// What it has told so far.
    fn figures() -> &'static KernelFigures;
    /// Where memory comes from.
    fn arena() -> &'static Arena;
}
