//! Settings as somebody else might set them: no value of a launcher's leads a
//! log to another folder, and none is believed because it is long or odd.

use crate::{Facts, names, same};
use std::fs;
use std::path::Path;

/// All files below a folder, by path.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("list").flatten() {
            match entry.path().is_dir() {
                true => folders.push(entry.path()),
                false => found.push(entry.path().display().to_string()),
            }
        }
    }
    found.sort();
    found
}

#[test]
fn no_value_leads_to_another_folder() {
    let facts = Facts::new("hostile-settings");
    // Where a way up would end, and be seen.
    let place = facts.folder.folder("a/b/c");
    facts.folder.folder("etc");
    let up = "../../../etc/x";
    let cases: &[&[(&str, &str)]] = &[
        &[("SLURM_JOB_ID", up)],
        &[("SLURM_JOB_ID", "/etc/x")],
        &[("PBS_JOBID", "..")],
        &[("MEMLOG_RANK", up), ("MEMLOG_OUTPUT", "%r.memlog")],
        &[("MEMLOG_RANK", ".."), ("MEMLOG_OUTPUT", "%r")],
        &[("JOB_ID", up), ("MEMLOG_OUTPUT", "x/%j/%p.memlog")],
        &[("JOB_ID", up), ("MEMLOG_OUTPUT", "%j%j%j")],
        &[("JOB_ID", "a\nb\u{1b}[31m"), ("MEMLOG_OUTPUT", "%j.memlog")],
        &[
            ("OMPI_COMM_WORLD_RANK", "%j%h/../../.."),
            ("MEMLOG_OUTPUT", "%r"),
        ],
    ];
    for case in cases {
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(place.join("x")).expect("mkdir");
        let before = files(facts.folder.root());
        let recorded = |recorded: bool| {
            let mut command = facts.command("cd a/b/c", &["1000"], recorded);
            command.envs(case.iter().copied());
            command
        };
        // Where a folder of the name is missing there is no log, and a line.
        let mut command = recorded(true);
        command.arg("").env("PWD", &place);
        let output = command.output().expect("run");
        assert_eq!(output.status.code(), Some(3), "{case:?}: {output:?}");
        let mut new = files(facts.folder.root());
        new.retain(|path| !before.contains(path));
        let inside = place.display().to_string();
        let strays: Vec<_> = new
            .iter()
            .filter(|path| !path.starts_with(&inside))
            .collect();
        assert!(strays.is_empty(), "{case:?}: {strays:?}");
        let is_plain = |path: &String| !path.bytes().any(|byte| byte.is_ascii_control());
        assert!(new.iter().all(is_plain), "{case:?}: {new:?}");
        assert!(
            new.len() == 1 || !output.stderr.is_empty(),
            "{case:?}: {new:?}"
        );
    }
}

/// A megabyte in each setting, and what a terminal or a line would obey.
#[test]
fn long_and_odd_values_change_nothing() {
    let facts = Facts::new("odd-settings");
    // The kernel takes no longer one than 128 KiB.
    let long = "%j/../".repeat(20_000);
    let names_of = [
        "MEMLOG_OUTPUT",
        "MEMLOG_DIR",
        "MEMLOG_RANKS",
        "MEMLOG_MAX_LOG",
        "MEMLOG_SINK",
        "MEMLOG_OFF",
        "MEMLOG_FREE_STACKS",
        "MEMLOG_X",
        "SLURM_JOB_ID",
        "PMI_RANK",
    ];
    for (turn, odd) in [
        long.as_str(),
        "\n\n",
        "\u{1b}]0;x\u{7}",
        "$(touch pwned)",
        "`touch pwned`",
        ";touch pwned",
    ]
    .into_iter()
    .enumerate()
    {
        let place = facts.folder.folder(&format!("{turn}"));
        let all: Vec<(&str, &str)> = match turn {
            // Together they are the megabyte.
            0 => names_of.iter().map(|&name| (name, odd)).collect(),
            _ => names_of.iter().skip(2).map(|&name| (name, odd)).collect(),
        };
        same(|recorded| {
            let mut command = facts.command(&format!("cd {turn}"), &["1000"], recorded);
            command.envs(all.iter().copied());
            command
        });
        let found = names(&place);
        assert_eq!(found.len(), 1, "{odd:.20}: {found:?}");
        let stats = facts.folder.stats(&place.join(&found[0]));
        assert!(stats.number("allocations") > 1000, "{odd:.20}");
        assert!(!facts.folder.path("pwned").exists() && !place.join("pwned").exists());
    }
}
