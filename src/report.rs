//! `memlog report`: who held the memory at a moment.

mod heading;
mod labels;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use memlog_analysis::{CallTree, Callers, Held, Moment};
use memlog_read::Log;

use crate::advice::Advice;
use crate::names::{NameStore, Names};
use crate::open::{Analysis, Files, counted, grouped};
use labels::Labels;

/// Say who held the memory.
#[derive(clap::Args)]
pub struct Args {
    /// The log
    file: PathBuf,
    /// More than one log, to be refused with a sentence
    #[arg(hide = true)]
    more: Vec<PathBuf>,
    /// Memory live at the end, as --at end
    #[arg(long)]
    show_leaks: bool,
    /// Memory live when most bytes were, as --at heap-peak
    #[arg(long)]
    show_maximum: bool,
    /// Memory live at this moment: rss-peak, heap-peak, end, or a time since
    /// the start as 12.5, 12.5s, 300ms or 2m
    #[arg(long, value_name = "MOMENT", value_parser = parse_at)]
    at: Option<When>,
    /// Fold what holds less than so many percent
    #[arg(short = 't', long, value_name = "PCT", default_value = "1", value_parser = parse_percent)]
    threshold: f64,
}

/// A moment as the user names it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    Known(Moment),
    Seconds(f64),
}

fn parse_at(text: &str) -> Result<When, String> {
    match text {
        "rss-peak" => return Ok(When::Known(Moment::RssPeak)),
        "heap-peak" => return Ok(When::Known(Moment::HeapPeak)),
        "end" => return Ok(When::Known(Moment::End)),
        _ => {}
    }
    let unit = text.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text.strip_suffix(unit).unwrap_or(text);
    let factor = match unit {
        "" | "s" => Some(1.0),
        "ms" => Some(1e-3),
        "us" => Some(1e-6),
        "m" | "min" => Some(60.0),
        "h" => Some(3600.0),
        _ => None,
    };
    match (number.parse::<f64>(), factor) {
        (Ok(number), Some(factor)) => Ok(When::Seconds((number * factor * 1e9).round() / 1e9)),
        _ => Err("give rss-peak, heap-peak, end, or a time as 12.5, 12.5s, 300ms or 2m".into()),
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim_end_matches('%').parse::<f64>();
    let number = number.ok().filter(|number| (0.0..=100.0).contains(number));
    number.ok_or_else(|| "give a number from 0 to 100".into())
}

/// Prints the heading and a tree for each moment asked for.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if !args.more.is_empty() {
        return Err(several(&args));
    }
    let files = Files::load(&args.file)?;
    let family = files.family()?;
    let chosen = match args.at {
        Some(When::Seconds(seconds)) => Some(ticks(family.own(), seconds)),
        _ => None,
    };
    let analysis = family.analyse(chosen);
    let store = NameStore::default();
    let mut labels = Labels::new(Names::new(&store), analysis.fold.stacks());
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    heading::print(&mut out, &family, &analysis)?;
    for (title, moment) in moments(&args, analysis.summary.rss_peak_bytes > 0) {
        let tree = grow(&analysis, moment, args.threshold, &mut labels);
        let text = |label| labels.text(label);
        print_tree(&mut out, &title, &tree, args.threshold, text)?;
    }
    let remarks: Vec<_> = labels.remarks().collect();
    if !remarks.is_empty() {
        writeln!(out)?;
    }
    for remark in remarks {
        writeln!(out, "note: {remark}")?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn several(args: &Args) -> anyhow::Error {
    let count = args.more.len() + 1;
    Advice::error(
        format!("report takes one log, and {count} were given"),
        format!(
            "memlog report {}, then each of the others",
            args.file.display()
        ),
    )
}

/// The last tick that is not after a time.
fn ticks(log: &Log, seconds: f64) -> u64 {
    // Half a nanosecond more: 0.3 s of ticks of 0.1 s are 3 and not 2.
    ((seconds * 1e9 + 0.5) / log.tick_ns() as f64) as u64
}

/// The moments asked for, with what to call them.
fn moments(args: &Args, rss_is_known: bool) -> Vec<(String, Moment)> {
    let title = |moment| match moment {
        Moment::RssPeak if rss_is_known => "live heap at the RSS peak".to_owned(),
        Moment::RssPeak | Moment::HeapPeak => "live heap at its maximum".to_owned(),
        Moment::End => "live heap at the end".to_owned(),
        Moment::Chosen => "live heap at the chosen moment".to_owned(),
    };
    let mut moments = Vec::new();
    match args.at {
        Some(When::Known(moment)) => moments.push((title(moment), moment)),
        Some(When::Seconds(seconds)) => {
            moments.push((format!("live heap at {seconds} s"), Moment::Chosen));
        }
        None => {}
    }
    let switches = [
        (args.show_maximum, Moment::HeapPeak),
        (args.show_leaks, Moment::End),
    ];
    for (wanted, moment) in switches {
        if wanted && !moments.iter().any(|(_, other)| *other == moment) {
            moments.push((title(moment), moment));
        }
    }
    if moments.is_empty() {
        moments.push((title(Moment::RssPeak), Moment::RssPeak));
    }
    moments
}

fn grow(analysis: &Analysis, moment: Moment, threshold: f64, labels: &mut Labels) -> CallTree {
    let held: Vec<_> = analysis.fold.held(moment).collect();
    let total = held.iter().map(|(_, held)| held.bytes);
    let total = total.fold(0, u64::saturating_add);
    let least = (total as f64 * threshold / 100.0).ceil() as u64;
    let paths = held.into_iter();
    let paths = paths.map(|(stack, held)| (labels.start(stack), held));
    let paths = paths.collect();
    CallTree::grow(paths, least, |cursor| labels.step(cursor))
}

/// A line of the tree that is still to be printed.
enum Line<'t> {
    Branch(u32),
    Folded(&'t Callers),
}

fn print_tree<'l>(
    out: &mut impl Write,
    title: &str,
    tree: &CallTree,
    threshold: f64,
    text: impl Fn(u32) -> &'l str,
) -> std::io::Result<()> {
    let total = tree.total();
    let (bytes, blocks) = (grouped(total.bytes), counted(total.blocks, "block"));
    writeln!(
        out,
        "\n{title} (percentages are shares of it): {bytes}B in {blocks}"
    )?;
    // Whether the branch at each depth has more beside it below.
    let mut guides: Vec<bool> = Vec::new();
    let mut work = Vec::new();
    push(&mut work, tree.roots(), 0);
    while let Some((line, depth, is_last)) = work.pop() {
        guides.truncate(depth);
        for &guide in &guides {
            out.write_all(if guide { b"| " } else { b"  " })?;
        }
        guides.push(!is_last);
        match line {
            Line::Branch(index) => {
                let Some(branch) = tree.get(index) else {
                    continue;
                };
                cost(out, branch.held, total)?;
                writeln!(out, "{}", text(branch.label))?;
                push(&mut work, &branch.callers, depth + 1);
            }
            Line::Folded(callers) => {
                cost(out, callers.folded_held, total)?;
                let places = match callers.folded {
                    1 => "1 place".to_owned(),
                    count => format!("{} places, all", grouped(count)),
                };
                writeln!(out, "in {places} below the {threshold:.2}% threshold")?;
            }
        }
    }
    Ok(())
}

