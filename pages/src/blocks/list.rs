//! `memlog table --list`: single blocks.

use memlog_answers::{Damaged, Found, listed};
use serde_json::{Value, json};

use super::sort::Sort;
use super::table::{Args, Which};
use super::{Answer, Told, lifetimes};
use crate::page::Page;
use crate::page::rows::{Last, Rows, titles};
use crate::words::{counted, grouped, second_digits, span};

/// The blocks, the first of their order.
pub fn blocks(told: &Told, args: &Args, which: Which) -> Result<Answer, Damaged> {
    let (found, sums) = listed(told.world, told.choice, args.order(), args.most())?;
    let numbers = told.world.log_numbers();
    let number = |stack: u32| {
        let numbers = numbers.get(stack as usize);
        numbers.and_then(|numbers| numbers.iter().min().copied())
    };
    let step = told.world.seconds(lifetimes::step_ticks(told.world));
    let list = found.iter().map(|one| json_of(told, one, &number));
    let figures = Page::keyed([
        ("by", Value::Null),
        ("bytes", sums.bytes.into()),
        ("blocks", sums.blocks.into()),
        ("list", list.collect::<Vec<_>>().into()),
    ]);
    let what = format!("{}block", which.word());
    let more = sums.blocks - found.len() as u64;
    let rest = (more > 0).then(|| format!("{} more; --top 0 shows all", grouped(more)));
    let rows = Rows {
        title: match sums.blocks {
            0 => format!("no {what}{}", told.about),
            count => format!(
                "{} in {}{}, each for itself:",
                told.sizes.of(sums.bytes),
                counted(count, &what),
                told.about
            ),
        },
        last: Last::Name,
        columns: titles(&[
            "block", "bytes", "usable", "address", "born", "died", "lifetime", "thread", "kind",
            "chain", "stack", "function",
        ]),
        gives_way: gives_way(args.sort),
        rows: found
            .iter()
            .map(|one| row_of(told, (one, step), &number))
            .collect(),
        rest: rest.into_iter().map(Into::into).collect(),
    };
    Ok(Answer {
        figures,
        rows,
        note: lifetimes::note(told.world),
        ..Answer::default()
    })
}

/// What is not shown where there is no room for all, unless blocks are sorted by it.
fn gives_way(sort: Sort) -> Vec<&'static str> {
    let columns = [
        ("usable", Some(Sort::Usable)),
        ("chain", Some(Sort::Chain)),
        ("kind", Some(Sort::Kind)),
        ("block", None),
        ("stack", Some(Sort::Stack)),
        ("thread", Some(Sort::Thread)),
        ("lifetime", Some(Sort::Lifetime)),
    ];
    let others = columns.into_iter().filter(|(_, by)| *by != Some(sort));
    others.map(|(title, _)| title).collect()
}

/// How long it was there, in seconds; to the end of the log if it is there still.
fn lifetime(told: &Told, one: &Found) -> f64 {
    let died = one.died.unwrap_or(memlog_table::NEVER);
    told.world.seconds(told.world.lifetime(one.born, died))
}

/// A block that another grew out of, or into, as the chain's first block and the place
/// behind it.
fn chain(one: &Found) -> String {
    match (one.chain_place, one.flags.is_moved()) {
        (0, false) => String::new(),
        (place, _) => format!("{}+{place}", one.chain),
    }
}

/// `step` is how far the clock goes on at a time, in seconds.
fn row_of(
    told: &Told,
    (one, step): (&Found, f64),
    number: &impl Fn(u32) -> Option<u32>,
) -> Vec<String> {
    let world = told.world;
    let digits = second_digits(world.tick_ns, 3);
    let seconds = |event| format!("{:.digits$}", world.seconds_of(event));
    vec![
        one.born.to_string(),
        told.sizes.of(one.size),
        told.sizes.of(one.size.saturating_add(one.waste)),
        format!("{:#x}", one.address),
        seconds(one.born),
        one.died.map_or_else(|| "never".to_owned(), seconds),
        match lifetime(told, one) {
            none if none < step => format!("< {}", lifetimes::short(step)),
            short if short < 1.0 => lifetimes::short(short),
            long => span(long),
        },
        world.thread(one.thread),
        one.flags.api().name().to_owned(),
        chain(one),
        number(one.stack).map_or(String::new(), |number| format!("#{number}")),
        world
            .owner(one.stack)
            .map_or("(no stack)", |name| &name.function)
            .to_owned(),
    ]
}

fn json_of(told: &Told, one: &Found, number: &impl Fn(u32) -> Option<u32>) -> Value {
    let world = told.world;
    let name = world.owner(one.stack);
    json!({
        "number": one.born,
        "address": format!("{:#x}", one.address),
        "bytes": one.size,
        "usable_bytes": one.size.saturating_add(one.waste),
        "allocated_seconds": world.seconds_of(one.born),
        "freed_seconds": one.died.map(|died| world.seconds_of(died)),
        "lifetime_seconds": lifetime(told, one),
        "thread": world.thread(one.thread),
        "scope": world.scope(one.scope),
        "freed_by": one.releaser.map(|thread| world.thread(thread)),
        "kind": one.flags.api().name(),
        "temporary": one.flags.is_temporary(),
        "moved": one.flags.is_moved(),
        "chain": one.chain,
        "chain_position": one.chain_place,
        "name": name.map(|name| &name.function),
        "location": name.and_then(|name| name.location.as_ref()),
        "stack_number": number(one.stack),
        "freed_stack_number": one.release_stack.and_then(number),
    })
}
