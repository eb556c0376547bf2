//! What `memlog record` says at the end of a run that did not go as it should,
//! and of the ranks of a job.

mod sites;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sites::build::GCC;
use sites::{Folder, said};

/// A program that makes many events.
fn many(folder: &Folder) -> PathBuf {
    let source = folder.path("many.c");
    let text = "#include <stdlib.h>\n\
                int main(void) { for (int i = 0; i < 400000; i++) free(malloc(i % 64 + 1)); }\n";
    fs::write(&source, text).expect("write");
    GCC.build_file(folder, &source, "many", &["-O0"])
}

/// In words, and the same ones by who reads the log.
#[test]
fn what_was_lost_is_said_with_its_cause() {
    let folder = Folder::new("says-lost");
    let program = many(&folder);
    let words = ["record", "-o", "it", "--max-log", "256K"].map(Path::new);
    let output = folder.run(&[&words[..], &[&program]].concat());
    let cause = "found no room in the log, which had reached MEMLOG_MAX_LOG";
    let told = said(&output);
    let line = told.lines().find(|line| line.starts_with("memlog: lost: "));
    let line = line.unwrap_or_else(|| panic!("{told}"));
    assert!(line.ends_with(&format!(" events of it {cause}")), "{line}");
    for reader in ["summary", "info"] {
        let page = folder.says(&[reader, "it"]);
        assert!(page.contains(cause), "{reader}: {page}");
    }
}

/// What was in the way is said as it is, with a remedy that fits who had named
/// the place.
#[test]
fn why_there_is_no_log_is_said() {
    let folder = Folder::new("says-none");
    let told = |words: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.memlog(&[&["record"], words].concat());
        let output = command.envs(variables.iter().copied()).output();
        let output = output.expect("memlog runs");
        assert_eq!(output.status.code(), Some(0), "{}", said(&output));
        said(&output)
    };
    folder.folder("gone");
    let wrapper = ["sh", "-c", "unset LD_PRELOAD; rm -r gone; :"];
    // The log of the shell goes with its folder.
    let none = told(&[&["-o", "gone/it"], &wrapper[..]].concat(), &[]);
    let error = format!(
        "memlog: error: no log appeared: the folder {} is not there any more\n",
        folder.path("gone").display()
    );
    assert!(none.contains(&error), "{none}");
    assert!(none.contains("hint: mkdir -p gone, or choose another place with -o PATTERN\n"));

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
    let by_option = told(&["-o", "disk/it", "true"], &[]);
    let by_variable = told(&["true"], &[("MEMLOG_OUTPUT", "disk/it")]);
    assert!(mount(&["umount"]));
    let error = format!(
        "no log appeared: the disk of {} is full: 0 bytes are free\n",
        disk.display()
    );
    for told in [&by_option, &by_variable] {
        assert!(told.contains(&error), "{told}");
        let hint = told.lines().last().unwrap_or_default();
        let remedy = "memlog: hint: make room there, or choose another place with -o PATTERN";
        assert!(
            hint.starts_with(remedy) && !hint.contains("MEMLOG_DIR"),
            "{told}"
        );
    }
    assert!(by_variable.ends_with("from the environment, MEMLOG_OUTPUT\n"));
}

/// Thousands of ranks each have a `memlog record`, all on one terminal: a line
/// each, with its number.
#[test]
fn each_rank_says_one_line_with_its_number() {
    let folder = Folder::new("says-rank");
    let rank = |number: &str, script: &str| {
        let words = ["record", "-o", "logs/%r.memlog", "sh", "-c", script];
        folder.folder("logs");
        let mut command = folder.memlog(&words);
        let output = command.env("PMI_RANK", number).output();
        said(&output.expect("memlog runs"))
    };
    let third = rank("3", ":");
    assert!(third.starts_with("memlog: rank 3: the log is logs/3.memlog ("));
    assert!(
        third.ends_with("), nothing lost\n") && third.lines().count() == 1,
        "{third}"
    );
    let first = rank("0", ":");
    let next = "memlog: rank 0: next: memlog summary logs/0.memlog  # of all ranks there: \
                memlog info --list logs\n";
    assert!(
        first.ends_with(next) && first.lines().count() == 2,
        "{first}"
    );
    let killed = rank("5", "kill -9 $$");
    let lines: Vec<&str> = killed.lines().collect();
    assert_eq!(lines.len(), 3, "{killed}");
    assert!(lines[0].starts_with("memlog: rank 5: sh was killed by signal 9"));
    assert_eq!(
        lines[2],
        "memlog: rank 5: next: memlog postmortem logs/5.memlog"
    );
}

/// The launcher was recorded as well, and was the biggest: it is not what one
/// looks for.
#[test]
fn of_a_whole_job_the_ranks_are_named_first() {
    let folder = Folder::new("says-job");
    let launcher = "for PMI_RANK in 0 1; do export PMI_RANK; ls >ls.txt; done; \
                    unset PMI_RANK; for i in 1 2 3 4; do ls >ls.txt; done; :";
    // A batch script of Slurm's has a number, and so has all that it starts.
    for (number, place) in [("", "logs"), ("0", "batch")] {
        job(&folder, launcher, number, place);
    }
}

