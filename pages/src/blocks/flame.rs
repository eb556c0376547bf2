//! The largest branches of the tree of callers, for a front end that draws them: of any
//! blocks, from either end, of one moment or of two.

use std::collections::HashMap;

use memlog_analysis::{Bud, END, Held, Largest, Line, Name, Pair, largest, step, without_outside};
use memlog_answers::{Test, World, held_at, held_of, released_by};
use memlog_format::meta::Lack;
use memlog_table::Column;
use serde_json::{Value, json};

use super::{Answer, Ask, Failure, Question, Told};
use crate::figures::place;
use crate::moment::At;
use crate::page::Page;
use crate::page::tree::{By, NO_FRAMES};
use crate::rests::Rests;

/// The version of the keys; `doc/API.md` says what they mean.
const SCHEMA: &str = "memlog-flame-1";

/// The largest branches of the tree of callers.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    /// What is counted; live is at the RSS peak if --at does not say when
    #[arg(long, value_name = "WHAT", default_value = "live", value_enum)]
    by: By,
    /// From the functions that called the allocator out, not from main in
    #[arg(long)]
    reverse: bool,
    /// What was live at this moment stands beside it
    #[arg(long, value_name = "MOMENT", allow_negative_numbers = true)]
    before: Option<At>,
    /// How many branches at most, the largest
    #[arg(long, value_name = "N", default_value = "20000")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=200_000))]
    nodes: u32,
}

impl Ask for Args {
    fn schema(&self) -> &'static str {
        SCHEMA
    }

    fn question(&self) -> &Question {
        &self.question
    }

    fn rests(&self) -> Rests {
        let rests = Rests::from(true).counting(self.by);
        match self.before {
            Some(_) => rests.on(&[Lack::Live]),
            None => rests,
        }
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        let world = told.world;
        let held = self.held(told)?;
        let tree = Tree::of(world);
        let ends = held.iter().zip(&tree.ends);
        let ends = ends.filter(|(held, _)| **held != Pair::default());
        let ends = ends.map(|(held, end)| (*end, *held)).collect();
        let most = self.nodes as usize;
        let measure = self.by.measure();
        let found = match self.reverse {
            true => largest(tree.outwards(ends), measure, most, |ends| {
                tree.outwards(ends)
            }),
            false => {
                let below = Below::of(&tree.lines, ends);
                largest(below.of_line(END), measure, most, |line| {
                    below.of_line(line)
                })
            }
        };
        Ok(Answer {
            figures: self.figures(world, &found),
            ..Answer::default()
        })
    }

    fn check(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.by == By::Live || self.before.is_none(),
            "before is a moment, and {} is of the whole run",
            self.by.name()
        );
        Ok(())
    }
}

impl Args {
    /// What each stack holds, now and before.
    fn held(&self, told: &Told) -> Result<Vec<Pair>, Failure> {
        let world = told.world;
        if self.by == By::Live {
            let now = self.question.at().unwrap_or(&At::RSS_PEAK);
            let mut events = vec![told.event(now)?];
            if let Some(before) = &self.before {
                events.push(told.event(before)?);
            }
            let mut held = held_at(world, told.filtered, &events)?.into_iter();
            let now = held.next().unwrap_or_default();
            let before = held
                .next()
                .unwrap_or_else(|| vec![Held::default(); now.len()]);
            return Ok(now
                .into_iter()
                .zip(before)
                .map(|(now, before)| [now, before])
                .collect());
        }
        let held = counted(told, self.by, self.question.at())?.0.into_iter();
        Ok(held.map(|held| [held, Held::default()]).collect())
    }

    fn figures(&self, world: &World, found: &Largest) -> serde_json::Map<String, Value> {
        let mut labels: HashMap<u32, usize> = HashMap::new();
        let mut names = Vec::new();
        let mut label = |label: u32| {
            *labels.entry(label).or_insert_with(|| {
                let nameless = Name {
                    function: NO_FRAMES.to_owned(),
                    location: None,
                    module: None,
                };
                names.push(place(world.names.get(label as usize).unwrap_or(&nameless)));
                names.len() - 1
            })
        };
        let branches = &found.branches;
        let name: Vec<usize> = branches.iter().map(|branch| label(branch.label)).collect();
        let parent = branches
            .iter()
            .map(|branch| branch.parent.map_or(-1, i64::from));
        let column = |value: fn(&memlog_analysis::Grown) -> u64| -> Value {
            branches.iter().map(value).collect::<Vec<_>>().into()
        };
        let mut nodes = json!({
            "name": name,
            "parent": parent.collect::<Vec<_>>(),
            "bytes": column(|branch| branch.held[0].bytes),
            "blocks": column(|branch| branch.held[0].blocks),
            "own_bytes": column(|branch| branch.own[0].bytes),
            "own_blocks": column(|branch| branch.own[0].blocks),
        });
        let (count, left_out) = found.left_out;
        let mut totals = Page::keyed([
            ("by", self.by.name().into()),
            ("reverse", self.reverse.into()),
            (
                "before",
                self.before.as_ref().map(ToString::to_string).into(),
            ),
            ("total_bytes", found.total[0].bytes.into()),
            ("total_blocks", found.total[0].blocks.into()),
            (
                "left_out",
                json!({
                    "nodes": count,
                    "bytes": left_out[0].bytes,
                    "blocks": left_out[0].blocks,
                }),
            ),
        ]);
        if self.before.is_some() {
            nodes["before_bytes"] = column(|branch| branch.held[1].bytes);
            nodes["before_blocks"] = column(|branch| branch.held[1].blocks);
            totals.insert("before_total_bytes".into(), found.total[1].bytes.into());
            totals.insert("before_total_blocks".into(), found.total[1].blocks.into());
        }
        totals.insert("nodes".into(), nodes);
        totals.insert("names".into(), names.into());
        totals
    }
}

