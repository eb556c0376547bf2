//! Under `--cfg loom` each test in [`loom`] runs a shipped file through every
//! interleaving that it names; [`table`] has real threads and real growth.

#[cfg(loom)]
mod loom;
#[cfg(not(loom))]
#[path = "../../../src/tests/random.rs"]
mod random;
#[cfg(not(loom))]
mod table;
