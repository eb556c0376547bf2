//! `memlog temporary`: blocks that lived so short that they need not have come.

use std::process::ExitCode;

use memlog_answers::Test;

use super::table::{self, Form};
use super::{Question, Told, ask};

/// The version of the keys; `doc/STATS.md` says what they mean.
const SCHEMA: &str = "memlog-temporary-1";

/// Say who makes blocks that are freed at once.
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
        let choice = told.choice.clone().and(Test::Temporary);
        let told = Told {
            choice: &choice,
            ..*told
        };
        table::answer(&told, &args.form, "temporary ")
    })
}
