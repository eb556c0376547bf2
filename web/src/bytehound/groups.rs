//! `/allocation_groups`: blocks put together by their stacks.

use std::sync::Arc;

use axum::extract::{Path, RawQuery};
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::{Choice, Sums, World, sums_of_stacks};
use memlog_pages::blocks::timeline::picture;
use memlog_pages::blocks::{Matter, Told};
use memlog_query::from_old;

use super::JSON;
use super::asked::{Asked, Of};
use super::clock::Clock;
use super::frames::{Stacks, id, ids, with};
use super::log::Log;
use super::sums;
use crate::pieces::{FULL, Sink, streamed};
use crate::reply::{self, Refusal};

/// Groups that are put into words at a time, at most.
const PIECE: usize = 2048;
/// Points of a picture.
const POINTS: usize = 2000;

/// What groups are put in order by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    First,
    Last,
    Interval,
    Count,
    Leaked,
    Size,
    Peak,
}

/// Of the chosen blocks, or of all of the stack.
const KEYS: [(&str, (bool, Key)); 13] = [
    ("only_matched.min_timestamp", (false, Key::First)),
    ("only_matched.max_timestamp", (false, Key::Last)),
    ("only_matched.interval", (false, Key::Interval)),
    ("only_matched.allocated_count", (false, Key::Count)),
    ("only_matched.leaked_count", (false, Key::Leaked)),
    ("only_matched.size", (false, Key::Size)),
    ("all.min_timestamp", (true, Key::First)),
    ("all.max_timestamp", (true, Key::Last)),
    ("all.interval", (true, Key::Interval)),
    ("all.allocated_count", (true, Key::Count)),
    ("all.leaked_count", (true, Key::Leaked)),
    ("all.size", (true, Key::Size)),
    ("all.max_total_usage_first_seen_at", (true, Key::Peak)),
];

/// The blocks of a stack.
#[derive(Clone, Copy)]
struct Group {
    stack: u32,
    matched: Sums,
    all: Sums,
    /// The event after which they first held most.
    peak: u64,
}

impl Group {
    fn key(&self, world: &World, clock: Clock, (is_all, key): (bool, Key)) -> u64 {
        let sums = if is_all { &self.all } else { &self.matched };
        let (first_ns, last_ns) = sums::born_ns(world, clock, sums);
        match key {
            Key::First => first_ns,
            Key::Last => last_ns,
            Key::Interval => last_ns - first_ns,
            Key::Count => sums.blocks,
            Key::Leaked => sums.leaked_blocks,
            Key::Size => sums.bytes,
            Key::Peak => clock.ns_of(world, self.peak),
        }
    }
}

/// The groups in their order.
fn ordered(
    told: &Told,
    key: (bool, Key),
    is_reversed: bool,
) -> Result<Vec<Group>, memlog_answers::Damaged> {
    let world = told.world;
    let matched = sums_of_stacks(world, told.choice)?;
    let all = sums_of_stacks(world, &Choice::all())?;
    let (peaks, clock, ids) = (world.peaks(), Clock::of(told), ids(world));
    let groups = (0u32..).zip(matched.into_iter().zip(all));
    let groups = groups.filter(|(_, (matched, _))| matched.blocks > 0);
    let groups = groups.map(|(stack, (matched, all))| Group {
        stack,
        matched,
        all,
        peak: peaks.get(stack as usize).map_or(0, |(_, event)| *event),
    });
    let mut groups: Vec<Group> = groups.collect();
    groups.sort_by_cached_key(|group| (group.key(world, clock, key), id(&ids, group.stack)));
    if is_reversed {
        groups.reverse();
    }
    Ok(groups)
}

/// How they are told.
#[derive(Clone)]
struct Form {
    strips: bool,
    /// Where the picture of a group is, without its number, and what is behind that.
    pictures: Option<(String, String)>,
}

/// The groups of the chosen blocks.
pub async fn groups(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let (key, is_reversed) = (asked.choice("sort_by", &KEYS)?, asked.is_reversed()?);
    let (skip, count) = asked.window()?;
    let pictures = asked.flag("generate_graphs")?.then(|| {
        let begin = format!("/data/{}/graph/group/", log.shelved.id);
        (begin, Asked::filters(query.as_deref()))
    });
    let form = Form {
        strips: asked.flag("strip_template_args")?,
        pictures,
    };
    let made = log.told(Matter::Groups, asked.filter, move |told, _| {
        Ok(ordered(told, key, is_reversed)?)
    });
    let mut groups = made.await?;
    let total = groups.len();
    let end = usize::try_from(skip.saturating_add(count)).unwrap_or(usize::MAX);
    groups.truncate(end);
    groups.drain(
        ..groups
            .len()
            .min(usize::try_from(skip).unwrap_or(usize::MAX)),
    );
    let groups = Arc::new(groups);
    let (first, done) = piece(&log, &groups, 0, &form).await?;
    let first = format!("{{\"allocations\":[{first}");
    let end = format!("],\"total_count\":{total}}}");
    Ok(streamed(JSON, first, move |sink| {
        rest(log, groups, done, form, sink, end)
    }))
}

async fn rest(
    log: Log,
    groups: Arc<Vec<Group>>,
    mut done: usize,
    form: Form,
    sink: Sink,
    end: String,
) -> Result<(), Refusal> {
    while done < groups.len() {
        let (text, next) = piece(&log, &groups, done, &form).await?;
        if sink.put(text).await.is_err() {
            return Ok(());
        }
        done = next;
    }
    let _ = sink.put(end).await;
    Ok(())
}

/// Some of them from a place on, and the place behind them.
async fn piece(
    log: &Log,
    groups: &Arc<Vec<Group>>,
    from: usize,
    form: &Form,
) -> Result<(String, usize), Refusal> {
    let (groups, form) = (Arc::clone(groups), form.clone());
    let made = log.told(Matter::Sums, None, move |told, desk| {
        let (world, clock, ids) = (told.world, Clock::of(told), ids(told.world));
        let mut stacks = Stacks::new(desk.frames(memlog_answers::Of::Blocks)?, form.strips);
        let (mut text, mut done) = (String::new(), from);
        for group in groups.iter().skip(from).take(PIECE) {
            let number = id(&ids, group.stack);
            let mut matched = sums::json(world, clock, &group.matched, None);
            if let (Some((begin, filters)), Some(number)) = (&form.pictures, number) {
                for name in ["graph_preview_url", "graph_url"] {
                    let url = format!("{begin}{number}.svg{filters}");
                    matched.insert(name.to_owned(), url.into());
                }
            }
            let object = serde_json::json!({
                "all": sums::json(world, clock, &group.all, Some(group.peak)),
                "only_matched": matched,
                "backtrace_id": number,
            });
            text.push_str(&with(&object, &[("backtrace", stacks.text(group.stack))]));
            done += 1;
            if done < groups.len() {
                text.push(',');
            }
            if text.len() >= FULL {
                break;
            }
        }
        Ok((text, done))
    });
    made.await
}

/// A picture of the chosen blocks of a stack over time.
pub async fn graph(
    log: Log,
    Path((_, file)): Path<(String, String)>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let number = file.strip_suffix(".svg").unwrap_or(&file);
    let of_group = from_old("backtraces", number)
        .map_err(|error| Refusal::asked(format!("graph: {error}"), error.caret()))?;
    let mut asked = log.asked(query.as_deref(), Of::Blocks).await?;
    asked.and(of_group);
    let made = log.told(Matter::Course, asked.filter, |told, _| {
        Ok(picture(told, POINTS)?)
    });
    Ok(reply::picture(&headers, made.await?))
}
