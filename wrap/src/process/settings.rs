//! What the user wants: `MEMLOG_*` in the environment the process began with.
//!
//! Nonsense never stops the program: a value that cannot be understood is
//! left at its default, and a note in the log says so.

use crate::log::Wanted;
use crate::platform::elf::initial::Initial;
use crate::platform::sys::{Os, Sys};
use crate::platform::text::{Text, decimal, each_entry};
use crate::process::attached;
use crate::process::census::Detail;
use crate::process::launcher::{self, Best};

mod values;

pub use values::{After, after, culled, guard, seconds, signals, size, switch};
use values::{detail, flight_size};

/// Longest value kept.
const VALUE: usize = 2048;

/// Below how many milliseconds a block is temporary to bytehound.
const TEMPORARY_MS: u64 = 10_000;

/// The same of a list of signals.
const SIGNALS: usize = 128;

/// The settings.
pub struct Settings {
    /// MEMLOG_OUTPUT: the pattern of the log's name.
    pub output: Text<VALUE>,
    /// MEMLOG_DIR: the folder of logs.
    pub folder: Text<VALUE>,
    /// MEMLOG_RANKS: which ranks record.
    pub ranks: Text<VALUE>,
    /// MEMLOG_ONLY: names or paths of the programs that record, with colons
    /// between them; empty for all.
    pub only: Text<VALUE>,
    /// The batch job.
    pub job: Text<256>,
    /// The rank in a parallel job.
    pub rank: Text<32>,
    /// The variable that told it.
    pub rank_by: &'static [u8],
    /// The program's file name, without its folder.
    pub program: Text<256>,
    /// MEMLOG_MAX_LOG: the log's size at most.
    pub max_log: u64,
    /// MEMLOG_MAX_LOGS_TOTAL: what all logs of the tree may take; 0 for no bound.
    pub max_logs_total: u64,
    /// MEMLOG_TOTAL_PAGE: where they count it together.
    pub total_page: Text<VALUE>,
    /// MEMLOG_FLIGHT_RECORDER: bytes of events before the oldest are folded
    /// into what is live; 0 for no such bound.
    pub flight_recorder: u64,
    /// MEMLOG_CULL: blocks that live less than so many nanoseconds are left out; 0:
    /// none are.
    pub cull_ns: u64,
    /// Whether that was said.
    cull_is_told: bool,
    /// Bytehound's words for it: whether, and below how many milliseconds.
    culls_temporary: bool,
    temporary_ms: u64,
    /// MEMLOG_FREE_STACKS: releases carry stacks.
    pub free_stacks: bool,
    /// MEMLOG_RSS_DETAIL: how often it is read what is resident in which mapping.
    pub rss_detail: Detail,
    /// MEMLOG_FINE_TIME: each event has a time of its own.
    pub fine_time: bool,
    /// Why that cannot be; empty where it can, or was not asked for.
    pub no_fine_time: &'static [u8],
    /// MEMLOG_KEEP_ENVIRONMENT: the log has the variables that the program began with.
    pub keep_environment: bool,
    /// MEMLOG_VERIFY: each capture is compared with the plain walk.
    pub verify: bool,
    /// MEMLOG_OFF, or a rank that does not record.
    pub off: bool,
    /// MEMLOG_FOLLOW_EXEC: images started by exec record as well.
    pub follow_exec: bool,
    /// MEMLOG_SINK=written: chunks go out by writes, not by mappings.
    pub written: bool,
    /// MEMLOG_OOM_GUARD: less than this percentage of a limit is told.
    pub guard_percent: u8,
    /// MEMLOG_OOM_GUARD: and ends the program.
    pub guard_may_end: bool,
    /// MEMLOG_START_DISABLED: recording is off until somebody switches it on.
    pub start_disabled: bool,
    /// MEMLOG_AFTER: when recording begins.
    pub after: Option<After>,
    /// MEMLOG_FOR: how long it lasts.
    pub for_ns: Option<u64>,
    /// MEMLOG_SIGNALS: what signals do, such as `USR1=toggle,USR2=snapshot`.
    pub signals: Text<SIGNALS>,
    /// MEMLOG_RUN: what `memlog record` knows its own logs by.
    pub run: Text<32>,
    /// What could not be understood.
    pub nonsense: Text<512>,
}

impl Default for Settings {
    fn default() -> Self {
        Self::new()
    }
}

impl Settings {
    /// The defaults.
    pub const fn new() -> Self {
        Self {
            output: Text::new(),
            folder: Text::new(),
            ranks: Text::new(),
            only: Text::new(),
            job: Text::new(),
            rank: Text::new(),
            rank_by: &[],
            program: Text::new(),
            max_log: u64::MAX,
            max_logs_total: 0,
            total_page: Text::new(),
            flight_recorder: 0,
            cull_ns: 0,
            cull_is_told: false,
            culls_temporary: false,
            temporary_ms: TEMPORARY_MS,
            free_stacks: false,
            rss_detail: Detail::Cheap,
            fine_time: false,
            no_fine_time: &[],
            keep_environment: false,
            verify: false,
            off: false,
            follow_exec: true,
            written: false,
            guard_percent: 0,
            guard_may_end: false,
            start_disabled: false,
            after: None,
            for_ns: None,
            signals: Text::new(),
            run: Text::new(),
            nonsense: Text::new(),
        }
    }

