//! The lock-free files as they ship, under loom's scheduler.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test --release -p memlog-lockfree --lib loom
//! ```
//! A model is a few operations on two or three threads: loom tries every
//! order of them and, for each load, every value that its ordering permits.
//! Where that is too much, the number of preemptions is bounded and the test
//! says so: two show nearly every mistake, three the rest.

// loom's threads take turns on one thread, and its cells know it.
#![allow(clippy::arc_with_non_send_sync)]

mod claims;
mod commit;
mod life;
mod memo;
mod order;
mod table;

/// Runs a model with at most so many preemptions of a running thread.
fn with_preemptions(most: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(most);
    builder.check(model);
}