fn job(folder: &Folder, launcher: &str, number: &str, place: &str) {
    let mut command = folder.memlog(&["record", "-o", &format!("{place}/"), "sh", "-c", launcher]);
    let output = command.env("SLURM_PROCID", number).output();
    let told = said(&output.expect("memlog runs"));
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[1].starts_with("memlog: 6 more logs of processes"),
        "{told}"
    );
    for (line, number) in lines[2..].iter().zip(["0", "1"]) {
        assert!(
            line.starts_with(&format!("memlog:   rank {number}: {place}/")),
            "{told}"
        );
    }
    let all = format!("memlog:   and 2 more; all of them: memlog info --list {place}");
    assert_eq!(lines[6], all);
    let next = lines.last().unwrap_or(&"");
    assert!(next.contains(" logs of ranks, "), "{told}");
    let own = lines[0].split_whitespace().nth(4).expect("its path");
    assert!(own.starts_with(place) && !next.contains(own), "{told}");
}

/// Where the largest heap was overwritten it is told first, and as that.
#[test]
fn the_heap_peak_is_the_largest_of_all() {
    let folder = Folder::new("flight-heading");
    let program = GCC.build(&folder, "server.c", "server", &["-O2"]);
    let recorded = folder
        .memlog(&["record", "--flight-recorder=1M", "-o", "it.memlog"])
        .arg(program)
        .output()
        .expect("it runs");
    assert!(recorded.status.success(), "{recorded:?}");
    let page = folder.says(&["summary", "--bytes", "it.memlog"]);
    let bytes = |name: &str| -> u64 {
        let rest = page.split_once(name).expect("the line").1;
        let figure = rest.trim_start().trim_start_matches("about ");
        let digits = figure.split('B').next().expect("bytes").replace(',', "");
        digits.parse().expect("a number")
    };
    assert_eq!(bytes("heap peak:"), 13_714_608, "{page}");
    assert!(bytes("since:") < 13_714_608, "{page}");
}

/// Calls within the program do not come by the recorder.
#[test]
fn a_malloc_of_the_programs_own_is_told() {
    let folder = Folder::new("says-own-malloc");
    let text = "#include <stddef.h>\n\
                static char room[1 << 20];\n\
                static size_t used;\n\
                void *malloc(size_t size) { used += (size + 31) & ~15ul; return room + used - size; }\n\
                void free(void *block) { (void)block; }\n\
                int main(void) { free(malloc(10)); return 0; }\n";
    let source = folder.path("own.c");
    fs::write(&source, text).expect("write");
    let flags = ["-O0", "-fno-builtin"];
    let program = GCC.build_file(&folder, &source, "own", &flags);
    let note = "malloc is that of the program itself, and so is operator new if it has one";
    for (log, program, has_own) in [
        ("own.memlog", program.as_path(), true),
        ("other.memlog", Path::new("true"), false),
    ] {
        let words = ["record", "-o", log].map(Path::new);
        let output = folder.run(&[&words[..], &[program]].concat());
        assert!(output.status.success(), "{}", said(&output));
        for reader in ["summary", "info"] {
            let page = folder.says(&[reader, log]);
            assert_eq!(page.contains(note), has_own, "{reader}: {page}");
        }
    }
}

/// What a killed program had resident at last nobody read, and its peak may be
/// that. The kernel's count of it is told where that is more, and else settles it.
#[test]
fn the_peak_of_a_killed_program_is_not_known_exactly() {
    let folder = Folder::new("says-killed-peak");
    let text = "#include <signal.h>\n#include <stdlib.h>\n#include <string.h>\n\
                #include <unistd.h>\n\
                static char room[64 << 20];\n\
                int main(int count, char **words) {\n\
                  memset(malloc(30 << 20), 1, 30 << 20);\n\
                  usleep(30000);\n\
                  char *volatile last = malloc(1);\n\
                  if (count > 2) memset(room, 1, sizeof room);\n\
                  return count > 1 && raise(SIGKILL);\n\
                }\n";
    let source = folder.path("peak.c");
    fs::write(&source, text).expect("write");
    let program = GCC.build_file(&folder, &source, "peak", &["-O0"]);
    let program = program.to_str().expect("text");
    let later = "or later: what came after the last reading is not known";
    let counted = "the kernel counted up to 9";
    for (log, words, is_more) in [
        ("more.memlog", &[program, "killed", "large"][..], true),
        ("killed.memlog", &[program, "killed"][..], false),
        ("ended.memlog", &[program][..], false),
    ] {
        folder.run(&[&["record", "-o", log], words].concat());
        let page = folder.says(&["summary", log]);
        assert_eq!(page.contains(later), is_more, "{page}");
        assert_eq!(page.contains(counted), is_more, "{page}");
    }
}
