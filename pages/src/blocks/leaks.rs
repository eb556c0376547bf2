//! `memlog leaks`: blocks that were never freed.

use std::process::ExitCode;

use memlog_answers::Test;

use super::table::{self, Form};
use super::{Question, Told, ask};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-leaks-1";

/// Say who asked for what was never freed.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    question: Question,
    #[command(flatten)]
    form: Form,
}

/// Shows the groups.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let needs_names = args.form.by.by().needs_names();
    ask(&args.question, SCHEMA, needs_names, |told| {
        let choice = told.choice.clone().and(Test::Leaked);
        let told = Told {
            choice: &choice,
            ..*told
        };
        table::answer(&told, &args.form, "never freed ")
    })
}
