//! `memlog stream` and `memlog gather`: logs that go elsewhere while they grow. Whatever is
//! killed, cut, delayed or made up on the way: what was gathered is a log at each moment, and
//! has the same bytes at the end.
//!
//! * [`ends`]: a receiver and senders of a test's own; programs that grow
//! * [`whole`]: logs of many shapes, and many at once
//! * [`ways`]: secrets, processes and folders; discovery within one machine
//! * [`ssh`]: a real sshd, and what goes wrong with it
//! * [`networks`]: discovery between machines
//! * [`killed`]: each side, at random moments
//! * [`between`]: a proxy that cuts, delays and garbles
//! * [`hostile`]: senders and receivers that are none
//! * [`limits`]: a full disk, a bound, a slow pace
//! * [`live`]: what commands and the server say while it grows
//!
//! `MEMLOG_LONG=1` kills each side 100 times, `MEMLOG_KILLS=N` N times; `MEMLOG_SEED=N`
//! repeats a run.

mod between;
mod ends;
mod hostile;
mod killed;
mod limits;
mod live;
mod networks;
#[path = "../sites/mod.rs"]
mod sites;
mod ssh;
mod ways;
mod whole;
