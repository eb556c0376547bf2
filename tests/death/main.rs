//! How programs and machines die, and what of a log must be left then.
//!
//! * `oom`: for want of memory: killed by the kernel in a cgroup, or refused
//! * `judge`: what was left against what the second recorder saw, as `killed`
//!   has it, which is about SIGKILL; `readers`: the commands that read logs, as there
//! * `cuts`: logs that end too early, at every length
//! * `blocks`: logs with blocks of zeros, of older bytes, in other places
//! * `material`: the logs for it, of real programs
//! * `whole`: what a part or a damaged copy may say
//!
//! `MEMLOG_LONG=1` for all lengths, all places and many kills.

mod blocks;
#[path = "../common/mod.rs"]
mod common;
mod cuts;
#[path = "../killed/judge.rs"]
mod judge;
mod material;
mod oom;
#[path = "../killed/readers.rs"]
mod readers;
mod whole;
