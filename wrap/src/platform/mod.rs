//! The ground floor: the processor, the kernel, the image as the loader made
//! it, and small tools. It knows nobody above, so it decides nothing: no room
//! here knows of events, of stacks or of a log.
//!
//! * [`arch`] what differs between processors, with the doors' assembly
//! * [`sys`] what differs between kernels: the only place for system calls
//! * [`elf`] the program's own image, the loader's list, the first stack
//! * [`maps`], [`smaps`] /proc/self/maps and smaps
//! * [`ground`] what every storey asks of this process: counts, whether system
//!   calls are out of the question, whose log it is
//! * [`lock`] a lock for slow paths that can be given up on
//! * [`doors`] the hooked names by number
//! * [`quick`] which calls doors hand on by themselves
//! * [`early`] memory from before there is an allocator
//! * [`bounds`], [`bytes`], [`rules`], [`text`], [`slices`], [`clock`],
//!   [`counters`] small tools

#[allow(unsafe_code)] // the words of assembly
pub mod arch;
pub mod bounds;
pub mod bytes;
pub mod clock;
pub mod counters;
pub mod doors;
pub mod early;
pub mod elf;
pub mod ground;
pub mod lock;
pub mod maps;
pub mod quick;
pub mod rules;
pub mod slices;
pub mod smaps;
pub mod sys;
pub mod text;