/// `->45.71% (4,096B, 2x): `
fn cost(out: &mut impl Write, held: Held, total: Held) -> std::io::Result<()> {
    let share = match total.bytes {
        0 => 0.0,
        total => held.bytes as f64 / total as f64 * 100.0,
    };
    let (bytes, blocks) = (grouped(held.bytes), grouped(held.blocks));
    write!(out, "->{share:.2}% ({bytes}B, {blocks}x): ")
}

/// Puts callers on the pile so that the first comes off first.
fn push<'t>(work: &mut Vec<(Line<'t>, usize, bool)>, callers: &'t Callers, depth: usize) {
    let mut is_last = true;
    if callers.folded > 0 {
        work.push((Line::Folded(callers), depth, true));
        is_last = false;
    }
    for &branch in callers.shown.iter().rev() {
        work.push((Line::Branch(branch), depth, is_last));
        is_last = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_understood() {
        assert_eq!(parse_at("end"), Ok(When::Known(Moment::End)));
        assert_eq!(parse_at("12.5"), Ok(When::Seconds(12.5)));
        assert_eq!(parse_at("500ms"), Ok(When::Seconds(0.5)));
        assert_eq!(parse_at("950ms"), Ok(When::Seconds(0.95)));
        assert_eq!(parse_at("2m"), Ok(When::Seconds(120.0)));
        assert!(parse_at("soon").is_err());
        assert!(parse_at("5 parsecs").is_err());
        assert!(parse_at("-3").is_err());
        assert_eq!(parse_percent("2.5%"), Ok(2.5));
        assert!(parse_percent("101").is_err());
        assert!(parse_percent("NaN").is_err());
    }
    #[test]
    fn the_tree_has_its_form() {
        let held = |bytes, blocks| Held { bytes, blocks };
        let paths: Vec<(&[u8], _)> = vec![
            (b"ac", held(6000, 1)),
            (b"ad", held(2192, 1)),
            (b"b", held(768, 3)),
            (b"x", held(20, 1)),
            (b"y", held(20, 1)),
        ];
        let step = |path: &'static [u8]| {
            let (&label, rest) = path.split_first()?;
            Some((u32::from(label), rest))
        };
        let tree = CallTree::grow(paths, 90, step);
        let text = |label| match label as u8 {
            b'a' => "make [a.c:1]",
            b'b' => "take [b.c:2]",
            b'c' => "main [a.c:9]",
            _ => "run [a.c:7]",
        };
        let mut out = Vec::new();
        print_tree(&mut out, "maximum", &tree, 1.0, text).unwrap();
        let expected = "
maximum (percentages are shares of it): 9,000B in 7 blocks
->91.02% (8,192B, 2x): make [a.c:1]
| ->66.67% (6,000B, 1x): main [a.c:9]
| ->24.36% (2,192B, 1x): run [a.c:7]
->8.53% (768B, 3x): take [b.c:2]
->0.44% (40B, 2x): in 2 places, all below the 1.00% threshold
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
