//! Scripts as a server runs them: in memory, and within limits.

use std::sync::Arc;
use std::time::Duration;

use memlog_answers::Of;
use memlog_pages::SymbolFiles;
use memlog_script::{Collected, End, Limits, OpenLog, Outcome, Output, run, to_json};

use crate::Leaky;

fn served(code: &str, limits: &Limits) -> (Outcome, Vec<Output>) {
    let leaky = Leaky::get();
    let log = OpenLog::new(leaky.log.clone(), SymbolFiles::default()).expect("a thread");
    let host = Collected::new(Arc::new(log));
    let outcome = run(code, host.clone(), &[], limits);
    (outcome, host.take())
}

fn sentence(outcome: &Outcome) -> &str {
    match &outcome.end {
        End::Failed(fault) => &fault.message,
        end => panic!("{end:?}"),
    }
}

#[test]
fn lines_and_pictures_are_handed_back() {
    let code = "println(allocations().len()); mkdir_p(\"a\"); chdir(\"a\"); \
                allocations().save_as_graph(\"b.svg\"); exit(7);";
    let (outcome, output) = served(code, &Limits::STRANGERS);
    assert_eq!(outcome.end, End::Exit(7));
    let (blocks, _) = Leaky::get().table("all");
    assert_eq!(output[0], Output::Line(blocks.to_string()));
    let Output::Picture { path, svg } = &output[1] else {
        panic!("{output:?}");
    };
    assert_eq!(path, "a/b.svg");
    assert!(svg.ends_with("</svg>\n"));
    let page = to_json(&outcome, &output, |place| {
        (format!("/{place}"), "sum".into())
    });
    assert_eq!(page["status"], "ok");
    assert_eq!(page["output"][0]["value"], blocks.to_string());
    assert_eq!(page["output"][1]["url"], "/1");
    assert_eq!(page["output"][1]["basename"], "b.svg");
}

#[test]
fn a_list_that_is_left_over_is_a_filter() {
    let (outcome, _) = served(
        "allocations().only_leaked().only_larger(10)",
        &Limits::STRANGERS,
    );
    let selection = outcome.selection.expect("a list");
    assert_eq!(selection.of(), Of::Blocks);
    let filter = selection.filter().expect("a filter").to_string();
    assert_eq!(filter, "leaked and size > 10");
    let (outcome, _) = served("maps().only_matching_backtraces([1])", &Limits::STRANGERS);
    let selection = outcome.selection.expect("a list");
    assert_eq!((selection.of(), selection.filter()), (Of::Mappings, None));
}

#[test]
fn strangers_have_limits() {
    let soon = Limits {
        time: Some(Duration::from_millis(200)),
        operations: 0,
        ..Limits::STRANGERS
    };
    let (outcome, _) = served("loop {}", &soon);
    assert_eq!(sentence(&outcome), "it took longer than 0.2 seconds");
    let few = Limits {
        operations: 1_000,
        ..Limits::STRANGERS
    };
    let (outcome, _) = served("loop {}", &few);
    assert_eq!(
        sentence(&outcome),
        "it takes more steps than a script may take"
    );
    let (outcome, output) = served(
        "loop { println(\"x\".to_upper() + \"y\"); }",
        &Limits {
            output_bytes: 4096,
            ..Limits::STRANGERS
        },
    );
    assert!(sentence(&outcome).contains("4 KiB at most"));
    assert!(output.len() < 4096);
    let held = Limits {
        held: 10,
        ..Limits::STRANGERS
    };
    let (outcome, _) = served("allocations()[20]", &held);
    assert!(sentence(&outcome).contains("into its hands"));
    let (outcome, _) = served("load(\"/etc/passwd\")", &Limits::STRANGERS);
    assert!(sentence(&outcome).contains("opens no other"));
    let (outcome, _) = served(
        "allocations().save_as_graph(\"a/b.svg\")",
        &Limits::STRANGERS,
    );
    assert!(sentence(&outcome).contains("there is no folder"));
}

#[test]
fn nobody_waits_for_one_that_is_stopped() {
    let leaky = Leaky::get();
    let log = OpenLog::new(leaky.log.clone(), SymbolFiles::default()).expect("a thread");
    let host = Collected::new(Arc::new(log));
    host.stop();
    let outcome = run("loop {}", host, &[], &Limits::USERS);
    assert_eq!(sentence(&outcome), "it was interrupted");
}
