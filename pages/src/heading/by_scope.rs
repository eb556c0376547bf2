//! In which scopes of the program what was live when the process was biggest was allocated.

use memlog_analysis::{Held, Moment};
use memlog_read::Log;
use serde_json::{Value, json};

use super::by_thread::{LEAST_PERCENT, MOST_NAMED, of_live};
use crate::open::Analysis;
use crate::words::{Sizes, clean, counted, percentage};

/// All that hold something, those that hold most first.
fn held(analysis: &Analysis) -> Vec<(String, Held)> {
    if analysis.tally.scopes() == 0 {
        return Vec::new();
    }
    let held = analysis.tally.held_by_scope(Moment::RssPeak);
    let mut held: Vec<_> = held.map(|(name, held)| (clean(name), held)).collect();
    held.sort_by(|(name, held), (other, more)| (more.bytes, name).cmp(&(held.bytes, other)));
    held
}

/// Their shares; nothing where the program told of no scope.
pub fn parts(log: &Log, analysis: &Analysis, sizes: Sizes) -> Vec<String> {
    let of_live = of_live(log, &analysis.summary);
    told(held(analysis), analysis.tally.scopes(), &of_live, sizes)
}

fn told(mut named: Vec<(String, Held)>, count: usize, of_live: &str, sizes: Sizes) -> Vec<String> {
    if count == 0 {
        return Vec::new();
    }
    let sum = |list: &[(String, Held)]| {
        let held = list.iter().map(|(_, held)| *held);
        held.fold(Held::default(), Held::plus)
    };
    let total = sum(&named);
    let percent = |held: Held| percentage(held.bytes, total.bytes);
    let large = named
        .iter()
        .filter(|(_, held)| percent(*held) >= LEAST_PERCENT);
    let rest = named.split_off(large.count().min(MOST_NAMED));
    let mut parts = Vec::new();
    let mut tell = |held: Held, name: &str| {
        let of = match parts.is_empty() {
            true => of_live,
            false => "",
        };
        parts.push(format!(
            "{:.1} %{of} in {name} ({} in {})",
            percent(held),
            sizes.of(held.bytes),
            counted(held.blocks, "block")
        ));
    };
    for (name, held) in &named {
        tell(*held, without_brackets(name));
    }
    match &rest[..] {
        [] => {}
        [(name, held)] => tell(*held, without_brackets(name)),
        rest => tell(sum(rest), &format!("{} more", rest.len())),
    }
    parts.push(format!("{} in the log", counted(count as u64, "scope")));
    parts
}

/// What stands for no scope is a name in tables, and a word here.
fn without_brackets(name: &str) -> &str {
    let inner = name
        .strip_prefix('(')
        .and_then(|name| name.strip_suffix(')'));
    inner.unwrap_or(name)
}

/// All of them, those that hold most first.
pub fn figures(analysis: &Analysis) -> Value {
    let held = held(analysis).into_iter();
    let told = held.map(|(name, held)| {
        json!({
            "scope": name,
            "bytes": held.bytes,
            "blocks": held.blocks,
        })
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[(&str, u64, u64)], count: usize) -> String {
        let held =
            |&(name, bytes, blocks): &(&str, u64, u64)| (name.to_owned(), Held { bytes, blocks });
        told(
            list.iter().map(held).collect(),
            count,
            " of it",
            Sizes::Exact,
        )
        .join("; ")
    }

    #[test]
    fn a_log_without_scopes_says_nothing_of_them() {
        assert_eq!(of(&[], 0), "");
    }

    #[test]
    fn a_log_with_scopes_says_so_even_if_nothing_of_them_is_live() {
        assert_eq!(of(&[], 1), "1 scope in the log");
        let text = of(&[("(no scope)", 1000, 2)], 3);
        assert_eq!(
            text,
            "100.0 % of it in no scope (1,000B in 2 blocks); 3 scopes in the log"
        );
    }

    #[test]
    fn small_ones_and_many_are_told_together() {
        let list = [
            ("load/parse", 500, 1),
            ("load", 200, 2),
            ("(no scope)", 150, 3),
            ("serve", 100, 4),
            ("fifth", 45, 5),
            ("small", 5, 6),
        ];
        let text = of(&list, 9);
        assert!(
            text.starts_with("50.0 % of it in load/parse (500B in 1 block); "),
            "{text}"
        );
        let end = "10.0 % in serve (100B in 4 blocks); 5.0 % in 2 more (50B in 11 blocks); 9 scopes in the log";
        assert!(text.ends_with(end), "{text}");
        // Blocks of 0 bytes are blocks.
        let text = of(&[("(no scope)", 9, 1), ("empty", 0, 7)], 1);
        assert!(text.contains("0.0 % in empty (0B in 7 blocks)"), "{text}");
    }
}
