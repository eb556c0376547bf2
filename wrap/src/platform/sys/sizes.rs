//! How much room the recorder makes for each thing: a platform's decision.
//!
//! Linux gives memory when it is first touched, so there the tables are as
//! large as anybody could need, and cost what is used of them. Where memory is
//! real at once each of these numbers is paid in full.

/// The numbers.
pub struct Sizes {
    /// Threads that record at the same moment.
    pub streams: usize,
    /// Threads whose memory is mapped in one piece, at most: the kernel bounds
    /// the mappings of a process.
    pub streams_at_once: usize,
    /// Files with code at the same moment.
    pub modules: usize,
    /// Unwind tables that the program registers.
    pub tables: usize,
    /// Frames kept of one stack; a power of two.
    pub frames: usize,
    /// Code addresses that a thread remembers; a power of two.
    pub cached_codes: usize,
    /// Children in the trie of stacks that a thread remembers.
    pub children: usize,
    /// Code addresses with rules by other registers that a thread remembers.
    pub far_codes: usize,
    /// Whole stacks that a thread remembers besides its last; a power of two, or 0.
    pub repeated_stacks: usize,
    /// Last stacks of releases apart from those of allocations: 0 or 1. Without
    /// them both are compared with the last of either.
    pub release_stacks: usize,
    /// Code addresses that all threads share, at first; a power of two.
    pub shared_codes: usize,
    /// The same, when half of those are used.
    pub many_shared_codes: usize,
    /// Chunks of stack nodes.
    pub node_chunks: usize,
    /// Chunks of code addresses.
    pub code_chunks: usize,
    /// Bytes for calls that come before the real allocator is found.
    pub early_bytes: usize,
}

/// Where what is not touched costs nothing, but for addresses.
#[cfg(all(not(memlog_cnk), not(target_pointer_width = "32")))]
pub const SPARSE: Sizes = Sizes {
    streams: 32 * 1024,
    streams_at_once: 16,
    modules: 4096,
    tables: 4096,
    frames: 16 * 1024,
    cached_codes: 4096,
    children: 2048,
    far_codes: 256,
    repeated_stacks: 64,
    release_stacks: 1,
    shared_codes: 1 << 12,
    many_shared_codes: 1 << 17,
    node_chunks: 8192,
    code_chunks: 2048,
    early_bytes: 128 * 1024,
};

/// Where addresses have 32 bits, and the program may need all of them: a thread
/// takes 1 MiB, an eighth of a usual stack.
#[cfg(all(not(memlog_cnk), target_pointer_width = "32"))]
pub const SPARSE: Sizes = Sizes {
    streams: 2048,
    streams_at_once: 4,
    modules: 2048,
    tables: 1024,
    frames: 4096,
    cached_codes: 2048,
    children: 2048,
    far_codes: 64,
    repeated_stacks: 32,
    release_stacks: 1,
    shared_codes: 1 << 12,
    many_shared_codes: 1 << 15,
    node_chunks: 2048,
    code_chunks: 512,
    early_bytes: 128 * 1024,
};

/// Where every byte is real at once. Blue Gene/Q has 16 cores of 4 threads, for
/// each of which the kernel keeps five at most.
#[cfg(any(memlog_cnk, test))]
pub const DENSE: Sizes = Sizes {
    streams: 16 * 4 * 5,
    streams_at_once: 1,
    modules: 64,
    tables: 16,
    frames: 1024,
    cached_codes: 512,
    children: 1024,
    far_codes: 8,
    repeated_stacks: 0,
    release_stacks: 0,
    shared_codes: 1 << 11,
    many_shared_codes: 1 << 14,
    node_chunks: 512,
    code_chunks: 128,
    early_bytes: 16 * 1024,
};
