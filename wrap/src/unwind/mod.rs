//! Walking the stack of the caller of a hook. It knows neither events nor a
//! log; what it needs of the process is handed in ([`Process`], and for each walk
//! a [`walk::Resolver`] and a [`kept::Namer`]).
//!
//! * [`rule`]: one step, packed into a word; what it does
//! * [`cfi`], [`row`]: the unwind tables, read where they lie
//! * [`exidx`]: ARM's own, which are others
//! * [`reading`]: the same proven by instructions, where no table is
//! * [`full`]: the unwinder for what no packed rule can say
//! * [`jit`]: tables that the program registered at run time
//! * [`modules`], [`codemap`]: which code lies where, and its rules
//! * [`published`]: what of that is read without a lock
//! * [`share`]: how much of a thread's cache is in use
//! * [`signal`]: what the kernel keeps of an interrupted frame
//! * [`switch`]: steps to another stack, out of functions that moved to this one
//! * [`walk`]: the plain walk with its caches; the twin of every faster one
//! * [`kept`]: the walk that goes on from a thread's last stack

pub mod cfi;
pub mod codemap;
pub mod exidx;
pub mod full;
pub mod jit;
pub mod kept;
pub mod modules;
pub mod published;
pub mod reading;
pub mod row;
pub mod rule;
pub mod share;
pub mod signal;
pub mod switch;
pub mod walk;

use crate::platform::ground::Ground;
use crate::platform::lock::Bounded;
use memlog_format::table::Code;

/// The process that is walked. A type, so that nothing is stored for it and no
/// call goes through a pointer.
pub trait Process: Sized + 'static {
    /// The ground of the process.
    fn ground() -> &'static Ground;
    /// Which code lies where.
    fn code_map() -> &'static Bounded<codemap::CodeMap<Self>>;
    /// What is read of it without its lock.
    fn published() -> &'static published::Published;
    /// The generation of the rules; caches of another one are empty.
    fn generation() -> u64;
    /// Rules have changed.
    fn next_generation();
    /// The id of a code address; 0 where there is no room for it.
    fn code_id(code: Code) -> u32;
    /// A module came or went, which the log is to say.
    fn tell(found: modules::Found);
}
