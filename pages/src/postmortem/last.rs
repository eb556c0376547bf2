//! A first look at a log: where it ends, which limits it tells of, and what it
//! saw last.

use memlog_format::limit::{LimitAct, LimitKind};
use memlog_format::meta::Key;
use memlog_read::{Kind, Log};
use serde_json::{Value, json};

use super::USUAL_SECONDS;
use crate::facts::{command_line, rank};
use crate::open::{Family, Watch};
use crate::words::{clean, sized};

/// The last allocation.
pub struct LastAlloc {
    pub tick: u64,
    pub tid: u32,
    pub address: u64,
    pub size: u64,
}

/// What was said last of a limit.
pub struct Watched {
    pub kind: LimitKind,
    pub act: LimitAct,
    pub name: String,
    pub used_bytes: u64,
    pub limit_bytes: u64,
    pub seconds: f64,
}

/// What the first look found.
pub struct Last {
    /// Before this a flight recorder has overwritten events.
    pub known_from_seconds: f64,
    pub end_seconds: f64,
    pub alloc: Option<LastAlloc>,
    /// What was resident at the last reading that says, and when that was.
    pub resident: Option<(u64, f64)>,
    pub limits: Vec<Watched>,
}

impl Last {
    /// Goes through the whole log.
    pub fn of(family: &Family, watch: &Watch) -> Self {
        let log = family.own();
        let known_from = log.flight().map_or(0, |flight| flight.sums.horizon_tick);
        let mut last = Self {
            known_from_seconds: log.seconds(known_from),
            end_seconds: 0.0,
            alloc: None,
            resident: None,
            limits: Vec::new(),
        };
        let mut end = log.end().map_or(0, |end| end.tick);
        let mut events = watch.events(log);
        while let Some(item) = events.next() {
            end = end.max(item.tick);
            match item.kind {
                Kind::Alloc(alloc) if last.is_last(item.tick) => {
                    last.alloc = Some(LastAlloc {
                        tick: item.tick,
                        tid: item.tid,
                        address: alloc.address,
                        size: alloc.size,
                    });
                }
                Kind::Rss(rss) if rss.now_kb > 0 => {
                    last.resident = Some((rss.now_kb, log.seconds(item.tick)));
                }
                Kind::Limit(limit) => last.take(Watched {
                    kind: limit.kind,
                    act: limit.act,
                    name: clean(limit.name),
                    used_bytes: limit.used_bytes,
                    limit_bytes: limit.limit_bytes,
                    seconds: log.seconds(item.tick),
                }),
                _ => {}
            }
            if !watch.goes_on(&events) {
                break;
            }
        }
        last.end_seconds = log.seconds(end);
        last
    }

    fn is_last(&self, tick: u64) -> bool {
        self.alloc.as_ref().is_none_or(|last| tick >= last.tick)
    }

    /// The newest word on each limit.
    fn take(&mut self, limit: Watched) {
        let is_it = |known: &&mut Watched| known.kind == limit.kind && known.name == limit.name;
        match self.limits.iter_mut().find(is_it) {
            // That it ended the program is not forgotten for less.
            Some(known) if known.act as u8 > limit.act as u8 && known.act != LimitAct::Near => {}
            Some(known) => *known = limit,
            None => self.limits.push(limit),
        }
    }

    /// The limit that had the program ended.
    pub fn stopped_by(&self) -> Option<&Watched> {
        let mut limits = self.limits.iter();
        limits.find(|limit| matches!(limit.act, LimitAct::Asked | LimitAct::Ended))
    }

    /// The limit that came nearest of those that were told to be near.
    pub fn nearest(&self) -> Option<&Watched> {
        let near = self
            .limits
            .iter()
            .filter(|limit| limit.act != LimitAct::Watched);
        near.min_by_key(|limit| limit.left_bytes())
    }

    /// Where the time begins in which growth is looked for.
    pub fn before_end(&self, seconds: Option<f64>) -> f64 {
        let usual = USUAL_SECONDS.min(self.end_seconds / 3.0);
        let wanted = self.end_seconds - seconds.unwrap_or(usual);
        wanted.max(self.known_from_seconds)
    }
}

impl Watched {
    fn left_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }

    /// What sets it, in words.
    pub fn title(&self) -> String {
        match self.kind {
            LimitKind::Group if self.name.is_empty() => "the group /".into(),
            LimitKind::Group => format!("the group {}", self.name),
            LimitKind::AddressSpace => "RLIMIT_AS".into(),
            LimitKind::Data => "RLIMIT_DATA".into(),
            LimitKind::Machine => "the machine's memory".into(),
        }
    }
}

/// A limit as it is told.
pub fn limit_line(limit: &Watched) -> String {
    format!(
        "{} of {} of {} left at {:.3} s",
        sized(limit.left_bytes()),
        sized(limit.limit_bytes),
        limit.title(),
        limit.seconds
    )
}

/// The same for programs.
pub fn limit_json(limit: &Watched) -> Value {
    let kind = match limit.kind {
        LimitKind::Group => "group",
        LimitKind::AddressSpace => "address-space",
        LimitKind::Data => "data",
        LimitKind::Machine => "machine",
    };
    let act = match limit.act {
        LimitAct::Watched => "watched",
        LimitAct::Near => "near",
        LimitAct::Asked => "asked-to-end",
        LimitAct::Ended => "ended",
    };
    json!({
        "kind": kind,
        "name": limit.name,
        "act": act,
        "used_bytes": limit.used_bytes,
        "limit_bytes": limit.limit_bytes,
        "seconds": limit.seconds,
    })
}

/// The program and its arguments, the process, the host.
pub fn program(log: &Log) -> Vec<String> {
    let words = log.text(Key::CommandLine);
    let mut parts = vec![words.map_or("unknown program".into(), command_line)];
    parts.extend(rank(log));
    if let Some(start) = log.start() {
        let host = log.text(Key::Host).map(clean);
        let host = host.map_or(String::new(), |host| format!(" on {host}"));
        parts.push(format!("process {}{host}", start.pid));
    }
    parts
}
