//! Pages and completions as who reads them finds them.

use clap::CommandFactory;

use super::*;
use crate::cli::Cli;

#[test]
fn pages_say_what_options_take_and_what_commands_do() {
    for (path, content) in pages(&Cli::command()).unwrap() {
        let page = String::from_utf8(content).unwrap().replace("\\-", "-");
        let section = |name: &str| {
            let (_, rest) = page.split_once(&format!(".SH {name}\n")).expect(name);
            let end = rest.find(".SH ").unwrap_or(rest.len());
            rest[..end].to_owned()
        };
        let (name, described) = (section("NAME"), section("DESCRIPTION"));
        let sentences = described.matches(['.', '?']).count();
        assert!(
            described.len() > name.len() && sentences > 1,
            "{}: {described}",
            path.display()
        );
        let synopsis = section("SYNOPSIS");
        let has = |words: &str| synopsis.contains(words);
        if path.ends_with("memlog-report.1") {
            assert!(has(r"[\fB--at\fR \fIMOMENT\fR]"), "{synopsis}");
            assert!(has(r"[\fB-x|--exclude\fR \fIRE\fR]..."), "{synopsis}");
            assert!(has(r"[\fB-t|--threshold\fR \fIPCT\fR]"), "{synopsis}");
            assert!(synopsis.trim_end().ends_with(r" \fIFILE\fR"), "{synopsis}");
        }
        if path.ends_with("memlog-record.1") {
            assert!(has(r"[\fB--flight-recorder\fR[=\fISIZE\fR]]"), "{synopsis}");
            assert!(
                synopsis.trim_end().ends_with(r" \fIPROG\fR..."),
                "{synopsis}"
            );
        }
    }
}

#[test]
fn shells_offer_moments() {
    let scripts: Vec<_> = completions(&Cli::command()).collect();
    for (path, script) in &scripts {
        let script = String::from_utf8_lossy(script);
        let count = script.lines().filter(|line| {
            MOMENTS.iter().all(|name| line.contains(name)) || line.starts_with("rss-peak\\t")
        });
        assert!(count.count() > 0, "{}: {script}", path.display());
    }
    for name in MOMENTS {
        assert!(name.parse::<memlog_pages::At>().is_ok(), "{name}");
    }
}

#[test]
fn every_command_and_option_has_its_place() {
    let pages = pages(&Cli::command()).unwrap();
    let text = |name: &str| {
        let path = Path::new("man/man1").join(name);
        let (_, page) = pages.iter().find(|(of, _)| *of == path).expect(name);
        String::from_utf8(page.clone()).unwrap().replace("\\-", "-")
    };
    let all: Vec<_> = completions(&Cli::command()).collect();
    let (old, completions): (Vec<_>, Vec<_>) = all.into_iter().partition(|(path, _)| {
        OLDS.iter()
            .any(|name| path.to_string_lossy().contains(name))
    });
    assert_eq!((old.len(), completions.len()), (6, 3));
    for (path, script) in &old {
        let script = String::from_utf8_lossy(script);
        assert!(script.contains("draw"), "{}", path.display());
    }
    let main = text("memlog.1");
    for sub in Cli::command().get_subcommands() {
        let name = format!("memlog-{}", sub.get_name());
        if sub.is_hide_set() {
            assert!(!main.contains(&name), "{name}");
            continue;
        }
        assert!(main.contains(&name), "{name}");
        let page = text(&format!("{name}.1"));
        for long in sub.get_arguments().filter_map(clap::Arg::get_long) {
            assert!(page.contains(&format!("--{long}")), "{name}: {long}");
            for (path, script) in &completions {
                let script = String::from_utf8_lossy(script);
                assert!(script.contains(long), "{}: {long}", path.display());
            }
        }
    }
    assert!(text("memlog2dot.1").contains("--draw"));
    assert!(text("memlog-tree.1").contains("also --show-leaks"));
    for (variable, _) in ENVIRONMENT {
        assert!(main.contains(variable), "{variable}");
    }
}

#[test]
fn what_is_hidden_stays_hidden() {
    for (path, content) in pages(&Cli::command())
        .unwrap()
        .into_iter()
        .chain(completions(&Cli::command()))
    {
        let text = String::from_utf8(content).unwrap();
        for hidden in ["artefacts", "refused"] {
            assert!(!text.contains(hidden), "{}: {hidden}", path.display());
        }
        assert!(text.is_ascii(), "{}", path.display());
    }
}
