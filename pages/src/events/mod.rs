//! Forms that have every event of a log.

mod heaptrack;

pub use heaptrack::heaptrack;
