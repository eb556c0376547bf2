//! The answer of some ranks as a file, to be merged with those of others: a line that says
//! what it is, and JSON (`doc/STATS.md`).

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::{Context, bail};
use memlog_analysis::Name;
use memlog_answers::{By, End, LeftOut, Process, Ranks, Site};
use serde_json::{Value, json};

use crate::moment::At;
use crate::open::begins_with;
use crate::words::{Advice, clean, shown};

const KIND: &[u8; 18] = b"memlog-ranks-part-";
const MAGIC: &[u8] = b"memlog-ranks-part-1\n";

/// What was asked: only answers to the same can be merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What rows are by.
    pub by: By,
    /// The moment.
    pub at: String,
    /// Which blocks.
    pub filter: Option<String>,
}

/// An answer that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taken {
    /// Of whom it is.
    pub job: String,
    /// To what it is one.
    pub settings: Settings,
    /// The answer.
    pub ranks: Ranks,
}

/// The answer in a file; nothing if that is none.
pub fn read(path: &Path) -> anyhow::Result<Option<Taken>> {
    if !begins_with(path, KIND) {
        return Ok(None);
    }
    let sentence = |why: String| {
        Advice::error(
            format!("cannot read {}: {why}", shown(path)),
            "make it again: memlog ranks LOGS -o FILE.ranks",
        )
    };
    let bytes = std::fs::read(path).map_err(|error| sentence(error.to_string()))?;
    let taken = decode(&bytes).map_err(|error| sentence(format!("{error:#}")))?;
    Ok(Some(taken))
}

/// The bytes of an answer.
pub fn encode(taken: &Taken) -> Vec<u8> {
    let Taken {
        job,
        settings,
        ranks,
    } = taken;
    let mut numbers = Numbers::default();
    let sites: Vec<Value> = ranks
        .sites()
        .map(|((id, name), site)| {
            let frames = site.frames.iter().map(|frame| numbers.of(frame));
            let frames: Vec<usize> = frames.collect();
            json!([
                id,
                name,
                site.ranks,
                site.bytes,
                site.blocks,
                site.least,
                site.most,
                site.most_rank,
                frames
            ])
        })
        .collect();
    let names = numbers.names.iter();
    let names = names.map(|name| json!([name.function, name.location, name.module]));
    let left_out = ranks.left_out().iter();
    let left_out = left_out.map(|(why, files)| json!([why, files.count, files.first, files.says]));
    let whole = json!({
        "job": job,
        "by": settings.by.word(),
        "at": settings.at,
        "where": settings.filter,
        "ranks": ranks.processes().iter().map(of_process).collect::<Vec<_>>(),
        "names": names.collect::<Vec<_>>(),
        "sites": sites,
        "left_out": left_out.collect::<Vec<_>>(),
        "notes": ranks.notes,
    });
    let mut bytes = MAGIC.to_vec();
    bytes.extend(whole.to_string().into_bytes());
    bytes.push(b'\n');
    bytes
}

/// The answer that such bytes are.
pub fn decode(bytes: &[u8]) -> anyhow::Result<Taken> {
    let Some(bytes) = bytes.strip_prefix(MAGIC) else {
        bail!("it is of another version of memlog");
    };
    let whole: Value = serde_json::from_slice(bytes).context("it is damaged")?;
    let by = By::of(&text(&whole["by"])?).context("nothing is put together by that")?;
    let names = list(&whole["names"])?.iter().map(name);
    let names = names.collect::<anyhow::Result<Vec<_>>>()?;
    let mut ranks = Ranks::default();
    for process in list(&whole["ranks"])? {
        ranks.add_process(process_of(process)?);
    }
    for site in list(&whole["sites"])? {
        let key = (site[0].as_i64().context(DAMAGED)?, text(&site[1])?);
        ranks.add_site(key, site_of(site, &names)?);
    }
    for files in list(&whole["left_out"])? {
        let files_of = LeftOut {
            count: whole_number(&files[1])?,
            first: text(&files[2])?,
            says: text(&files[3])?,
        };
        ranks.leave_out(&text(&files[0])?, files_of);
    }
    for note in list(&whole["notes"])? {
        ranks.notes.insert(text(note)?);
    }
    let settings = Settings {
        by,
        at: text(&whole["at"])?,
        filter: some_text(&whole["where"])?,
    };
    // Who merges it asks the same of logs.
    At::from_str(&settings.at).ok().context(DAMAGED)?;
    settings.blocks().context(DAMAGED)?;
    Ok(Taken {
        job: text(&whole["job"])?,
        settings,
        ranks,
    })
}