    /// Whether a program, by its file's path, is one of those that record: by a
    /// name, or by the whole path.
    pub fn wants(&self, program: &[u8]) -> bool {
        let name = program.rsplit(|&byte| byte == b'/').next();
        let mut wanted = self.only.get().split(|&byte| byte == b':');
        wanted.any(|one| !one.is_empty() && (one == program || Some(one) == name))
    }

    /// What the log is to be.
    pub fn of_log(&self) -> Wanted {
        Wanted {
            max_bytes: self.max_log,
            flight_bytes: self.flight_recorder,
            is_written: self.written,
        }
    }

    /// Reads the environment, as the kernel keeps it for every process.
    pub fn read(&mut self, buffer: &mut [u8]) {
        match attached::is_attached() {
            false => self.take_all(|see| each_variable(buffer, see)),
            // What was said when it began was not said of this.
            true => self.take_all(|see| {
                each_variable(buffer, &mut |variable: &[u8]| {
                    if !variable.starts_with(b"MEMLOG_") && !variable.starts_with(b"MEMORY_") {
                        see(variable);
                    }
                });
                attached::each_setting(see);
            }),
        }
    }

    /// The same from any file, whose path is a C string.
    pub fn read_from(&mut self, path: &[u8], buffer: &mut [u8]) {
        self.take_all(|see| {
            each_entry(path, buffer, see);
        });
    }

    fn take_all(&mut self, each: impl FnOnce(&mut dyn FnMut(&[u8]))) {
        let mut best = Best::none();
        each(&mut |entry| {
            if let Some(at) = entry.iter().position(|&byte| byte == b'=') {
                let (name, value) = entry.split_at_checked(at).unwrap_or((entry, &[]));
                self.take(name, value.get(1..).unwrap_or(&[]), &mut best);
            }
        });
        self.rank_by = best.rank_by();
        self.ask_kernel(&best);
        match launcher::is_wanted(self.ranks.get(), decimal(self.rank.get())) {
            Some(wanted) => self.off |= !wanted,
            None => self.complain_in(&[b"not understood: MEMLOG_RANKS"]),
        }
        if self.culls_temporary && !self.cull_is_told {
            self.cull_ns = self.temporary_ms.saturating_mul(1_000_000);
        }
        self.complain_of_codes();
    }

    /// What a kernel knows of the rank goes before what launchers said, for a
    /// batch script may have said it of itself; of the job it knows another
    /// number than people do.
    fn ask_kernel(&mut self, best: &Best) {
        if !best.rank_is_told()
            && let Some(rank) = Os::rank()
        {
            self.rank.clear();
            self.rank.push_number(rank);
        }
        if self.job.is_empty()
            && let Some(job) = Os::job()
        {
            self.job.push_number(job);
        }
    }

    fn take(&mut self, name: &[u8], value: &[u8], best: &mut Best) {
        // Set but empty is as good as not set.
        if value.is_empty() {
            return;
        }
        if best.takes_job(name) {
            if value.len() > launcher::LONGEST_JOB {
                self.complain_in(&[b"not understood: ", name, b" (too long)"]);
            } else {
                best.job_is(name);
                self.job.set(value);
            }
        }
        if best.takes_rank(name) {
            self.rank.set(value);
        }
        let Some(name) = name.strip_prefix(b"MEMLOG_") else {
            self.take_synonym(name, value);
            return;
        };
        match name {
            b"OUTPUT" | b"DIR" | b"RANKS" | b"ONLY" | b"TOTAL_PAGE" if value.len() > VALUE => {
                self.complain(name, b"(too long)");
            }
            b"OUTPUT" => self.output.set(value),
            b"DIR" => self.folder.set(value),
            b"RANKS" => self.ranks.set(value),
            b"ONLY" => self.only.set(value),
            b"MAX_LOG" => self.max_log = self.understood(name, value, size(value), u64::MAX),
            b"MAX_LOGS_TOTAL" => {
                self.max_logs_total = self.understood(name, value, size(value), 0);
            }
            b"TOTAL_PAGE" => self.total_page.set(value),
            b"FLIGHT_RECORDER" => {
                self.flight_recorder = self.understood(name, value, flight_size(value), 0);
            }
            b"CULL" => {
                self.cull_ns = self.understood(name, value, culled(value), 0);
                self.cull_is_told = true;
            }
            b"FREE_STACKS" => {
                self.free_stacks = self.understood(name, value, switch(value), false);
            }
            b"RSS_DETAIL" => {
                self.rss_detail = self.understood(name, value, detail(value), Detail::Cheap);
            }
            b"FINE_TIME" => self.fine_time = self.understood(name, value, switch(value), false),
            b"KEEP_ENVIRONMENT" => {
                self.keep_environment = self.understood(name, value, switch(value), false);
            }
            b"VERIFY" => self.verify = self.understood(name, value, switch(value), false),
            b"OFF" => self.off |= self.understood(name, value, switch(value), false),
            b"FOLLOW_EXEC" => {
                self.follow_exec = self.understood(name, value, switch(value), true);
            }
            b"SINK" => {
                let written = match value {
                    b"written" => Some(true),
                    b"mapped" => Some(false),
                    _ => None,
                };
                self.written = self.understood(name, value, written, false);
            }
            b"OOM_GUARD" => {
                let read = self.understood(name, value, guard(value), (0, false));
                (self.guard_percent, self.guard_may_end) = read;
            }
            b"START_DISABLED" => {
                self.start_disabled = self.understood(name, value, switch(value), false);
            }
            b"AFTER" => self.after = self.understood(name, value, after(value).map(Some), None),
            b"FOR" => self.for_ns = self.understood(name, value, seconds(value).map(Some), None),
            b"SIGNALS" => match value.len() <= SIGNALS && signals(value, |_, _| {}) {
                true => self.signals.set(value),
                false => self.complain(name, value),
            },
            b"RUN" => self.run.set(value),
            // Read elsewhere, or of the commands that read logs.
            b"RANK" | b"PAGER" | b"SYSROOT" | b"DEBUG_SYMBOLS" => {}
            // What modules of any program set.
            b"ROOT" | b"HOME" | b"VERSION" => {}
            _ => self.complain(name, value),
        }
    }

