//! `/maps`: what the program mapped itself, each mapping of the run.

use axum::extract::RawQuery;
use axum::response::Response;
use memlog_answers::{Mapped, Mapping, mapped};
use memlog_pages::blocks::{Matter, Told};
use serde_json::{Map, Value, json};

use super::JSON;
use super::asked::Of;
use super::clock::Clock;
use super::frames::{Stacks, id, ids, with};
use super::log::Log;
use crate::pieces::{FULL, streamed};
use crate::reply::Refusal;

#[derive(Clone, Copy)]
enum Key {
    First,
    Address,
    Size,
}

const KEYS: [(&str, Option<Key>); 4] = [
    ("timestamp", Some(Key::First)),
    ("address", Some(Key::Address)),
    ("size", Some(Key::Size)),
    ("peak_rss", None),
];

/// Bits of a mapping's protection, and of its flags.
const ACCESS: [(&str, u32); 3] = [("is_readable", 1), ("is_writable", 2), ("is_executable", 4)];
const MAP_SHARED: u32 = 1;

/// What is told of each besides.
#[derive(Clone, Copy)]
struct Form {
    strips: bool,
    with_regions: bool,
    with_history: bool,
}

/// The chosen ones.
pub async fn maps(log: Log, RawQuery(query): RawQuery) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Maps).await?;
    let (key, is_reversed) = (asked.choice("sort_by", &KEYS)?, asked.is_reversed()?);
    let key = key.ok_or_else(|| {
        Refusal::asked(
            "sort_by=peak_rss: no log knows how much of each mapping was resident over time",
            "sort by timestamp, address or size; `memlog rss` has the peak's moment",
        )
    })?;
    let (skip, count) = asked.window()?;
    let only: Option<u64> = asked.number("id")?;
    asked.flag("generate_graphs")?;
    let form = Form {
        strips: asked.flag("strip_template_args")?,
        with_regions: asked.flag("with_regions")?,
        with_history: asked.flag("with_usage_history")?,
    };
    // Who asks for one of them means that one.
    let filter = asked.filter.filter(|_| only.is_none());
    let made = log.told(Matter::Mappings, filter, move |told, _| {
        let mut all = mapped(told.world, told.choice)?;
        all.retain(|one| only.is_none_or(|only| one.whole.born == only));
        all.sort_by_key(|one| match key {
            Key::First => one.whole.born,
            Key::Address => one.whole.address,
            Key::Size => one.whole.bytes,
        });
        if is_reversed {
            all.reverse();
        }
        Ok(all)
    });
    let mut all = made.await?;
    let total = all.len();
    all.truncate(usize::try_from(skip.saturating_add(count)).unwrap_or(usize::MAX));
    all.drain(..all.len().min(usize::try_from(skip).unwrap_or(usize::MAX)));
    let all = std::sync::Arc::new(all);
    let end = format!("],\"total_count\":{total}}}");
    Ok(streamed(
        JSON,
        "{\"maps\":[".to_owned(),
        move |sink| async move {
            let mut done = 0;
            while done < all.len() {
                let (list, from) = (std::sync::Arc::clone(&all), done);
                let made = log.told(Matter::Mappings, None, move |told, desk| {
                    let frames = desk.frames(memlog_answers::Of::Mappings)?;
                    let mut words = Words::new(told, Stacks::new(frames, form.strips), form);
                    Ok(words.piece(&list, from))
                });
                let (text, next) = made.await?;
                if sink.put(text).await.is_err() {
                    return Ok(());
                }
                done = next;
            }
            let _ = sink.put(end).await;
            Ok(())
        },
    ))
}

/// What mappings are put into words with.
struct Words<'w, 't, 'b, 'f> {
    told: &'w Told<'w, 't, 'b>,
    stacks: Stacks<'f>,
    ids: Vec<Option<u32>>,
    clock: Clock,
    form: Form,
}

impl<'w, 't, 'b, 'f> Words<'w, 't, 'b, 'f> {
    fn new(told: &'w Told<'w, 't, 'b>, stacks: Stacks<'f>, form: Form) -> Self {
        Self {
            told,
            stacks,
            ids: ids(told.world),
            clock: Clock::of(told),
            form,
        }
    }

