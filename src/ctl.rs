//! `memlog ctl`: asks the recorder in a running program to start, stop, mark.
//!
//! Both map the first page of the log: there is no socket, no thread and no descriptor in
//! the program, and who may not write the log may not ask.

mod request;
mod target;

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use memlog_format::control::{Answer, State, TEXT_BYTES, Verb, Word};
use memlog_pages::strip::nanoseconds;
use memlog_pages::{Advice, counted, out, shown, sized, typed};
use serde_json::{Value, json};

use request::{Outcome, Reply, Request};
use target::Target;

/// What the help and an error say.
const _: () = assert!(TEXT_BYTES == 96);

/// Ask the recorder in a running program to start, stop or mark
#[derive(clap::Args)]
pub struct Args {
    /// The process, or its log; a folder stands for the programs of all logs in it
    #[arg(value_name = "PID|LOG")]
    target: OsString,
    /// Ask the programs that it has started too
    #[arg(short = 'r', long, global = true)]
    children: bool,
    /// How long to wait for an answer: it comes when the program allocates next [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = nanoseconds, global = true)]
    wait: Option<u64>,
    /// Print the answers as JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Say whether it records, and where
    Status,
    /// Record from now on
    Start,
    /// Record nothing from now on
    Stop,
    /// Give this moment a name
    Mark {
        /// The name, of at most 96 bytes
        name: String,
    },
    /// Give this moment a number
    Snapshot,
    /// Have all that was recorded in the log's file
    Flush,
    /// Let the log take this size at most, such as 500M or 2G
    Limit {
        /// The size
        #[arg(value_parser = crate::record::bytes_of)]
        size: u64,
    },
}

impl Action {
    fn request(&self) -> anyhow::Result<Option<Request<'_>>> {
        let plain = |verb| Request {
            verb,
            argument: 0,
            text: "",
        };
        Ok(Some(match self {
            Action::Status => return Ok(None),
            Action::Start => plain(Verb::Start),
            Action::Stop => plain(Verb::Stop),
            Action::Snapshot => plain(Verb::Snapshot),
            Action::Flush => plain(Verb::Flush),
            Action::Limit { size } => Request {
                argument: *size,
                ..plain(Verb::Limit)
            },
            Action::Mark { name } if name.len() > TEXT_BYTES => {
                let sentence = format!("the name has {} bytes", name.len());
                return Err(Advice::error(sentence, "give one of at most 96 bytes"));
            }
            Action::Mark { name } => Request {
                argument: name.len() as u64,
                text: name,
                ..plain(Verb::Mark)
            },
        }))
    }

    fn done(&self) -> &'static str {
        match self {
            Action::Status => "",
            Action::Start => "recording is on",
            Action::Stop => "recording is off",
            Action::Mark { .. } => "marked",
            Action::Snapshot => "snapshot taken",
            Action::Flush => "the log has all of it",
            Action::Limit { .. } => "the log has a new limit",
        }
    }

    fn already(&self) -> &'static str {
        match self {
            Action::Start => "recording was on already",
            _ => "recording was off already",
        }
    }
}

/// So many are asked at the same time.
const AT_ONCE: usize = 256;

/// Asks them all at once: who does not answer, as a launcher that waits for its ranks, keeps
/// nobody else waiting.
fn replies(
    targets: &[Target],
    request: &Request,
    patience: Duration,
) -> anyhow::Result<Vec<Outcome>> {
    let at_once = |targets: &[Target]| -> anyhow::Result<Vec<Outcome>> {
        std::thread::scope(|scope| {
            let ask = |target| scope.spawn(move || request::ask(target, request, patience));
            let asked: Vec<_> = targets.iter().map(ask).collect();
            let mut replies = asked.into_iter().map(std::thread::ScopedJoinHandle::join);
            replies.try_fold(Vec::new(), |mut replies, reply| {
                replies.push(reply.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?);
                Ok(replies)
            })
        })
    };
    let replies: anyhow::Result<Vec<_>> = targets.chunks(AT_ONCE).map(at_once).collect();
    Ok(replies?.into_iter().flatten().collect())
}

/// Asks them.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let request = args.action.request()?;
    let patience = Duration::from_nanos(args.wait.unwrap_or(5_000_000_000));
    let targets = target::find(&args.target, args.children)?;
    let told: Vec<Told> = match &request {
        None => targets.iter().map(status).collect(),
        Some(request) => replies(&targets, request, patience)?
            .iter()
            .map(|outcome| told(&args.action, outcome, patience))
            .collect(),
    };
    let (mut rows, mut lines, mut is_fine) = (Vec::new(), Vec::new(), true);
    for (target, told) in targets.iter().zip(told) {
        is_fine &= told.is_fine;
        lines.push(format!("{}: {}\n", target.name(), told.sentence));
        rows.push(row(target, &told));
    }
    let text = match args.json {
        true => format!("{:#}\n", Value::Array(rows)),
        false => lines.concat(),
    };
    let mut out = out();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(ExitCode::from(u8::from(!is_fine)))
}