/// What stacks hold of what is counted, and the words for that.
pub(super) fn counted(
    told: &Told,
    by: By,
    at: Option<&At>,
) -> Result<(Vec<Held>, String), Failure> {
    let world = told.world;
    // What was there before the log was not allocated in it.
    let came = || {
        told.choice
            .clone()
            .and(Test::Between(Column::Born, 1, world.end()))
    };
    let (held, words) = match by {
        By::Live => {
            let at = at.unwrap_or(&At::RSS_PEAK);
            let live = told.filtered.clone().and(Test::LiveAt(told.event(at)?));
            (held_of(world, &live)?, format!("live at {at}"))
        }
        By::Freed => {
            let went = told.choice.clone().and(Test::Died(1, world.end()));
            (released_by(world, &went)?.0, "freed".to_owned())
        }
        By::Temporary => {
            let held = held_of(world, &came().and(Test::Temporary))?;
            (held, "temporary".to_owned())
        }
        By::Allocated | By::Count | By::Mapped => {
            (held_of(world, &came())?, "allocated".to_owned())
        }
    };
    Ok((held, words))
}

/// Stacks as lines that end at main, and where each stack ends.
struct Tree {
    lines: Vec<Line>,
    ends: Vec<u32>,
}

impl Tree {
    fn of(world: &World) -> Self {
        let (lines, numbers) = without_outside(&world.lines, &world.names);
        let end = |line: u32| numbers.get(line as usize).copied().unwrap_or(END);
        let ends = world.stacks.iter().map(|stack| end(stack.asker));
        Self {
            ends: ends.collect(),
            lines,
        }
    }

    /// What stacks have next on their way out.
    fn outwards(&self, ends: Vec<(u32, Pair)>) -> Vec<Bud<Vec<(u32, Pair)>>> {
        let mut groups: HashMap<u32, (Pair, Vec<(u32, Pair)>)> = HashMap::new();
        for (line, held) in ends {
            if let Some((label, callers)) = step(&self.lines, line) {
                let (sum, ends) = groups.entry(label).or_default();
                *sum = plus(*sum, held);
                ends.push((callers, held));
            }
        }
        let groups = groups.into_iter();
        groups
            .map(|(label, (sum, ends))| (label, sum, ends))
            .collect()
    }
}

/// From main in: what each line holds, and the lines below it.
struct Below<'l> {
    lines: &'l [Line],
    held: Vec<Pair>,
    /// By line the first one below it, and the next one below the same; [`END`] for none.
    first: Vec<u32>,
    next: Vec<u32>,
}

impl<'l> Below<'l> {
    fn of(lines: &'l [Line], ends: Vec<(u32, Pair)>) -> Self {
        let mut held = vec![Pair::default(); lines.len()];
        for (line, one) in ends {
            if let Some(held) = held.get_mut(line as usize) {
                *held = plus(*held, one);
            }
        }
        let (mut first, mut next) = (vec![END; lines.len()], vec![END; lines.len()]);
        for (line, own) in lines.iter().enumerate().skip(1).rev() {
            let outer = own.callers as usize;
            held[outer] = plus(held[outer], held[line]);
            next[line] = std::mem::replace(&mut first[outer], line as u32);
        }
        Self {
            lines,
            held,
            first,
            next,
        }
    }

    fn of_line(&self, line: u32) -> Vec<Bud<u32>> {
        let mut found = Vec::new();
        let mut line = self.first[line as usize];
        while line != END {
            let held = self.held[line as usize];
            if held != Pair::default() {
                found.push((self.lines[line as usize].label, held, line));
            }
            line = self.next[line as usize];
        }
        found
    }
}

fn plus(one: Pair, other: Pair) -> Pair {
    [one[0].plus(other[0]), one[1].plus(other[1])]
}
