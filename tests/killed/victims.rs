//! Who is killed.

use std::path::PathBuf;

use crate::common::tools::tools;

/// A program, and what is chosen of its life.
pub struct Victim {
    /// Its name among the victims.
    pub name: &'static str,
    /// Its arguments.
    pub args: &'static [&'static str],
    /// Whether it goes on for ever.
    pub is_endless: bool,
    /// Whether it makes processes, one after the other.
    pub forks: bool,
}

const fn endless(name: &'static str, args: &'static [&'static str]) -> Victim {
    Victim {
        name,
        args,
        is_endless: true,
        forks: false,
    }
}

const fn ending(name: &'static str, args: &'static [&'static str]) -> Victim {
    Victim {
        is_endless: false,
        ..endless(name, args)
    }
}

const fn forking(victim: Victim) -> Victim {
    Victim {
        forks: true,
        ..victim
    }
}

/// Threads, forks, images, reallocs, mappings, deep stacks, libraries that come
/// and go, handlers, exceptions, coroutines; and ends of all kinds.
pub const VICTIMS: &[Victim] = &[
    endless("churn", &["0"]),
    endless("churn", &["0", "4"]),
    endless("threads8", &["100000000"]),
    endless("crossfree", &["100000000"]),
    endless("realloc_race", &["100000000"]),
    forking(endless("forker", &["1000000"])),
    endless("dlopen_plugin", &["1000000"]),
    forking(endless("execer", &["1000000"])),
    endless("signals", &["100000000"]),
    endless("coroutines", &["100000000", "8192"]),
    endless("throw", &["100000000"]),
    endless("siglongjmp", &["100000000"]),
    ending("churn", &["20000"]),
    ending("churn", &["8000", "4"]),
    ending("threads8", &["2000"]),
    forking(ending("forker", &["3"])),
    ending("deep", &["900", "1"]),
    ending("dlopen_plugin", &["20"]),
    ending("rss_shapes", &["staircase"]),
    ending("torture/deep_and_wide", &[]),
    ending("torture/mmap_kinds", &[]),
    ending("torture/unmap_in_pieces", &[]),
    ending("torture/realloc_by_mremap", &[]),
    ending("torture/realloc_contents", &[]),
    ending("torture/arenas_of_threads", &[]),
    ending("torture/short_threads_3000", &[]),
    ending("torture/hundred_threads_at_exit", &[]),
    ending("torture/exit_handlers", &[]),
    ending("torture/signals_inside_malloc", &[]),
    ending("torture/dl_storm", &[]),
    ending("torture/cxx_threads", &[]),
    forking(ending("torture/fork_many", &[])),
    forking(ending("torture/fork_chain", &[])),
    forking(ending("torture/fork_amid_dlopen", &[])),
    forking(ending("torture/fork_from_all_threads", &[])),
    forking(ending("torture/fork_then_threads", &[])),
    forking(ending("torture/atfork_allocates", &[])),
];

impl Victim {
    /// Its program, if there was a compiler for it.
    pub fn program(&self) -> Option<PathBuf> {
        tools().victim(self.name)
    }

    /// For messages.
    pub fn show(&self) -> String {
        format!("{} {}", self.name, self.args.join(" "))
    }
}
