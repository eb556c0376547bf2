//! `memlog leaks`: what was never freed, what grew, and what of it is known.

use std::path::{Path, PathBuf};

use memlog_analysis::Held;
use memlog_answers::{Choice, Suppression, Test, suppressed, suppressions, test_of};
use memlog_format::meta::Lack;
use memlog_query::{Expr, Test as Asked, parse};
use memlog_table::Column;
use serde_json::{Value, json};

use super::grown::{self, Grown, Moments, Shows};
use super::table::{self, Listing, Which};
use super::{Answer, Ask, Failure, Question, Told};
use crate::moment::At;
use crate::rests::Rests;
use crate::words::{Advice, counted, shown};

/// Say who asked for what was never freed.
#[derive(clap::Args)]
// Of the same name is what is asked of every table.
#[group(id = "leaks")]
pub struct Args {
    #[command(flatten)]
    table: table::Args,
    /// Only blocks that were there for so long at the end, as 10s; or a part of the run, as 50%
    #[arg(long, value_name = "TIME", value_parser = older)]
    older_than: Option<Older>,
    /// What was allocated between two moments and is live at the second, freed later or not
    #[arg(long, num_args = 2, value_names = ["FROM", "TO"], conflicts_with_all = ["at", "curve"])]
    between: Vec<At>,
    /// Only groups whose live bytes grew in every tenth of the run, or of --between
    #[arg(long, conflicts_with_all = ["list", "curve"])]
    growing: bool,
    /// Leave out what this file of LeakSanitizer's suppressions covers: lines as leak:PATTERN
    #[arg(long, value_name = "FILE")]
    suppressions: Option<PathBuf>,
}

/// A test of age, and how it was asked.
#[derive(Clone)]
struct Older {
    test: Expr,
    text: String,
}

fn older(text: &str) -> Result<Older, &'static str> {
    match parse(&format!("lifetime >= {text}")) {
        Ok(test @ Expr::Test(Asked::Length { .. })) => Ok(Older {
            test,
            text: text.to_owned(),
        }),
        _ => Err("give a time as 10s, 300ms or 2m, or a part of the run as 50%"),
    }
}

/// Tenths of the run.
const TENTHS: u64 = 10;

/// What is asked, with what is known of leaks.
pub struct Leaks {
    args: Args,
    known: Option<Vec<Suppression>>,
}

impl Args {
    /// With the suppressions, read.
    pub fn prepared(self) -> anyhow::Result<Leaks> {
        let known = self.suppressions.as_deref().map(read).transpose()?;
        Ok(Leaks { args: self, known })
    }
}

impl Ask for Leaks {
    fn schema(&self) -> &'static str {
        Which::Leaked.schema()
    }

    fn question(&self) -> &Question {
        &self.args.table.question
    }

    fn rests(&self) -> Rests {
        let args = &self.args;
        let needs_names = args.table.is_of_stacks() || self.known.is_some();
        let rests = args.table.rests(Which::Leaked, needs_names);
        rests.on(
            match (&args.older_than, args.growing || !args.between.is_empty()) {
                (Some(_), _) => &[Lack::Times, Lack::Order],
                (None, true) => grown::COURSE,
                (None, false) => &[],
            },
        )
    }

    fn answer(&self, told: &Told) -> Result<Answer, Failure> {
        answer(told, &self.args, self.known.as_deref())
    }

    fn check(&self) -> anyhow::Result<()> {
        self.args.table.check()
    }
}

/// The suppressions of a file.
pub fn read(path: &Path) -> anyhow::Result<Vec<Suppression>> {
    let file = shown(path);
    let bytes = std::fs::read(path).map_err(|error| {
        Advice::error(
            format!("cannot read the suppressions {file}: {error}"),
            "give a file with lines as leak:PATTERN",
        )
    })?;
    let text = String::from_utf8_lossy(&bytes);
    suppressions(&text).map_err(|(line, text)| {
        Advice::error(
            format!("line {line} of {file} is no suppression of leaks: {text}"),
            "a line is leak:PATTERN, empty, or a comment that begins with #",
        )
    })
}

