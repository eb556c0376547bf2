//! `/dynamic_constants`, `/dynamic_statics` and their trees: what static initialisers asked
//! for and never released, by the lines of the variables.

use std::collections::BTreeMap;

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::{Sums, Test, static_inits, sums_of_stacks};
use memlog_pages::blocks::{Failure, FrameAt, Frames, Matter, Told};
use serde_json::{Map, json};

use super::asked::Of;
use super::log::Log;
use super::table::{size, table};
use super::{JSON, TEXT};
use crate::reply::{Refusal, text};

/// Which of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Those whose initialiser the compiler made for known arguments.
    Constants,
    /// All others.
    Statics,
}

/// Blocks, and bytes that the allocator gave for them.
#[derive(Clone, Copy, Default)]
struct Given {
    count: u64,
    size: u64,
}

impl Given {
    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            size: self.size.saturating_add(other.size),
        }
    }
}

impl From<Sums> for Given {
    fn from(sums: Sums) -> Self {
        Self {
            count: sums.blocks,
            size: sums.bytes.saturating_add(sums.waste),
        }
    }
}

/// By file and line.
type ByFile = BTreeMap<String, BTreeMap<u32, Given>>;

fn collated(told: &Told, frames: &Frames, kind: Kind) -> Result<ByFile, Failure> {
    let choice = told.choice.clone().and(Test::Leaked);
    let sums = sums_of_stacks(told.world, &choice)?;
    let variables = static_inits(told.world);
    let mut files = ByFile::new();
    for (stack, (sums, variable)) in (0u32..).zip(sums.into_iter().zip(variables)) {
        let place = variable.and_then(|name| name.location.as_deref());
        let place = place.and_then(|place| place.rsplit_once(':'));
        let Some((file, line)) = place.filter(|_| sums.blocks > 0) else {
            continue;
        };
        let Ok(line) = line.parse() else {
            continue;
        };
        if kind_of(&frames.of(stack)) == kind {
            let lines = files.entry(file.to_owned()).or_default();
            let known: &mut Given = lines.entry(line).or_default();
            *known = known.plus(sums.into());
        }
    }
    Ok(files)
}

/// A compiler that knows what an initialiser is called with makes a copy of it, whose
/// symbol tells so.
fn kind_of(frames: &[FrameAt]) -> Kind {
    let is_copy = |symbol: &str| {
        symbol.contains("__static_initialization_and_destruction_0")
            && symbol.contains(".constprop")
    };
    let mut symbols = frames
        .iter()
        .filter_map(|frame| frame.placed.symbol.as_deref());
    match symbols.any(is_copy) {
        true => Kind::Constants,
        false => Kind::Statics,
    }
}

async fn asked(log: &Log, query: Option<&str>, kind: Kind) -> Result<ByFile, Refusal> {
    let asked = log.asked(query, Of::Blocks).await?;
    let made = log.told(Matter::Sums, asked.filter, move |told, desk| {
        collated(told, desk.frames(memlog_answers::Of::Blocks)?, kind)
    });
    made.await
}

fn sum<'g>(all: impl Iterator<Item = &'g Given>) -> Given {
    all.fold(Given::default(), |sum, one| sum.plus(*one))
}

fn json_of(files: &ByFile) -> String {
    let all = sum(files.values().flat_map(BTreeMap::values));
    let per_file = files.iter().map(|(file, lines)| {
        let own = sum(lines.values());
        let per_line = lines.iter().map(|(line, one)| {
            let figures = json!({ "count": one.count, "size": one.size });
            (line.to_string(), figures)
        });
        let figures = json!({
            "count": own.count,
            "size": own.size,
            "per_line": per_line.collect::<Map<_, _>>(),
        });
        (file.clone(), figures)
    });
    let answer = json!({
        "count": all.count,
        "size": all.size,
        "per_file": per_file.collect::<Map<_, _>>(),
    });
    answer.to_string()
}

fn tree_of(files: &ByFile) -> String {
    let all = sum(files.values().flat_map(BTreeMap::values));
    let row = |given: Given, source: String| [size(given.size), given.count.to_string(), source];
    let mut rows = vec![["SIZE", "COUNT", "SOURCE"].map(str::to_owned)];
    rows.push(row(all, "▒".to_owned()));
    let mut files: Vec<_> = files.iter().collect();
    files.sort_by_key(|(_, lines)| std::cmp::Reverse(sum(lines.values()).size));
    let count = files.len();
    for (place, (file, lines)) in files.into_iter().enumerate() {
        let name = file.rsplit('/').next().unwrap_or(file);
        let is_last = place + 1 == count;
        let (own, before) = match is_last {
            true => ('└', ' '),
            false => ('├', '|'),
        };
        rows.push(row(sum(lines.values()), format!("{own}{name} [{file}]")));
        let mut lines: Vec<_> = lines.iter().collect();
        lines.sort_by_key(|(_, given)| std::cmp::Reverse(given.size));
        let count = lines.len();
        for (place, (line, given)) in lines.into_iter().enumerate() {
            let own = if place + 1 == count { '└' } else { '├' };
            rows.push(row(*given, format!("{before}{own}{name}:{line}")));
        }
    }
    table(&rows)
}

async fn as_json(
    log: Log,
    query: Option<String>,
    headers: HeaderMap,
    kind: Kind,
) -> Result<Response, Refusal> {
    let files = asked(&log, query.as_deref(), kind).await?;
    Ok(text(&headers, JSON, json_of(&files)))
}

async fn as_tree(
    log: Log,
    query: Option<String>,
    headers: HeaderMap,
    kind: Kind,
) -> Result<Response, Refusal> {
    let files = asked(&log, query.as_deref(), kind).await?;
    Ok(text(&headers, TEXT, tree_of(&files)))
}

/// Of copies that were made for known arguments.
pub async fn constants(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_json(log, query, headers, Kind::Constants).await
}

/// Of all others.
pub async fn statics(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_json(log, query, headers, Kind::Statics).await
}

/// The first as a table.
pub async fn constant_tree(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_tree(log, query, headers, Kind::Constants).await
}

/// The others as a table.
pub async fn static_tree(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    as_tree(log, query, headers, Kind::Statics).await
}
