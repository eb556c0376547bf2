//! Logs that were made of another tool's file, and what that file did not know.

use memlog_format::counter::Counter;
use memlog_format::meta::{Key, Lack};
use memlog_read::Log;
use serde_json::{Map, Value, json};

use super::stripped;
use crate::words::clean;

/// What a log was made of.
pub struct Imported {
    /// The tool.
    pub tool: String,
    /// The file's name.
    pub file: String,
    /// What tells its content from others.
    pub content: String,
    /// What is not known.
    pub lacks: Vec<Lack>,
}

impl Imported {
    /// Nothing where the program was recorded by memlog.
    pub fn of(log: &Log) -> Option<Self> {
        let mut words = log.text(Key::MadeFrom)?.split(|&byte| byte == 0);
        let mut next = || words.next().map(clean).unwrap_or_default();
        Some(Self {
            tool: next(),
            file: next(),
            content: next(),
            lacks: log.texts(Key::Lacks).filter_map(Lack::of).collect(),
        })
    }

    /// What is not known, in words that follow each other.
    pub fn unknown(&self) -> Vec<String> {
        let mut words: Vec<_> = self
            .lacks
            .iter()
            .map(|lack| lacks(*lack).to_owned())
            .collect();
        if let Some(first) = words.first_mut() {
            first.insert_str(0, "it does not know ");
        }
        words
    }

    /// The same for programs.
    pub fn figures(&self) -> Value {
        let lacks: Vec<_> = self.lacks.iter().map(|lack| word(*lack)).collect();
        json!({
            "tool": self.tool,
            "file": self.file,
            "content": self.content,
            "unknown": lacks,
        })
    }
}

/// Without the figures that what the log was made of could not know.
pub fn without_unknown(log: &Log, figures: &mut Map<String, Value>) {
    if Imported::of(log).is_none() {
        return;
    }
    let mut hide = |prefix: &str| {
        for (name, value) in figures.iter_mut() {
            if name.starts_with(prefix) {
                *value = Value::Null;
            }
        }
    };
    let figures_of = |lack: Lack| match lack {
        Lack::Times => &[
            "duration_seconds",
            "heap_peak_seconds",
            "rss_peak_seconds",
            "rss_peak_bracket",
        ][..],
        Lack::Counts => &[
            "allocations",
            "releases",
            "temporary_allocations",
            "end_live_blocks",
            "heap_peak_blocks",
            "rss_peak_live_blocks",
        ],
        Lack::Order => &["temporary_allocations"],
        Lack::Peak => &["heap_peak_", "rss_peak_"],
        Lack::Gone => &[
            "allocations",
            "releases",
            "temporary_allocations",
            "total_bytes",
        ],
        Lack::Threads => &["threads", "rss_peak_live_by_thread"],
        Lack::Live => &["releases", "end_live_", "heap_peak_", "rss_peak_"],
        Lack::Addresses
        | Lack::Lifetimes
        | Lack::Exactness
        | Lack::Functions
        | Lack::End
        | Lack::LeftOut
        | Lack::Before
        | Lack::Sizes
        | Lack::Reallocs
        | Lack::Course => &[],
    };
    let lacks = Lack::ALL.into_iter().filter(|lack| is_unknown(log, *lack));
    lacks.flat_map(figures_of).for_each(|name| hide(name));
    // Of what no form tells.
    let of_no_form = ["mapped_", "own_rss_bytes", "lost_events", "coverage"];
    of_no_form.into_iter().for_each(&mut hide);
    let has_readings = log.counter(Counter::Stamps) > 0;
    if !has_readings {
        let of_readings = [
            "rss_peak_bytes",
            "rss_peak_reading_bytes",
            "rss_peak_unseen_bytes",
        ];
        of_readings.into_iter().for_each(&mut hide);
    }
    let start = log.start();
    if !start.is_some_and(|start| start.has_usable) {
        hide("usable_");
    }
    if start.is_none_or(|start| start.pid == 0) {
        hide("pid");
    }
    if start.is_none_or(|start| start.wall_ns == 0) {
        hide("start_unix_ns");
    }
}

/// What a source does not know, for programs.
fn word(lack: Lack) -> &'static str {
    match lack {
        Lack::Times => "times",
        Lack::Counts => "counts",
        Lack::Addresses => "addresses",
        Lack::Lifetimes => "lifetimes",
        Lack::Order => "order",
        Lack::Threads => "threads",
        Lack::Exactness => "exactness",
        Lack::Functions => "functions",
        Lack::Gone => "gone",
        Lack::Peak => "peak",
        Lack::End => "end",
        Lack::LeftOut => "left_out",
        Lack::Live => "live",
        Lack::Before => "before",
        Lack::Sizes => "sizes",
        Lack::Reallocs => "reallocs",
        Lack::Course => "course",
    }
}

/// Whether a log says that its source did not know something.
pub fn is_unknown(log: &Log, lack: Lack) -> bool {
    let mut told = log.texts(Key::Lacks);
    told.any(|text| Lack::of(text) == Some(lack))
        || log.left_out().is_some() && stripped::UNKNOWN.contains(&lack)
}

/// The words of all that is not known, by a log's figures.
pub fn unknown_words(stats: &Value) -> Vec<&str> {
    let imported = stats["imported"]["unknown"].as_array();
    let imported = imported.into_iter().flatten().filter_map(Value::as_str);
    let stripped = (!stats["stripped"].is_null()).then_some(stripped::UNKNOWN.map(word));
    imported.chain(stripped.into_iter().flatten()).collect()
}

/// Whether nobody knows how many blocks were temporary: which of blocks alike went the source
/// did not tell, the last that came is taken, and threads may not be told apart.
pub fn is_temporary_guessed(log: &Log) -> bool {
    Imported::of(log).is_some_and(|imported| imported.lacks.contains(&Lack::Lifetimes))
}

/// What a source does not know.
pub fn lacks(lack: Lack) -> &'static str {
    match lack {
        Lack::Times => "times",
        Lack::Counts => "how many blocks there were",
        Lack::Addresses => "addresses",
        Lack::Lifetimes => "which of blocks alike went",
        Lack::Order => "in which order blocks came and went",
        Lack::Threads => "threads",
        Lack::Exactness => "exact figures (they are estimates from samples)",
        Lack::Functions => "which of malloc, calloc and realloc it was",
        Lack::Gone => "what came and went",
        Lack::Peak => "how large the heap was before its one moment",
        Lack::End => "what was live when the program ended",
        Lack::LeftOut => "what its lines that make no sense say",
        Lack::Live => "what is live",
        Lack::Before => "what was allocated before recording began",
        Lack::Sizes => "how large single blocks were",
        Lack::Reallocs => "which blocks realloc made of others",
        Lack::Course => "how the heap grew and shrank between its moments",
    }
}

/// Why a limit that an import keeps is not proven: more may have been allocated or live.
pub fn gap_of(log: &Log) -> Option<&'static str> {
    Imported::of(log)?;
    let gaps = [
        (
            Lack::LeftOut,
            "lines or records of the imported file were not understood and are left out",
        ),
        (
            Lack::End,
            "the imported file ends before the program did, or does not tell: it is cut off, or \
             has moments only",
        ),
        (
            Lack::Before,
            "the imported file has nothing of what was allocated before recording began",
        ),
        (
            Lack::Exactness,
            "the figures of the imported file are estimates from samples",
        ),
    ];
    let gap = gaps.into_iter().find(|(lack, _)| is_unknown(log, *lack));
    gap.map(|(_, sentence)| sentence)
}