fn answer(told: &Told, args: &Args, known: Option<&[Suppression]>) -> Result<Answer, Failure> {
    let world = told.world;
    let mut tests: Vec<Test> = Vec::new();
    let narrowed = |choice: &Choice, tests: &[Test]| {
        let tests = tests.iter().cloned();
        tests.fold(choice.clone(), Choice::and)
    };
    let mut about = String::new();
    if let Some(older) = &args.older_than {
        let test = test_of(&older.test, world, told.start_unix_ns);
        tests.push(test.map_err(|why| anyhow::anyhow!("--older-than: {why}"))?);
        let run = if older.text.ends_with('%') {
            " of the run"
        } else {
            ""
        };
        about += &format!(" at least {}{run} old", older.text);
    }
    let moments = moments(told, args)?;
    let of = |all: &Choice| match (&args.between[..], &moments[..]) {
        ([_, _], [(from, _), .., (to, _)]) => {
            let came = Test::Between(Column::Born, from + 1, *to);
            all.clone().and(came).and(Test::LiveAt(*to))
        }
        _ => Which::Leaked.of(all),
    };
    let mut covered = Vec::new();
    if let Some(known) = known {
        let (held, stacks) = suppressed(world, &of(&narrowed(told.choice, &tests)), known)?;
        tests.push(Test::Not(Box::new(stacks)));
        covered = known.iter().zip(held).collect();
    }
    let all = narrowed(told.choice, &tests);
    let mut which = Which::Leaked;
    if let [from, to] = &args.between[..] {
        about += &format!(" allocated between {from} and {to} and live at {to}");
        which = Which::All;
    }
    about += told.about;
    if args.growing {
        about += ", of groups that grew in every tenth";
    }
    // Single blocks do not grow.
    let grows = !moments.is_empty() && !args.table.list;
    let shows = if args.growing {
        Shows::Growing
    } else {
        Shows::Ends
    };
    let grown = match grows {
        true => Some(Grown::of(
            told,
            &all,
            args.table.by,
            (moments.clone(), shows),
        )?),
        // Whatever moment the rows are of.
        false => {
            let over_time = narrowed(told.filtered, &tests);
            args.table.curves(told, &which.of(&over_time))?
        }
    };
    let listing = Listing {
        which,
        grown: grown.as_ref(),
    };
    let told = Told {
        choice: &of(&all),
        about: &about,
        ..*told
    };
    let mut answer = table::answer(&told, &args.table, &listing)?;
    let mut put = |key: &str, value: Value| answer.figures.insert(key.to_owned(), value);
    if let Some(older) = &args.older_than {
        put("older_than", older.text.as_str().into());
    }
    if let [from, to] = &args.between[..] {
        put("between", json!([from.to_string(), to.to_string()]));
    }
    if !grows && !moments.is_empty() {
        put("moments_seconds", grown::seconds(&moments).into());
    }
    if known.is_some() {
        let total = sum(&covered);
        put("suppressed_bytes", total.bytes.into());
        put("suppressed_blocks", total.blocks.into());
        put("suppressions", covered.iter().map(line_json).collect());
        let known = lines(&told, &covered);
        answer.rows.rest.extend(known.into_iter().map(Into::into));
    }
    Ok(answer)
}

/// When growth is looked at; nothing if it is not.
fn moments(told: &Told, args: &Args) -> Result<Moments, Failure> {
    let parts = if args.growing { TENTHS } else { 1 };
    match args.growing || !args.between.is_empty() {
        true => grown::moments(told, &args.between, parts),
        false => Ok(Vec::new()),
    }
}

fn sum(covered: &[(&Suppression, Held)]) -> Held {
    let held = covered.iter().map(|(_, held)| *held);
    held.fold(Held::default(), Held::plus)
}

fn line_json((one, held): &(&Suppression, Held)) -> Value {
    json!({
        "line": one.line,
        "pattern": one.pattern,
        "bytes": held.bytes,
        "blocks": held.blocks,
    })
}

/// What the suppressions cover, those that cover most first, and those that are of no
/// use.
fn lines(told: &Told, covered: &[(&Suppression, Held)]) -> Vec<String> {
    let of = |held: Held| {
        let blocks = counted(held.blocks, "block");
        format!("{} in {blocks}", told.sizes.of(held.bytes))
    };
    let mut used: Vec<_> = covered.iter().filter(|(_, held)| held.blocks > 0).collect();
    used.sort_by_key(|(one, held)| (std::cmp::Reverse(held.bytes), one.line));
    let mut lines = vec![format!("suppressed: {}", of(sum(covered)))];
    for (one, held) in used {
        let (line, pattern) = (one.line, &one.pattern);
        lines.push(format!("{} by line {line}, leak:{pattern}", of(*held)));
    }
    for (one, _) in covered.iter().filter(|(_, held)| held.blocks == 0) {
        lines.push(format!("not used: line {}, leak:{}", one.line, one.pattern));
    }
    lines
}
