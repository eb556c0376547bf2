//! The unwind tables: what the recorder reads in them is what gimli reads.
//!
//! * [`loaded`]: real files, mapped and found as the recorder finds them
//! * [`same`]: one row of ours and one of gimli's, compared
//! * [`bound`]: a mapped file, relocated as a loader does
//! * [`judge`]: every row of many real files
//! * [`programs`]: random programs of every instruction, also those that
//!   compilers never write
//! * [`exidx`]: ARM's tables, made up
//! * [`expressions`]: random expressions, the part of a row that is a program
//! * [`stacks`]: whole stacks of this process, against the C library's walk and
//!   [`framehop`]'s
//! * [`kept`]: the capture on made-up stacks, against the plain walk
//! * [`reading`]: frames proven by instructions, against the tables
//! * [`short_code`]: the same of a few instructions
//! * [`decoder`]: what instructions do, against iced
//! * [`damage`]: broken tables stay inside their range

mod bound;
mod damage;
mod decoder;
mod exidx;
mod expressions;
mod framehop;
mod judge;
mod kept;
mod loaded;
mod made_up;
mod programs;
mod reading;
mod repeated;
mod same;
mod short_code;
mod stacks;
