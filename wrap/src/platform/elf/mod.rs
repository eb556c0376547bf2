//! The program as ELF has it: its own image and those that the loader lists.
//!
//! * [`image`] headers of a mapped file: where its code and its tables are
//! * [`linkmap`] the loader's list and its symbol tables, without the loader
//! * [`auxiliary`] what the kernel told the program first
//! * [`initial`] the first stack, where /proc cannot be read

pub mod auxiliary;
pub mod image;
pub mod initial;
pub mod linkmap;
