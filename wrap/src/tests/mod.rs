//! Tests of the recorder's rooms, one file a room.
//!
//! Under `--cfg loom` only the lock-free rooms are built, and each test in
//! [`loom`] runs the shipped file through every interleaving it names; without
//! it the rest is tested on the machine itself. [`unwind`] has gimli as judge.

#[cfg(loom)]
mod loom;

macro_rules! on_the_machine {
    ($($name:ident),* $(,)?) => { $(#[cfg(not(loom))] pub(crate) mod $name;)* };
}

on_the_machine!(
    arch,
    bytes,
    claims,
    code,
    early,
    flight,
    flight_table,
    image,
    memory,
    modules,
    naming,
    random,
    rule,
    session,
    settings,
    table,
    token,
    unwind,
);