    /// Some of them from a place on, and the place behind them.
    fn piece(&mut self, all: &[Mapped], from: usize) -> (String, usize) {
        let (mut text, mut done) = (String::new(), from);
        while let Some(one) = all.get(done)
            && text.len() < FULL
        {
            text.push_str(&self.whole(one));
            done += 1;
            if done < all.len() {
                text.push(',');
            }
        }
        (text, done)
    }

    fn whole(&mut self, one: &Mapped) -> String {
        let whole = &one.whole;
        let mut object = self.place(whole);
        for (name, value) in [
            ("id", whole.born.into()),
            ("peak_rss", Value::Null),
            ("graph_preview_url", Value::Null),
            ("graph_url", Value::Null),
        ] {
            object.insert(name.to_owned(), value);
        }
        if self.form.with_history {
            object.insert("usage_history".to_owned(), json!([]));
        }
        let source = self.source(whole.born, Some(whole.thread), Some(whole.stack));
        let mut more = vec![("source", source)];
        // It is gone once all of it is.
        let gone = one.parts.iter().map(|part| part.died).max();
        if gone.is_some() && one.parts.iter().all(|part| part.died.is_some()) {
            let last = one.parts.iter().max_by_key(|part| part.died);
            more.extend(last.map(|last| ("deallocation", self.unmapped(last))));
        }
        if self.form.with_regions {
            let parts: Vec<_> = one.parts.iter().map(|part| self.region(part)).collect();
            more.push(("regions", format!("[{}]", parts.join(","))));
        }
        let more: Vec<_> = more
            .iter()
            .map(|(name, text)| (*name, text.as_str()))
            .collect();
        with(&Value::Object(object), &more)
    }

    /// Where a part lies, since when, and what may be done there.
    fn place(&self, one: &Mapping) -> Map<String, Value> {
        let mut object = Map::new();
        for (name, value) in [
            ("address", one.address.into()),
            ("address_s", format!("{:016X}", one.address).into()),
            ("size", one.bytes.into()),
            // The log has no names of what programs map.
            ("name", Value::Null),
        ] {
            object.insert(name.to_owned(), value);
        }
        let access = one.flags.access();
        for (name, bit) in ACCESS {
            let is = access.map(|(protection, _)| protection & bit != 0);
            object.insert(name.to_owned(), is.into());
        }
        let is_shared = access.map(|(_, flags)| flags & MAP_SHARED != 0);
        object.insert("is_shared".to_owned(), is_shared.into());
        let came_ns = self.clock.ns_of(self.told.world, one.born);
        self.clock.add(&mut object, "timestamp", came_ns);
        object
    }

    fn region(&mut self, part: &Mapping) -> String {
        let mut object = self.place(part);
        for name in ["file_offset", "inode", "major", "minor"] {
            object.insert(name.to_owned(), Value::Null);
        }
        let gone = part.died.map(|died| {
            let source = self.source(died, part.releaser, part.release_stack);
            let at = json!({ "address": part.address, "length": part.bytes });
            let source = with(&at, &[("source", &source)]);
            let timestamp = json!({ "timestamp": self.clock.at(self.told.world, died) });
            with(&timestamp, &[("sources", &format!("[{source}]"))])
        });
        let gone: Vec<_> = gone
            .iter()
            .map(|gone| ("deallocation", gone.as_str()))
            .collect();
        with(&Value::Object(object), &gone)
    }

    fn unmapped(&mut self, part: &Mapping) -> String {
        let died = part.died.unwrap_or_default();
        let timestamp = json!({ "timestamp": self.clock.at(self.told.world, died) });
        let source = self.source(died, part.releaser, part.release_stack);
        with(&timestamp, &[("source", &source)])
    }

    /// Who did something at an event.
    fn source(&mut self, event: u64, thread: Option<usize>, stack: Option<u32>) -> String {
        let world = self.told.world;
        let thread = thread.and_then(|place| world.table.threads().get(place));
        let mut object = Map::new();
        object.insert("thread".to_owned(), thread.map(|thread| thread.tid).into());
        let number = stack.and_then(|stack| id(&self.ids, stack));
        object.insert("backtrace_id".to_owned(), number.into());
        self.clock
            .add(&mut object, "timestamp", self.clock.ns_of(world, event));
        let backtrace = stack.map_or("[]".to_owned(), |stack| self.stacks.text(stack).to_owned());
        with(&Value::Object(object), &[("backtrace", &backtrace)])
    }
}
