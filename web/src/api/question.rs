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
    make: fn(&ArgMatches) -> anyhow::Result<Boxed>,
}

/// Any of them, with its options.
pub type Boxed = Box<dyn Ask + Send + Sync>;

/// All of them.
pub const ALL: [Question; 15] = [
    Question {
        name: "table",
        words: &[],
        options: &["by", "list", "sort", "top", "where", "at"],
        command: of::<table::Args>,
        make: |found| {
            boxed(Groups::of(
                table::Args::from_arg_matches(found)?,
                Which::All,
            ))
        },
    },
    Question {
        name: "leaks",
        words: &[],
        options: &[
            "by",
            "list",
            "sort",
            "top",
            "older-than",
            "between",
            "growing",
            "where",
            "at",
        ],
        command: of::<leaks::Args>,
        make: |found| boxed(leaks::Args::from_arg_matches(found)?.prepared()?),
    },
    Question {
        name: "temporary",
        words: &[],
        options: &["by", "list", "sort", "top", "where", "at"],
        command: of::<table::Args>,
        make: |found| {
            boxed(Groups::of(
                table::Args::from_arg_matches(found)?,
                Which::Temporary,
            ))
        },
    },
    Question {
        name: "histogram",
        words: &["of"],
        options: &["where", "at"],
        command: of::<histogram::Args>,
        make: |found| boxed(histogram::Args::from_arg_matches(found)?),
    },
    Question {
        name: "timeline",
        words: &[],
        options: &["points", "where", "at"],
        command: of::<timeline::Args>,
        make: |found| boxed(timeline::Args::from_arg_matches(found)?),
    },
    Question {
        name: "chains",
        words: &[],
        options: &["by", "top", "where", "at"],
        command: of::<chains::Args>,
        make: |found| boxed(chains::Args::from_arg_matches(found)?),
    },
    Question {
        name: "threads",
        words: &[],
        options: &["where", "at"],
        command: of::<threads::Args>,
        make: |found| boxed(threads::Args::from_arg_matches(found)?),
    },
    Question {
        name: "function",
        words: &["name"],
        options: &["where", "at"],
        command: of::<function::Args>,
        make: |found| boxed(function::Args::from_arg_matches(found)?),
    },
    Question {
        name: "annotate",
        words: &["source"],
        options: &["context", "whole", "where", "at"],
        command: of::<annotate::Args>,
        make: |found| boxed(annotate::Args::from_arg_matches(found)?),
    },
    Question {
        name: "flame",
        words: &[],
        options: &["by", "reverse", "before", "nodes", "where", "at"],
        command: of::<flame::Args>,
        make: |found| boxed(flame::Args::from_arg_matches(found)?),
    },
    Question {
        name: "fragmentation",
        words: &[],
        options: &["by", "top", "where", "at"],
        command: of::<fragmentation::Args>,
        make: |found| boxed(fragmentation::Args::from_arg_matches(found)?),
    },
    Question {
        name: "maps",
        words: &[],
        options: &["by", "list", "top", "where", "at"],
        command: of::<maps::Args>,
        make: |found| boxed(maps::Args::from_arg_matches(found)?),
    },
    Question {
        name: "regions",
        words: &[],
        options: &["parts", "areas", "where", "at"],
        command: of::<regions::Args>,
        make: |found| boxed(regions::Args::from_arg_matches(found)?),
    },
    Question {
        name: "rss",
        words: &[],
        options: &["by", "top", "where", "at"],
        command: of::<rss::Args>,
        make: |found| boxed(rss::Args::from_arg_matches(found)?),
    },
    Question {
        name: "where",
        words: &["address"],
        options: &["top", "where", "at"],
        command: of::<locate::Args>,
        make: |found| boxed(locate::Args::from_arg_matches(found)?),
    },
];

/// Rows of an answer.
const MOST_ROWS: u64 = 100_000;
/// Groups of one that does not say how many.
const MOST_GROUPS: u64 = 10_000;

fn boxed(ask: impl Ask + Send + Sync + 'static) -> anyhow::Result<Boxed> {
    Ok(Box::new(ask))
}

fn of<A: Args>() -> Command {
    let command = Command::new("api").no_binary_name(true);
    A::augment_args(command.disable_help_flag(true))
}

/// What a request asks.
pub fn parse(name: &str, query: &str) -> Result<Boxed, Refusal> {
    let question = ALL.iter().find(|question| question.name == name);
    let question = question.ok_or_else(|| {
        let names: Vec<_> = ALL.iter().map(|question| question.name).collect();
        Refusal::missing(
            format!("there is no question {name:?}"),
            format!("questions are {}, diff and graph.svg", names.join(", ")),
        )
    })?;
    let found = question.found(&pairs(query), &["log".into()])?;
    Ok((question.make)(&found)?)
}

/// The picture that a request asks for.
pub fn graph(query: &str) -> Result<graph::Args, Refusal> {
    let found = graph_question().found(&pairs(query), &["log".into()])?;
    graph::Args::from_arg_matches(&found).map_err(|error| not_understood(&error))
}

/// As the picture may be asked for.
pub fn graph_question() -> Question {
    Question {
        name: "graph.svg",
        words: &[],
        options: &["by", "threshold", "max-boxes", "lines", "where", "at"],
        command: of::<graph::Args>,
        make: |_| anyhow::bail!("it is a picture"),
    }
}

/// The comparison that a request asks for, of these logs.
pub fn diff(pairs: &[(String, String)], logs: &[OsString]) -> Result<diff::Args, Refusal> {
    let found = diff_question().found(pairs, logs)?;
    diff::Args::from_arg_matches(&found).map_err(|error| not_understood(&error))
}

/// As a comparison may be asked for.
pub fn diff_question() -> Question {
    Question {
        name: "diff",
        words: &[],
        options: &["at", "by", "sort", "top", "where"],
        command: of::<diff::Args>,
        make: |_| anyhow::bail!("it is of two logs"),
    }
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
