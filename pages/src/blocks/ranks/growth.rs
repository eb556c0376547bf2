//! What grew from the ranks of one job to those of another.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use memlog_answers::{By, Ranks, Site, SiteKey};
use serde_json::{Value, json};

use super::page::{INDENT, job, json_of_side, known, live, tell_missing, tell_unread};
use super::{Args, Side, USUAL};
use crate::figures::place;
use crate::page::heading::Heading;
use crate::page::rows::{GREW, Last, Rows, titles};
use crate::page::{OnNames, Page, Part};
use crate::words::{Sizes, change};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-ranks-growth-1";

/// A place, before and after.
struct Row<'r> {
    key: &'r SiteKey,
    sites: [Option<&'r Site>; 2],
}

impl Row<'_> {
    fn bytes(&self) -> [u64; 2] {
        self.sites.map(|site| site.map_or(0, |site| site.bytes))
    }

    fn grown(&self) -> i64 {
        let [before, after] = self.bytes().map(i128::from);
        // Far more than there is of memory.
        (after - before).clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// Both jobs, and what changed.
pub fn page(args: &Args, sides: [&Side; 2], sizes: Sizes) -> Page {
    let rows = changed(sides.map(|side| &side.taken.ranks));
    let mut heading = Heading {
        indent: INDENT,
        ..Heading::default()
    };
    for (name, side) in ["before", "after"].into_iter().zip(sides) {
        tell(&mut heading, name, side, sizes);
    }
    let notes = sides.iter().flat_map(|side| &side.taken.ranks.notes);
    let remarks: BTreeSet<String> = notes.cloned().collect();
    let settings = &sides[1].taken.settings;
    let (shown, _) = args.shown(rows.len());
    let json_rows = rows[..shown].iter().map(|row| json_of(row, settings.by));
    let figures = Page::keyed([
        ("schema", SCHEMA.into()),
        ("by", settings.by.word().into()),
        ("at", settings.at.as_str().into()),
        ("where", settings.filter.clone().into()),
        ("before", json_with_total(sides[0])),
        ("after", json_with_total(sides[1])),
        ("rows", json_rows.collect()),
        ("notes", json!(remarks)),
    ]);
    Page {
        figures,
        heading,
        on_names: OnNames {
            remarks: remarks.into_iter().collect(),
            ..OnNames::default()
        },
        parts: vec![Part::Rows(rows_of(args, sides, &rows, sizes))],
        ..Page::default()
    }
}

/// What grew most first, of equals by what tells them apart.
fn changed<'r>([before, after]: [&'r Ranks; 2]) -> Vec<Row<'r>> {
    let keys = before.sites().chain(after.sites());
    let keys: BTreeSet<&SiteKey> = keys.map(|(key, _)| key).collect();
    let rows = keys.into_iter().map(|key| Row {
        key,
        sites: [before.site(key), after.site(key)],
    });
    let mut rows: Vec<Row> = rows.filter(|row| row.grown() != 0).collect();
    rows.sort_by_key(|row| Reverse(row.grown()));
    rows
}

fn tell(heading: &mut Heading, name: &'static str, side: &Side, sizes: Sizes) {
    heading.line(name, job(side));
    let ranks = &side.taken.ranks;
    let rss = ranks.spread(|process| process.rss_peak_bytes);
    let peaks = rss.map(|spread| {
        let [mean, most] = [spread.mean() as u64, spread.most.0].map(|bytes| sizes.of(bytes));
        let all = ranks.processes().len() as u64;
        let of = match spread.ranks < all {
            true => format!(", {}", known(spread.ranks, all)),
            false => String::new(),
        };
        format!(
            "RSS peak on average {mean}, at most {most} (rank {}){of}",
            spread.most.1
        )
    });
    let held = sizes.of(ranks.total().0);
    let mut parts = vec![format!("{held} {} of all ranks", live(side))];
    parts.extend(peaks);
    heading.line("", parts);
    tell_missing(heading, side);
    tell_unread(heading, side);
}

fn rows_of(args: &Args, sides: [&Side; 2], rows: &[Row], sizes: Sizes) -> Rows {
    let by = sides[1].taken.settings.by;
    let (_, shown) = args.shown(rows.len());
    let cells = |row: &Row| {
        let [before, after] = row.bytes();
        vec![
            change(sizes, before, after),
            sizes.of(before),
            sizes.of(after),
            row.key.1.clone(),
        ]
    };
    let [before, after] = sides.map(|side| side.taken.ranks.total().0);
    Rows {
        title: match rows.is_empty() {
            true => "nothing changed:".to_owned(),
            false => format!(
                "{} of all ranks, {}:",
                change(sizes, before, after),
                "what grew most first"
            ),
        },
        last: Last::of(by),
        columns: titles(&[GREW, "before", "after", by.word()]),
        gives_way: Vec::new(),
        rows: rows[..shown].iter().map(cells).collect(),
        rest: super::super::listed::rest(args.top.unwrap_or(USUAL), rows.len())
            .into_iter()
            .collect(),
    }
}

fn json_with_total(side: &Side) -> Value {
    let (bytes, blocks) = side.taken.ranks.total();
    let mut figures = json_of_side(side);
    figures.extend(Page::keyed([
        ("bytes", bytes.into()),
        ("blocks", blocks.into()),
    ]));
    figures.into()
}

fn json_of(row: &Row, by: By) -> Value {
    let is_stack = by == By::Stack;
    let frames = row.sites.iter().flatten().next();
    let frames = frames.map(|site| site.frames.iter().map(|name| place(name)));
    let [before, after] = row.bytes();
    let of = |figure: fn(&Site) -> u64| row.sites.map(|site| site.map_or(0, figure));
    let [before_ranks, after_ranks] = of(|site| site.ranks);
    let [before_most, after_most] = of(|site| site.most);
    json!({
        "name": row.key.1,
        "stack_id": is_stack.then_some(row.key.0),
        "stack": frames.filter(|_| is_stack).map(Iterator::collect::<Vec<_>>),
        "before_bytes": before,
        "after_bytes": after,
        "grown_bytes": row.grown(),
        "before_ranks": before_ranks,
        "after_ranks": after_ranks,
        "before_most_bytes": before_most,
        "after_most_bytes": after_most,
    })
}