/// What came of switching recording on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turned {
    /// It is as it was wanted.
    Done,
    /// The program has not allocated since.
    Silent,
}

/// Switches recording in a process that has a log, for commands that do more.
pub fn turn(pid: u32, is_on: bool, patience: Duration) -> anyhow::Result<Turned> {
    let action = match is_on {
        true => Action::Start,
        false => Action::Stop,
    };
    let targets = target::find(pid.to_string().as_ref(), false)?;
    let (Some(target), Some(request)) = (targets.first(), action.request()?) else {
        return Ok(Turned::Silent);
    };
    let outcome = request::ask(target, &request, patience)?;
    match outcome.reply {
        Reply::Answered(Answer::Done | Answer::Already) => Ok(Turned::Done),
        Reply::Silent | Reply::Busy | Reply::Gone | Reply::Stopped => Ok(Turned::Silent),
        _ => {
            let told = told(&action, &outcome, patience);
            let sentence = format!("{}: {}", target.name(), told.sentence);
            Err(Advice::error(sentence, "see `memlog help ctl`"))
        }
    }
}

/// Whether a process records now.
pub fn is_on(pid: u32) -> bool {
    let targets = target::find(pid.to_string().as_ref(), false);
    targets.is_ok_and(|targets| targets.iter().any(|target| target.state() == State::On))
}

/// Says in the log of a process that its recorder will do nothing any more.
pub fn stop_for_good(pid: u32) -> anyhow::Result<()> {
    for target in target::find(pid.to_string().as_ref(), false)? {
        target.words().set(Word::State.at(), State::Stopped as u64);
    }
    Ok(())
}

/// What is said of one program.
struct Told {
    word: &'static str,
    sentence: String,
    is_fine: bool,
}

fn status(target: &Target) -> Told {
    let (word, sentence) = match target.state() {
        State::On => ("on", "recording is on"),
        State::Off => ("off", "recording is off"),
        State::Stopped => ("stopped", "recording has stopped for good"),
        State::Deaf => ("deaf", "it takes no requests"),
    };
    let log = target.log();
    let lost: u64 = log.losses.iter().map(|&(_, count)| count).sum();
    let lost = match lost {
        0 => "nothing was lost".to_owned(),
        lost => format!("{} lost", counted(lost, "event")),
    };
    Told {
        word,
        sentence: format!(
            "{sentence}; {} in {}; {lost}",
            sized(log.bytes),
            typed(&log.path)
        ),
        is_fine: true,
    }
}

fn told(action: &Action, outcome: &Outcome, patience: Duration) -> Told {
    let seconds = patience.as_secs_f64();
    let (word, mut sentence) = match &outcome.reply {
        Reply::Answered(Answer::Done) => ("done", action.done().to_owned()),
        Reply::Answered(Answer::Already) => ("already", action.already().to_owned()),
        Reply::Answered(Answer::IsOff) => (
            "off",
            "recording is off, and there is nothing to mark; `memlog ctl PID start` first".into(),
        ),
        Reply::Answered(Answer::Filtered) => (
            "filtered",
            "it is under a seccomp filter, and may not read what it takes to begin".into(),
        ),
        Reply::Answered(Answer::Flight) => (
            "flight",
            "a log of --flight-recorder can be switched on only once".into(),
        ),
        Reply::Answered(Answer::Unknown | Answer::NoRoom) => {
            ("failed", "it could not do that now; try again".into())
        }
        Reply::Silent => (
            "pending",
            format!("no answer within {seconds} s: it will when it allocates or frees next"),
        ),
        Reply::Busy => (
            "busy",
            format!("somebody else has been asking it for {seconds} s; try again"),
        ),
        Reply::Deaf => (
            "deaf",
            "it takes no requests: its recorder is of an older memlog, or writes its log".into(),
        ),
        Reply::Stopped => ("stopped", "its recorder has stopped for good".into()),
        Reply::Gone => ("gone", "it has ended".into()),
    };
    if outcome.dropped {
        sentence += "; the request before had no answer, and is dropped";
    }
    Told {
        word,
        sentence,
        is_fine: matches!(word, "done" | "already"),
    }
}

fn row(target: &Target, told: &Told) -> Value {
    let log = target.log();
    let losses: u64 = log.losses.iter().map(|&(_, count)| count).sum();
    json!({
        "pid": target.pid(),
        "program": target.program(),
        "log": shown(&log.path),
        "log_bytes": log.bytes,
        "lost_events": losses,
        "recording": target.state() == State::On,
        "answer": told.word,
    })
}
