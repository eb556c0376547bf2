//! Walking the stack of the caller of a hook.
//!
//! * [`rule`]: one step, packed into a word; what it does
//! * [`bytes`], [`cfi`], [`row`]: the unwind tables, read where they lie
//! * [`exidx`]: ARM's own, which are others
//! * [`reading`]: the same proven by instructions, where no table is
//! * [`full`]: the unwinder for what no packed rule can say
//! * [`share`]: how much of a thread's cache is in use
//! * [`signal`]: what the kernel keeps of an interrupted frame
//! * [`switch`]: steps to another stack, out of functions that moved to this one
//! * [`walk`]: the plain walk with its caches; the twin of every faster one

pub mod bytes;
pub mod cfi;
pub mod exidx;
pub mod full;
pub mod jit;
pub mod kept;
pub mod reading;
pub mod row;
pub mod rule;
pub mod share;
pub mod signal;
pub mod switch;
pub mod walk;
