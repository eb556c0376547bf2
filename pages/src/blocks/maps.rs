//! `memlog maps`: what the program mapped itself, and who did.

use memlog_analysis::Held;
use memlog_answers::{By, Mapping, MappingRow, Of, backing_at, mapped_at, mappings};
use memlog_table::Flags;
use serde_json::{Value, json};

use super::listed::{by_callers, rest, shown};
use super::{Answer, Ask, Failure, Question, Told, frames};
use crate::moment::At;
use crate::page::Page;
use crate::page::rows::{Last, Rest, Rows, titles};
use crate::rests::Rests;
use crate::words::{counted, grouped, span};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-maps-1";

/// Say who mapped memory with mmap, mremap and brk.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// What mappings are put together by
    #[arg(long, value_name = "WHAT", default_value = "function", value_parser = by_callers())]
    by: By,
    /// List each mapping of the moment, the largest first
    #[arg(long, conflicts_with = "by")]
    list: bool,
    /// How many rows are shown; 0: all. JSON has all
    #[arg(short = 'n', long, value_name = "N", default_value = "20")]
    top: usize,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(true).on_mappings()
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        answer(told, self)
    }

    fn of(&self) -> Of {
        Of::Mappings
    }
}

/// What was mapped at the moment.
struct Then {
    moment: String,
    event: u64,
    seconds: f64,
    list: Vec<Mapping>,
    held: Held,
    reserved: u64,
    /// What the allocator had mapped for itself.
    backing: Held,
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Failure> {
    let when = args.question.at.as_ref().unwrap_or(&At::RSS_PEAK);
    let event = told.event(when)?;
    let list = mapped_at(told.world, told.filtered, event)?;
    let sum = |list: &mut dyn Iterator<Item = &Mapping>| {
        list.fold(Held::default(), |sum, one| {
            sum.plus(Held {
                bytes: one.bytes,
                blocks: 1,
            })
        })
    };
    let then = Then {
        moment: when.to_string(),
        event,
        seconds: told.world.seconds_of(event),
        held: sum(&mut list.iter()),
        reserved: sum(&mut list.iter().filter(|one| !one.flags.is_open())).bytes,
        backing: backing_at(told.world, event)?,
        list,
    };
    let rows = mappings(told.world, told.filtered, then.event, args.by)?;
    let objects = rows.iter().map(|row| row_json(told, &then, row));
    let list = then.list.iter().map(|one| mapping_json(told, one));
    let figures = Page::keyed([
        ("by", args.by.word().into()),
        ("moment", then.moment.clone().into()),
        ("seconds", then.seconds.into()),
        ("bytes", then.held.bytes.into()),
        ("mappings", then.held.blocks.into()),
        ("reserved_bytes", then.reserved.into()),
        ("backing_bytes", then.backing.bytes.into()),
        ("rows", objects.collect::<Vec<_>>().into()),
        ("list", list.collect::<Vec<_>>().into()),
    ]);
    let mut page = match args.list {
        true => list_of(told, args, &then),
        false => rows_of(told, args, &then, &rows),
    };
    page.rest.extend(remarks(told, &then));
    Ok(Answer {
        figures,
        rows: page,
        ..Answer::default()
    })
}

fn row_json(told: &Told, then: &Then, row: &MappingRow) -> Value {
    let stack = row
        .stack
        .and_then(|stack| told.world.stacks.get(stack as usize));
    json!({
        "name": row.name,
        "bytes": row.live.bytes,
        "mappings": row.live.blocks,
        "reserved_bytes": row.reserved,
        "age_seconds": age(told, then, row),
        "total_bytes": row.total.bytes,
        "calls": row.total.blocks,
        "unmapped_bytes": row.unmapped,
        "largest_bytes": row.largest,
        "stack": stack.map(|stack| frames(told, stack.asker)),
    })
}

/// How long the oldest that was mapped then had been there.
fn age(told: &Told, then: &Then, row: &MappingRow) -> Option<f64> {
    let oldest = row.oldest?;
    Some(then.seconds - told.world.seconds_of(oldest))
}

fn mapping_json(told: &Told, one: &Mapping) -> Value {
    let world = told.world;
    let name = world.owner(one.stack);
    let stack = world.stacks.get(one.stack as usize);
    json!({
        "number": one.born,
        "address": format!("{:#x}", one.address),
        "bytes": one.bytes,
        "function": one.flags.api().name(),
        "protection": one.flags.access().map(|(prot, _)| protection(prot)),
        "shared": one.flags.access().map(|(_, flags)| is_shared(flags)),
        "flags": one.flags.access().map(|(_, flags)| flags),
        "mapped_seconds": world.seconds_of(one.born),
        "unmapped_seconds": one.died.map(|died| world.seconds_of(died)),
        "thread": world.thread(one.thread),
        "name": name.map(|name| &name.function),
        "location": name.map(|name| &name.location),
        "stack": stack.map(|stack| frames(told, stack.asker)),
    })
}

/// As /proc/PID/maps has it.
fn protection(prot: u32) -> String {
    let letters = [(1, 'r'), (2, 'w'), (4, 'x')];
    let letters = letters.map(|(bit, letter)| if prot & bit != 0 { letter } else { '-' });
    letters.iter().collect()
}

fn is_shared(flags: u32) -> bool {
    const MAP_SHARED: u32 = 1;
    flags & MAP_SHARED != 0
}

fn access(flags: Flags) -> String {
    flags.access().map_or("?".into(), |(prot, flags)| {
        let shared = if is_shared(flags) { 's' } else { 'p' };
        format!("{}{shared}", protection(prot))
    })
}

fn title(told: &Told, then: &Then, how: &str) -> String {
    match then.held.blocks {
        0 => format!(
            "nothing mapped by the program itself at {}{}",
            then.moment, told.about_filter
        ),
        count => format!(
            "{} in {} by the program itself at {}, touched or not{}, {how}:",
            told.sizes.of(then.held.bytes),
            counted(count, "mapping"),
            then.moment,
            told.about_filter
        ),
    }
}

fn rows_of(told: &Told, args: &Args, then: &Then, rows: &[MappingRow]) -> Rows {
    let some = |bytes: u64| match bytes {
        0 => String::new(),
        bytes => told.sizes.of(bytes),
    };
    let share = |part: u64| match (part, then.held.bytes) {
        (0, _) | (_, 0) => String::new(),
        (part, all) => format!("{:.1}%", 100.0 * part as f64 / all as f64),
    };
    let count = |count: u64| match count {
        0 => String::new(),
        count => grouped(count),
    };
    let cells = rows[..shown(args.top, rows.len())].iter().map(|row| {
        vec![
            share(row.live.bytes),
            some(row.live.bytes),
            count(row.live.blocks),
            age(told, then, row).map_or(String::new(), span),
            told.sizes.of(row.total.bytes),
            some(row.unmapped),
            grouped(row.total.blocks),
            told.sizes.of(row.largest),
            row.name.clone(),
        ]
    });
    Rows {
        title: title(told, then, &format!("by {}", args.by.word())),
        last: Last::of(args.by),
        columns: titles(&[
            "share",
            "mapped",
            "mappings",
            "oldest",
            "in the run",
            "unmapped",
            "calls",
            "largest",
            args.by.word(),
        ]),
        gives_way: vec![
            "oldest", "largest", "unmapped", "mappings", "calls", "share",
        ],
        rows: cells.collect(),
        rest: rest(args.top, rows.len()).into_iter().collect(),
    }
}

fn list_of(told: &Told, args: &Args, then: &Then) -> Rows {
    let world = told.world;
    let all = then.list.len();
    let cells = then.list[..shown(args.top, all)].iter().map(|one| {
        let name = world.owner(one.stack);
        vec![
            one.born.to_string(),
            told.sizes.of(one.bytes),
            format!("{:x}-{:x}", one.address, one.end()),
            access(one.flags),
            one.flags.api().name().to_owned(),
            format!("{:.3}", world.seconds_of(one.born)),
            world.thread(one.thread),
            name.map_or("(no stack)", |name| &name.function).to_owned(),
        ]
    });
    Rows {
        title: title(told, then, "the largest first"),
        last: Last::Name,
        columns: titles(&[
            "map",
            "bytes",
            "addresses",
            "access",
            "by",
            "seconds",
            "thread",
            "function",
        ]),
        gives_way: vec!["thread", "seconds", "map", "by"],
        rows: cells.collect(),
        rest: rest(args.top, all).into_iter().collect(),
    }
}

/// What is no row of the list.
fn remarks(told: &Told, then: &Then) -> Vec<Rest> {
    let reserved = (then.reserved > 0).then(|| {
        format!(
            "{} of it was mapped without any access (PROT_NONE): address space, no memory",
            told.sizes.of(then.reserved)
        )
    });
    let backing = (then.backing.blocks > 0).then(|| {
        format!(
            "besides, allocators mapped {} for the heap",
            told.sizes.of(then.backing.bytes)
        )
    });
    let all = reserved.into_iter().chain(backing);
    all.map(Rest::from).collect()
}
