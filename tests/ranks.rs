//! Ranks of a parallel job, without a launcher: its variables are enough. Which
//! ranks record, where their logs lie, and whose child is whose.

mod sites;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sites::build::GCC;
use sites::{Folder, said};

/// A shell as a rank of job 77 with the recorder preloaded.
fn rank(folder: &Folder, rank: &str, script: &str) -> Command {
    let mut command = folder.command("/bin/sh");
    command
        .args(["-c", script])
        .env("LD_PRELOAD", folder.recorder().join("libmemlog.so"))
        .env("COBALT_JOBID", "77")
        .env("PMI_RANK", rank)
        .env("MEMLOG_DIR", folder.path("logs"))
        .env("MEMLOG_OUTPUT", "%j.%r.memlog");
    command
}

#[track_caller]
fn runs(mut command: Command) -> Output {
    let output = command.output().expect("sh runs");
    assert!(output.status.success(), "{output:?}");
    output
}

fn info(folder: &Folder, log: &Path) -> String {
    folder.says(&["info".as_ref(), log.as_os_str()])
}

fn line<'t>(text: &'t str, name: &str) -> &'t str {
    let mut lines = text.lines();
    let found = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_default().trim()
}

#[test]
fn children_of_a_rank_are_told_from_it() {
    let folder = Folder::new("rank-children");
    runs(rank(
        &folder,
        "3",
        "ls >ls.txt; /bin/sh -c 'ls >ls.txt; :'; (ls >ls.txt; read x <ls.txt; :); :",
    ));
    let logs = folder.logs("logs");
    let parents: Vec<_> = logs
        .iter()
        .map(|log| (log, folder.stats(log).value("rank_parent_pid").as_u64()))
        .collect();
    let ranks: Vec<&&PathBuf> = parents
        .iter()
        .filter_map(|(log, parent)| parent.is_none().then_some(log))
        .collect();
    assert_eq!(ranks, [&&folder.path("logs/77.3.memlog")], "{parents:?}");
    let rank_pid = folder.stats(ranks[0]).number("pid");
    assert!(parents.len() >= 5, "{parents:?}");
    assert!(parents.iter().any(|(_, parent)| *parent == Some(rank_pid)));
    assert!(
        parents
            .iter()
            .any(|(_, parent)| parent.is_some_and(|pid| pid != rank_pid))
    );

    let told = info(&folder, ranks[0]);
    assert_eq!((line(&told, "rank"), line(&told, "job")), ("3", "77"));
    let child = folder.path("logs/77.3.2.memlog");
    let expected = format!("3, as a child of process {rank_pid}, which has it too");
    assert_eq!(line(&info(&folder, &child), "rank"), expected);
    let page = |log: &Path| folder.says(&["summary".as_ref(), log.as_os_str()]);
    assert!(page(ranks[0]).contains(", rank 3 of job 77,"));
    assert!(page(&child).contains(", child of rank 3 of job 77,"));

    let died = folder.says(&["postmortem".as_ref(), child.as_os_str()]);
    assert!(died.contains(", child of rank 3 of job 77,"), "{died}");

    let list = folder.says(&["info", "--list", "logs"]);
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].starts_with("job  rank       process  started by"));
    assert_eq!(rows.len(), 1 + logs.len(), "{list}");
    assert!(rows[1].starts_with("77   3 ") && rows[1].ends_with("logs/77.3.memlog"));
    assert!(
        rows[2..]
            .iter()
            .all(|row| row.starts_with("77   3 (child)"))
    );
}

