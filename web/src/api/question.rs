//! The commands that ask a log, with their options as parameters. A parameter goes
//! through the parser of the command line, so that it means the same there and here;
//! what names files of this machine is no parameter.

use std::ffi::OsString;

use clap::{ArgAction, ArgMatches, Args, Command, FromArgMatches};
use memlog_pages::blocks::table::{Groups, Which};
use memlog_pages::blocks::{
    Ask, annotate, chains, diff, flame, fragmentation, function, graph, histogram, leaks, locate,
    maps, regions, rss, table, threads, timeline,
};

use crate::reply::Refusal;

/// A command as it may be asked here.
pub struct Question {
    /// The command's name.
    pub name: &'static str,
    /// Words without an option, by the names of their parameters.
    pub words: &'static [&'static str],
    /// Its options, as the command line has them.
    pub options: &'static [&'static str],
    /// The command.
    pub command: fn() -> Command,
}

/// One that a log answers by itself.
pub struct Asked {
    /// How it may be asked.
    pub question: Question,
    make: Make,
}

/// Any of them, with its options.
pub type Boxed = Box<dyn Ask + Send + Sync>;
type Make = fn(&ArgMatches) -> anyhow::Result<Boxed>;

/// All of them.
pub static ALL: [Asked; 15] = [
    Asked {
        question: of::<table::Args>("table", &[], GROUPS),
        make: |found| groups(found, Which::All),
    },
    Asked {
        question: of::<leaks::Args>(
            "leaks",
            &[],
            &[
                "by",
                "list",
                "sort",
                "top",
                "older-than",
                "between",
                "growing",
                "curve",
                "where",
                "at",
            ],
        ),
        make: |found| boxed(leaks::Args::from_arg_matches(found)?.prepared()?),
    },
    Asked {
        question: of::<table::Args>("temporary", &[], GROUPS),
        make: |found| groups(found, Which::Temporary),
    },
    asked::<histogram::Args>("histogram", &["of"], &["where", "at"]),
    asked::<timeline::Args>("timeline", &[], &["points", "where", "at"]),
    asked::<chains::Args>("chains", &[], &["by", "top", "where", "at"]),
    asked::<threads::Args>("threads", &[], &["where", "at"]),
    asked::<function::Args>("function", &["name"], &["where", "at"]),
    asked::<annotate::Args>(
        "annotate",
        &["source"],
        &["context", "whole", "where", "at"],
    ),
    asked::<flame::Args>(
        "flame",
        &[],
        &["by", "reverse", "before", "nodes", "where", "at"],
    ),
    asked::<fragmentation::Args>("fragmentation", &[], &["by", "top", "where", "at"]),
    asked::<maps::Args>("maps", &[], &["by", "list", "top", "where", "at"]),
    asked::<regions::Args>("regions", &[], &["parts", "areas", "where", "at"]),
    asked::<rss::Args>("rss", &[], &["by", "top", "where", "at"]),
    asked::<locate::Args>("where", &["address"], &["top", "where", "at"]),
];

/// The picture.
pub static GRAPH: Question = of::<graph::Args>(
    "graph.svg",
    &[],
    &["by", "threshold", "max-boxes", "lines", "where", "at"],
);

/// The comparison of two.
pub static DIFF: Question = of::<diff::Args>("diff", &[], &["at", "by", "sort", "top", "where"]);

/// Options of groups of blocks.
const GROUPS: &[&str] = &["by", "list", "sort", "top", "curve", "where", "at"];

/// Rows of an answer.
const MOST_ROWS: u64 = 100_000;
/// Groups of one that does not say how many.
const MOST_GROUPS: u64 = 10_000;

fn boxed(ask: impl Ask + Send + Sync + 'static) -> anyhow::Result<Boxed> {
    Ok(Box::new(ask))
}

fn groups(found: &ArgMatches, which: Which) -> anyhow::Result<Boxed> {
    boxed(Groups::of(table::Args::from_arg_matches(found)?, which))
}

const fn of<A: Args>(
    name: &'static str,
    words: &'static [&'static str],
    options: &'static [&'static str],
) -> Question {
    Question {
        name,
        words,
        options,
        command: command::<A>,
    }
}

/// A command whose options are the question.
const fn asked<A: Args + Ask + Send + Sync + 'static>(
    name: &'static str,
    words: &'static [&'static str],
    options: &'static [&'static str],
) -> Asked {
    Asked {
        question: of::<A>(name, words, options),
        make: |found| boxed(A::from_arg_matches(found)?),
    }
}

fn command<A: Args>() -> Command {
    let command = Command::new("api").no_binary_name(true);
    A::augment_args(command.disable_help_flag(true))
}

/// What a request asks.
pub fn parse(name: &str, query: &str) -> Result<Boxed, Refusal> {
    let asked = ALL.iter().find(|asked| asked.question.name == name);
    let asked = asked.ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|asked| asked.question.name).collect();
        Refusal::missing(
            format!("there is no question {name:?}"),
            format!("questions are {}, diff and graph.svg", names.join(", ")),
        )
    })?;
    let found = asked.question.found(&pairs(query), &["log".into()])?;
    Ok((asked.make)(&found)?)
}

/// The picture that a request asks for.
pub fn graph(query: &str) -> Result<graph::Args, Refusal> {
    let found = GRAPH.found(&pairs(query), &["log".into()])?;
    graph::Args::from_arg_matches(&found).map_err(|error| not_understood(&error))
}