    /// Bytehound's names of what is the same here; ours come first.
    fn take_synonym(&mut self, name: &[u8], value: &[u8]) {
        match name {
            b"MEMORY_PROFILER_OUTPUT" if self.output.is_empty() && value.len() <= VALUE => {
                self.output.set(value);
            }
            b"MEMORY_PROFILER_GRAB_BACKTRACES_ON_FREE" => {
                self.free_stacks |= switch(value) == Some(true);
            }
            b"MEMORY_PROFILER_CULL_TEMPORARY_ALLOCATIONS" => {
                self.culls_temporary = switch(value) == Some(true);
            }
            b"MEMORY_PROFILER_TEMPORARY_ALLOCATION_LIFETIME_THRESHOLD" => {
                self.temporary_ms = decimal(value).unwrap_or(TEMPORARY_MS);
            }
            // How many may wait to be written: here none does.
            b"MEMORY_PROFILER_TEMPORARY_ALLOCATION_PENDING_THRESHOLD" => {}
            b"MEMORY_PROFILER_DISABLE_BY_DEFAULT" => {
                self.start_disabled |= switch(value) == Some(true);
            }
            b"MEMORY_PROFILER_REGISTER_SIGUSR1" => self.toggle_by(value, b"USR1=toggle"),
            b"MEMORY_PROFILER_REGISTER_SIGUSR2" => self.toggle_by(value, b"USR2=toggle"),
            _ if name.starts_with(b"MEMORY_PROFILER_") => {
                self.complain_in(&[b"not known here: ", name]);
            }
            _ => {}
        }
    }

    fn toggle_by(&mut self, value: &[u8], signal: &[u8]) {
        if switch(value) == Some(true) && self.signals.get().len() < 32 {
            let is_first = self.signals.is_empty();
            self.signals.push(if is_first { b"" } else { b"," });
            self.signals.push(signal);
        }
    }

    fn understood<T>(&mut self, name: &[u8], value: &[u8], read: Option<T>, usual: T) -> T {
        match read {
            Some(read) => read,
            None => {
                self.complain(name, value);
                usual
            }
        }
    }

    fn complain(&mut self, name: &[u8], value: &[u8]) {
        self.complain_in(&[b"not understood: MEMLOG_", name, b"=", value]);
    }

    fn complain_in(&mut self, words: &[&[u8]]) {
        if !self.nonsense.is_empty() {
            self.nonsense.push(b"; ");
        }
        for part in words {
            self.nonsense.push(part);
        }
    }

    /// The first that follows a % in the pattern and means nothing: it stays as
    /// it is.
    fn complain_of_codes(&mut self) {
        let mut letters = self.output.get().iter();
        let code = loop {
            match letters.next() {
                None => return,
                Some(b'%') => match letters.next() {
                    Some(b'h' | b'p' | b'e' | b't' | b'r' | b'j' | b'n' | b'%') => {}
                    other => break [b'%', other.copied().unwrap_or(0)],
                },
                Some(_) => {}
            }
        };
        // At the pattern's end nothing follows.
        let code = code.strip_suffix(&[0]).unwrap_or(&code);
        self.complain_in(&[b"not understood: ", code, b" in MEMLOG_OUTPUT"]);
    }
}

/// Runs over the environment that the process began with.
pub(super) fn each_variable(buffer: &mut [u8], mut see: impl FnMut(&[u8])) {
    if !each_entry(b"/proc/self/environ\0", buffer, &mut see)
        && let Some(initial) = Initial::find()
    {
        initial.each_variable(see);
    }
}
