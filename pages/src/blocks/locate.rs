//! `memlog where`: who allocated an address, and who freed it.

use memlog_analysis::END;
use memlog_answers::{Damaged, Found, found_at};
use memlog_format::meta::Lack;
use serde_json::{Value, json};

use super::lifetimes::{Lifetime, step_ticks};
use super::{Answer, Ask, Failure, Question, Told, frames};
use crate::page::Page;
use crate::page::rows::{Rest, Rows};
use crate::rests::Rests;
use crate::words::{counted, grouped, second_digits};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-where-1";

/// Say who allocated an address, and who freed it.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// An address of the program, as 0x7f3a5c000b20: of a block's beginning or within it
    #[arg(value_name = "ADDRESS", value_parser = address)]
    address: u64,
    /// How many blocks are shown, the last ones
    #[arg(short = 'n', long, value_name = "N", default_value = "10")]
    top: usize,
}

fn address(text: &str) -> Result<u64, String> {
    let number = match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    number.map_err(|_| "an address is a number such as 0x7f3a5c000b20".into())
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        Rests::from(true).on(&[Lack::Addresses])
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        Ok(answer(told, self)?)
    }
}

fn answer(told: &Told, args: &Args) -> Result<Answer, Damaged> {
    let (found, count) = found_at(told.world, told.choice, args.address, args.top.max(1))?;
    // All events are gone through for it.
    let asked = (args.address, step_ticks(told.world));
    let figures = Page::keyed([
        ("address", format!("{:#x}", args.address).into()),
        ("blocks", count.into()),
        (
            "rows",
            found
                .iter()
                .map(|found| json_of(told, found, asked))
                .collect::<Vec<_>>()
                .into(),
        ),
    ]);
    let mut rows = Rows {
        title: match count {
            0 => format!(
                "no block that was recorded had the address {:#x}{}",
                args.address, told.about
            ),
            count => format!("{:#x} was in {}:", args.address, counted(count, "block")),
        },
        ..Rows::default()
    };
    if count > found.len() as u64 {
        let earlier = counted(count - found.len() as u64, "earlier block");
        rows.rest
            .push(format!("{earlier} had it too; --top shows more").into());
    }
    for found in &found {
        rows.rest.extend(lines(told, found, asked));
    }
    Ok(Answer {
        figures,
        rows,
        ..Answer::default()
    })
}

/// Where a stack begins.
fn innermost(told: &Told, stack: u32) -> u32 {
    let stack = told.world.stacks.get(stack as usize);
    stack.map_or(END, |stack| stack.whole)
}

fn json_of(told: &Told, found: &Found, (address, step): (u64, u64)) -> Value {
    let world = told.world;
    let mut row = json!({
        "name": world.owner(found.stack).map(|name| &name.function),
        "bytes": found.size,
        "blocks": 1,
        "address": format!("{:#x}", found.address),
        "offset": address - found.address,
        "waste_bytes": found.waste,
        "kind": found.flags.api().name(),
        "allocated_seconds": world.seconds_of(found.born),
        "freed_seconds": found.died.map(|died| world.seconds_of(died)),
        "thread": world.thread(found.thread),
        "scope": world.scope(found.scope),
        "freed_by": found.releaser.map(|thread| world.thread(thread)),
        "moved": found.flags.is_moved(),
        "chain_position": found.chain_place,
        "stack": frames(told, innermost(told, found.stack)),
        "freed_stack": found.release_stack.map(|stack| frames(told, innermost(told, stack))),
    });
    let lifetime = found
        .died
        .and_then(|died| Lifetime::new(world, step, found.born, died));
    if let Value::Object(row) = &mut row {
        row.extend(Lifetime::keys(lifetime.as_ref()));
    }
    row
}

fn lines(told: &Told, found: &Found, (address, step): (u64, u64)) -> Vec<Rest> {
    let world = told.world;
    let digits = second_digits(world.tick_ns, 3);
    let into = match address - found.address {
        0 => "it begins there".to_owned(),
        into => format!("{} bytes into it", grouped(into)),
    };
    let mut lines: Vec<Rest> = vec![
        String::new().into(),
        format!(
            "{} bytes at {:#x} ({into}), {} at {:.digits$} s by thread {}{}",
            grouped(found.size),
            found.address,
            found.flags.api().name(),
            world.seconds_of(found.born),
            world.thread(found.thread),
            match found.scope {
                NO_SCOPE => String::new(),
                scope => format!(" in scope {}", world.scope(scope)),
            },
        )
        .into(),
    ];
    lines.extend(stack_lines(told, found.stack));
    match (found.died, found.releaser) {
        (Some(died), Some(releaser)) => {
            let how = match (found.flags.is_moved(), found.flags.is_lost_sight_of()) {
                (true, _) => "taken by a realloc",
                (_, true) => "released, which the log does not have,",
                _ => "freed",
            };
            let lifetime = Lifetime::new(world, step, found.born, died);
            let how = format!(
                "  {how} at {:.digits$} s by thread {}{}",
                world.seconds_of(died),
                world.thread(releaser),
                lifetime.map_or(String::new(), |it| format!(", {}", it.words(world)))
            );
            lines.push(how.into());
            match found.release_stack {
                Some(stack) => lines.extend(stack_lines(told, stack)),
                None => lines.push(UNKNOWN.to_owned().into()),
            }
        }
        _ => lines.push("  never freed".to_owned().into()),
    }
    lines
}

/// The place of what stands for none.
const NO_SCOPE: usize = memlog_analysis::Scopes::NONE as usize;

const UNKNOWN: &str = "    (who freed it: record with --free-stacks)";

fn stack_lines(told: &Told, stack: u32) -> Vec<Rest> {
    let names = told.world.named(innermost(told, stack));
    names.cloned().map(Rest::Frame).collect()
}