const DAMAGED: &str = "it is damaged";

/// Names by number, each once.
#[derive(Default)]
struct Numbers {
    known: HashMap<Arc<Name>, usize>,
    names: Vec<Arc<Name>>,
}

impl Numbers {
    fn of(&mut self, name: &Arc<Name>) -> usize {
        if let Some(&number) = self.known.get(name) {
            return number;
        }
        let next = self.names.len();
        self.known.insert(Arc::clone(name), next);
        self.names.push(Arc::clone(name));
        next
    }
}

fn of_process(process: &Process) -> Value {
    let end = match process.end {
        End::InOrder => "in order",
        End::None => "none",
        End::Runs => "runs",
    };
    json!([
        process.rank,
        process.node,
        process.pid,
        process.start_unix_ns,
        process.log,
        process.rss_peak_bytes,
        process.heap_peak_bytes,
        process.bytes,
        process.blocks,
        end,
        process.lost_events,
        process.finding
    ])
}

fn process_of(process: &Value) -> anyhow::Result<Process> {
    let end = match process[9].as_str() {
        Some("in order") => End::InOrder,
        Some("none") => End::None,
        Some("runs") => End::Runs,
        _ => bail!(DAMAGED),
    };
    Ok(Process {
        rank: whole_number(&process[0])?,
        node: text(&process[1])?,
        pid: u32::try_from(whole_number(&process[2])?).context(DAMAGED)?,
        start_unix_ns: whole_number(&process[3])?,
        log: text(&process[4])?,
        // As memlog once wrote what is not known.
        rss_peak_bytes: some_number(&process[5])?.filter(|&bytes| bytes > 0),
        heap_peak_bytes: some_number(&process[6])?,
        bytes: whole_number(&process[7])?,
        blocks: some_number(&process[8])?,
        end,
        lost_events: whole_number(&process[10])?,
        finding: some_text(&process[11])?,
    })
}

fn site_of(site: &Value, names: &[Arc<Name>]) -> anyhow::Result<Site> {
    let frames = list(&site[8])?.iter().map(|place| {
        let place = usize::try_from(whole_number(place)?).context(DAMAGED)?;
        let name = names.get(place).context(DAMAGED)?;
        Ok(Arc::clone(name))
    });
    Ok(Site {
        ranks: whole_number(&site[2])?,
        bytes: whole_number(&site[3])?,
        blocks: some_number(&site[4])?,
        least: whole_number(&site[5])?,
        most: whole_number(&site[6])?,
        most_rank: whole_number(&site[7])?,
        frames: frames.collect::<anyhow::Result<_>>()?,
    })
}

fn name(name: &Value) -> anyhow::Result<Arc<Name>> {
    Ok(Arc::new(Name {
        function: text(&name[0])?,
        location: some_text(&name[1])?,
        module: some_text(&name[2])?,
    }))
}

fn list(value: &Value) -> anyhow::Result<&[Value]> {
    let list = value.as_array().context(DAMAGED)?;
    Ok(list)
}

/// Whoever wrote the file, a terminal may show it.
fn text(value: &Value) -> anyhow::Result<String> {
    let text = value.as_str().context(DAMAGED)?;
    Ok(clean(text.as_bytes()))
}

fn some_text(value: &Value) -> anyhow::Result<Option<String>> {
    (!value.is_null()).then(|| text(value)).transpose()
}

fn whole_number(value: &Value) -> anyhow::Result<u64> {
    value.as_u64().context(DAMAGED)
}

fn some_number(value: &Value) -> anyhow::Result<Option<u64>> {
    (!value.is_null()).then(|| whole_number(value)).transpose()
}