/// Who is recorded is known by what he has mapped: what LD_PRELOAD says a static
/// program does not do, and who is linked to the recorder needs none.
#[test]
fn linked_ranks_and_static_wrappers() {
    let folder = Folder::new("rank-linked");
    let lib = folder.recorder();
    let file = format!("@{}/memlog_s_ld_cmds", lib.display());
    let dynamic = [
        format!("-L{}", lib.display()),
        format!("-Wl,--no-as-needed,-rpath,{}", lib.display()),
    ];
    let build = |name: &str, flags: &[&str]| GCC.build(&folder, "starter.c", name, flags);
    let wrapper = build("wrapper", &["-static"]);
    let with = build("static", &["-static", &file]);
    let linked = build("linked", &[&dynamic[0], &dynamic[1], "-lmemlog"]);
    let plain = build("plain", &[]);
    let preload = lib.join("libmemlog.so");
    for (case, (words, preload, children)) in [
        ([&with, &with].as_slice(), None, 1),
        (&[&linked, &linked], None, 1),
        (&[&with, &wrapper, &with], None, 0),
        (&[&wrapper, &plain, &plain], Some(&preload), 1),
    ]
    .into_iter()
    .enumerate()
    {
        let mut command = folder.command(words[0]);
        command
            .args(&words[1..])
            .env("PMI_RANK", "3")
            .env("MEMLOG_OUTPUT", format!("{case}/it.memlog"));
        command.envs(preload.map(|library| ("LD_PRELOAD", library)));
        std::fs::create_dir(folder.path(&case.to_string())).expect("a folder");
        runs(command);
        let logs = folder.logs(&case.to_string());
        let is_child = |log: &&PathBuf| {
            folder
                .stats(log)
                .value("rank_parent_pid")
                .as_u64()
                .is_some()
        };
        let found = (logs.len(), logs.iter().filter(is_child).count());
        assert_eq!(found, (2, children), "case {case}");
    }
}

/// Each file is in the list, what ran before an exec too, and each once.
#[test]
fn the_list_is_of_all_that_are_named() {
    let folder = Folder::new("rank-named");
    for place in ["one", "two"] {
        let words = ["record", "-o", &format!("{place}/"), "sh", "-c"];
        let script = "exec sh -c '(exec ls); exec sh -c :'";
        let output = folder.run(&[&words[..], &[script]].concat());
        let logs = folder.logs(place).len();
        assert!(logs >= 4, "{}", said(&output));
        let more = format!("memlog: {} more logs of processes", logs - 1);
        assert!(said(&output).contains(&more), "{}", said(&output));
        let list = folder.says(&["info", "--list", place]);
        assert_eq!(list.lines().count(), 1 + logs, "{list}");
    }
    let named = folder.logs("two")[0].clone();
    let named = named.to_str().expect("text");
    let all = folder.logs("one").len() + folder.logs("two").len();
    for names in [["one", "two", named], ["one", "two/", "one/*.memlog"]] {
        let list = folder.says(&[&["info", "--list"], &names[..]].concat());
        assert_eq!(list.lines().count(), 1 + all, "{list}");
    }
    let list = folder.says(&["info", "--list", named, "one"]);
    assert_eq!(list.lines().count(), 2 + folder.logs("one").len(), "{list}");
    let output = folder.run(&["info", "--list", "one", "three"]);
    assert!(output.status.success());
    let told = said(&output);
    assert!(told.contains("1 file left out; the first: cannot read the log three"));
}

/// A wrapper that is not recorded is no rank, nor is a launcher that has none or
/// that of the batch script which started it.
#[test]
fn the_rank_is_the_first_that_is_recorded() {
    let folder = Folder::new("rank-wrapped");
    let mut wrapped = rank(&folder, "0", "LD_PRELOAD=$LIBRARY ls >ls.txt; :");
    wrapped
        .env_remove("LD_PRELOAD")
        .env("LIBRARY", folder.recorder().join("libmemlog.so"));
    runs(wrapped);
    let script = "for PMI_RANK in 1 2; do export PMI_RANK; ls >ls.txt; done; :";
    for (pattern, of_script) in [("%j.r%r.memlog", ""), ("%j.s%r.memlog", "1")] {
        let mut launcher = rank(&folder, "", script);
        launcher.env("SLURM_PROCID", of_script);
        launcher.env("MEMLOG_OUTPUT", pattern);
        runs(launcher);
    }
    for name in [
        "77.0", "77.r", "77.r1", "77.r2", "77.s1", "77.s1.2", "77.s2",
    ] {
        let stats = folder.stats(&folder.path(&format!("logs/{name}.memlog")));
        assert!(stats.value("rank_parent_pid").is_null(), "{name}");
    }
    assert_eq!(folder.logs("logs").len(), 7);
}