/// The comparison that a request asks for, of these logs.
pub fn diff(pairs: &[(String, String)], logs: &[OsString]) -> Result<diff::Args, Refusal> {
    let found = DIFF.found(pairs, logs)?;
    diff::Args::from_arg_matches(&found).map_err(|error| not_understood(&error))
}

/// The parameters of a query.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
    pairs.filter(|(name, _)| name != "token").collect()
}

impl Question {
    /// What the command's parser makes of them.
    fn found(&self, pairs: &[(String, String)], logs: &[OsString]) -> Result<ArgMatches, Refusal> {
        let command = (self.command)();
        let line = self.line(&command, pairs, logs)?;
        let found = command.try_get_matches_from(line);
        found.map_err(|error| not_understood(&error))
    }

    /// The command line of a query.
    fn line(
        &self,
        command: &Command,
        pairs: &[(String, String)],
        logs: &[OsString],
    ) -> Result<Vec<OsString>, Refusal> {
        self.check_top(pairs)?;
        let mut words = vec![None; self.words.len()];
        let mut line: Vec<OsString> = Vec::new();
        let mut pairs = pairs.iter().peekable();
        while let Some((name, value)) = pairs.next() {
            if let Some(place) = self.words.iter().position(|word| word == name) {
                words[place] = Some(value);
                continue;
            }
            let option = self.options.iter().find(|option| *option == name);
            let found = command.get_arguments();
            let mut found = found.filter(|arg| arg.get_long() == option.copied());
            let Some((option, arg)) = option.zip(found.next()) else {
                return Err(self.unknown(name));
            };
            let count = arg.get_num_args().map_or(1, |count| count.max_values());
            match (arg.get_action(), count) {
                (ArgAction::SetTrue, _) => match &**value {
                    "0" | "false" => {}
                    _ => line.push(format!("--{option}").into()),
                },
                (_, 2..) => {
                    let mut values = vec![value];
                    while values.len() < count
                        && let Some((_, value)) = pairs.next_if(|(next, _)| next == name)
                    {
                        values.push(value);
                    }
                    // On a line of its own a value could be another option.
                    if values.len() < count || values.iter().any(|value| value.starts_with('-')) {
                        return Err(Refusal::asked(
                            format!("{name} takes {count} values"),
                            format!("ask {}?{name}=...&{name}=...", self.name),
                        ));
                    }
                    line.push(format!("--{option}").into());
                    line.extend(values.into_iter().map(OsString::from));
                }
                _ => line.push(format!("--{option}={value}").into()),
            }
        }
        // The commands have all groups for programs, unless single blocks are asked for.
        let is_short = line.iter().any(|word| {
            let word = word.to_string_lossy();
            word.starts_with("--top=") || word == "--list"
        });
        if ["table", "leaks", "temporary"].contains(&self.name) && !is_short {
            line.push(format!("--top={MOST_GROUPS}").into());
        }
        line.extend(["--json", "--"].map(OsString::from));
        let mut logs = logs.iter();
        for positional in command.get_positionals() {
            let place = self
                .words
                .iter()
                .position(|word| positional.get_id() == word);
            match place.map(|place| (self.words[place], words[place])) {
                None => line.extend(logs.next().cloned()),
                Some((_, Some(word))) => line.push(word.into()),
                Some((name, None)) => {
                    return Err(Refusal::asked(
                        format!("{name} is missing"),
                        format!("ask {}?{name}=...", self.name),
                    ));
                }
            }
        }
        Ok(line)
    }

    /// A server does not hold all of a long list in its memory.
    fn check_top(&self, pairs: &[(String, String)]) -> Result<(), Refusal> {
        let top = pairs.iter().filter(|(name, _)| name == "top");
        let numbers = top.filter_map(|(_, value)| value.parse::<u64>().ok());
        match numbers
            .into_iter()
            .all(|top| (1..=MOST_ROWS).contains(&top))
        {
            true => Ok(()),
            false => Err(Refusal::asked(
                format!("top is from 1 to {MOST_ROWS} here"),
                format!(
                    "the command line has no limit: memlog {} --top 0",
                    self.name
                ),
            )),
        }
    }

    fn unknown(&self, name: &str) -> Refusal {
        let all: Vec<_> = self.words.iter().chain(self.options).copied().collect();
        Refusal::asked(
            format!("{} has no parameter {name:?}", self.name),
            format!("it has {}", all.join(", ")),
        )
    }
}

/// What the parser says, without what is of terminals.
fn not_understood(error: &clap::Error) -> Refusal {
    let text = error.render().to_string();
    let text = text.strip_prefix("error: ").unwrap_or(&text);
    let ends = ["\n\nFor more information", "\n\nUsage:"];
    let end = ends.iter().filter_map(|end| text.find(end)).min();
    let text = &text[..end.unwrap_or(text.len())];
    let (sentence, hint) = text.split_once("\n\n").unwrap_or((text, ""));
    // What is wrong with a filter has its own words, with a caret.
    let filter = sentence.split_once("for '--where <EXPRESSION>': ");
    let sentence = filter.map_or(sentence, |(_, sentence)| sentence);
    Refusal::asked(sentence.trim_end(), hint.trim())
}
