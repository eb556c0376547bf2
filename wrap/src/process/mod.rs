//! The process: what is done once, or when the process changes. Here is the one
//! owner of all state, [`recorder`].
//!
//! * [`start`], [`make_log`], [`begin_log`], [`settings`], [`launcher`], [`naming`], [`exec`] how recording begins
//! * [`attached`] how it begins in a program that runs already
//! * [`token`] what a thread is doing inside the recorder
//! * [`child`], [`fork`] what a fork leaves to whom
//! * [`control`] whether to record now
//! * [`real`], [`usable`], [`absent`], [`deep`], [`linked`] the functions behind the hooks
//! * [`rss`], [`census`], [`guard`], [`fine_time`] what is measured beside events

pub mod absent;
pub mod attached;
pub mod begin_log;
pub mod census;
pub mod child;
pub mod control;
mod cull;
pub mod deep;
pub mod exec;
pub mod fine_time;
pub mod fork;
pub mod guard;
pub mod launcher;
mod linked;
pub mod make_log;
pub mod naming;
pub mod real;
pub mod recorder;
pub mod rss;
pub mod settings;
pub mod start;
pub mod token;
pub mod usable;