#[test]
fn only_the_ranks_that_are_named_record() {
    let folder = Folder::new("rank-list");
    let listed = |number: &str, list: &str| {
        let mut command = rank(&folder, number, ":");
        command.env("MEMLOG_RANKS", list);
        let output = runs(command);
        assert_eq!(said(&output), "", "{list}");
    };
    for number in ["1", "16", "21"] {
        listed(number, "0,17-20");
    }
    assert!(!folder.path("logs").exists(), "not even the folder");
    for number in ["0", "17", "20"] {
        listed(number, "0,17-20");
    }
    let names = |logs: Vec<PathBuf>| -> Vec<String> {
        let names = logs.iter().map(|log| log.file_name().expect("a name"));
        names.map(|name| name.to_string_lossy().into()).collect()
    };
    let mut expected = ["77.0.memlog", "77.17.memlog", "77.20.memlog"].to_vec();
    assert_eq!(names(folder.logs("logs")), expected);
    listed("5", "0;17");
    expected.push("77.5.memlog");
    assert_eq!(names(folder.logs("logs")), expected);
    let told = info(&folder, &folder.path("logs/77.5.memlog"));
    assert_eq!(line(&told, "note"), "not understood: MEMLOG_RANKS");
    let mut record = folder.memlog(&["record", "true"]);
    record.env("MEMLOG_RANKS", "1").env("PMI_RANK", "0");
    let output = record.output().expect("memlog runs");
    assert_eq!(output.status.code(), Some(0));
    let expected = "memlog: nothing was recorded here: MEMLOG_RANKS=1 names other ranks\n";
    assert_eq!(said(&output), expected);
}

/// The disk of a node: nobody was there before, many come at once.
#[test]
fn the_folder_of_logs_is_made_once_for_all() {
    let folder = Folder::new("rank-folder");
    let ranks: Vec<_> = (0..8)
        .map(|number| rank(&folder, &number.to_string(), ":").spawn())
        .collect();
    for child in ranks {
        assert!(child.expect("sh").wait().expect("wait").success());
    }
    assert_eq!(folder.logs("logs").len(), 8);
    let made = fs::metadata(folder.path("logs")).expect("made");
    assert_eq!(made.permissions().mode() & 0o7777, 0o700);
    let mut record = folder.memlog(&["record", "true"]);
    record.env("MEMLOG_DIR", folder.path("of-record"));
    assert!(record.output().expect("memlog runs").status.success());
    assert_eq!(folder.logs("of-record").len(), 1);
}

/// A node whose disk is not there, or full: the job runs, each rank says one line.
#[test]
fn a_disk_that_takes_nothing_is_told_and_the_job_runs() {
    let folder = Folder::new("rank-disk");
    let tells = |place: &Path| {
        let mut command = rank(&folder, "4", "echo ran");
        command.env("MEMLOG_DIR", place).stdin(Stdio::null());
        let output = runs(command);
        assert_eq!(output.stdout, b"ran\n");
        let said = said(&output);
        assert!(said.starts_with("memlog: no log of process "), "{said}");
        let place = format!("cannot write {}", place.display());
        assert!(said.contains(&place) && said.lines().count() == 1, "{said}");
    };
    tells(&folder.path("no/such/disk"));
    fs::write(folder.path("file"), "").expect("write");
    tells(&folder.path("file"));
    let disk = folder.folder("disk");
    let mount = |words: &[&str]| {
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).arg(&disk).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    if !mount(&["mount", "-t", "tmpfs", "-o", "size=8k", "memlog-test"]) {
        println!("SKIPPED a disk that is full: nothing may be mounted here");
        return;
    }
    fs::write(disk.join("full"), [1; 8 << 10]).expect("fill");
    let full = std::panic::catch_unwind(|| tells(&disk));
    assert!(mount(&["umount"]));
    full.expect("a full disk is told");
}
