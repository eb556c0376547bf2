//! Every event of a log, in the forms of other tools, and in that of `memlog replay`.

mod folded;
mod heaptrack;
mod libraries;
mod operations;
mod recorded;
mod texts;

pub use heaptrack::{heaptrack, heaptrack_told};
pub(crate) use libraries::UNKNOWN;
pub use libraries::{GLIBC, MUSL, allocator_of};
pub use operations::{operations, operations_told};
pub use recorded::{Recorded, is_operations};
