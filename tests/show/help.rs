//! Help is found and says what there is.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::time::Duration;

use crate::logs::sites;
use crate::sites::{Folder, said};
use crate::{says, with_logs};

/// As the help lists them.
fn commands(folder: &Folder) -> Vec<String> {
    let help = says(folder, "help");
    let (list, _) = help.split_once("\nFirst steps:").expect("first steps");
    let listed = list.lines().filter_map(|line| line.strip_prefix("  "));
    let listed = listed.filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()));
    let names = listed.filter_map(|line| line.split_once("  "));
    names.map(|(name, _)| name.trim().to_owned()).collect()
}

#[test]
fn commands_are_listed_by_purpose() {
    let folder = Folder::new("show-help");
    let help = says(&folder, "help");
    assert_eq!(help, says(&folder, "--help"));
    let place = |part: &str| {
        help.find(part)
            .unwrap_or_else(|| panic!("no {part} in {help}"))
    };
    let order = [
        "Record a program:",
        "\n  record ",
        "See who held the memory:",
        "\n  summary ",
        "\n  report ",
        "\n  tree ",
        "\n  dot ",
        "Look into a log:",
        "\n  stats ",
        "First steps:",
    ];
    let places: Vec<_> = order.iter().map(|part| place(part)).collect();
    assert!(places.is_sorted(), "{help}");
    let names = commands(&folder);
    assert!(names.len() >= 22, "{names:?}");
    // What each is for begins below that of the one before.
    let column = |name: &String| {
        let (_, rest) = help.split_once(&format!("\n  {name} ")).expect(name);
        name.len() + rest.len() - rest.trim_start().len()
    };
    let columns: Vec<usize> = names.iter().map(column).collect();
    assert!(columns.iter().all(|at| *at == columns[0]), "{help}");
    assert!(help.lines().all(|line| line.len() <= 100), "{help}");
}

#[test]
fn every_command_ends_its_help_with_examples() {
    let folder = Folder::new("show-examples");
    for name in &commands(&folder) {
        let help = says(&folder, &format!("{name} --help"));
        assert_eq!(help, says(&folder, &format!("help {name}")), "{name}");
        let (_, examples) = help.split_once("\nExamples:\n").expect(name);
        let lines = examples.trim_end().lines();
        assert!((2..=4).contains(&lines.clone().count()), "{examples}");
        let mut lines = lines;
        assert!(
            lines.all(|line| line.starts_with("  ") && line.contains("memlog")),
            "{examples}"
        );
    }
}

fn is_listening(line: &str) -> bool {
    line.starts_with("memlog gather") && !line.contains("--new-secret")
}

/// A program that ends with the test, however that ends.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What examples call the collector. It has the secret that another example made.
struct Receiver {
    _running: Running,
    address: String,
}

impl Receiver {
    fn start(folder: &Folder) -> Self {
        let mut command = folder.command(env!("CARGO_BIN_EXE_memlog"));
        command.args(["gather", "--secret", "gather", "-o", "collected"]);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it runs");
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
        out.read_line(&mut line).expect("a line");
        std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
        let (_, rest) = line.split_once("listens at ").expect(&line);
        let (address, _) = rest.split_once(',').expect(&line);
        Self {
            _running: Running(child),
            address: address.to_owned(),
        }
    }

    /// A line of an example as it can run here: the process is a log, and a folder ends.
    fn here(&self, line: &str) -> String {
        let line = line.replace("collector:4711", &self.address);
        line.replace(" 7748 ", " vm.5912.memlog ")
            .replace(" logs/ ", " --once logs/ ")
    }
}

/// As they stand, by a shell, with files of the names that they have.
#[test]
fn examples_run() {
    let mut log = sites();
    // Long enough for the times in the examples.
    log.time(5_000);
    log.count_resident(true, &[]);
    let rank = |job| {
        let mut log = sites();
        log.of_rank(job, b"0");
        log
    };
    let logs = [
        ("vm.5912", log),
        ("logs/a", sites()),
        ("old", sites()),
        ("new", sites()),
        ("jobs/77/0", rank(b"77")),
        ("jobs/78/0", rank(b"78")),
    ];
    let folder = with_logs("show-run", &logs);
    let tool = env!("CARGO_BIN_EXE_memlog");
    std::os::unix::fs::symlink(tool, folder.path("memlog")).expect("link");
    for name in ["program", "server"] {
        std::os::unix::fs::symlink("/bin/true", folder.path(name)).expect("link");
    }
    for name in ["build", "rootfs", "pictures"] {
        std::fs::create_dir(folder.path(name)).expect("mkdir");
    }
    std::fs::write(folder.path("Makefile"), "all:\n").expect("write");
    let heaptrack = "v 10400 2\nX ./server\ns main\ni 1 0 1\nt 1 0\na 8 1\n+ 0\n";
    std::fs::write(folder.path("heaptrack.server.4711.zst"), heaptrack).expect("write");
    let text = "M: 8 0x10\t0.000001 100 42 0 0\n";
    std::fs::write(folder.path("vm.2015.txt"), text).expect("write");
    std::fs::write(folder.path("lsan.supp"), "leak:no_such_function\n").expect("write");
    let script = "println(allocations().only_leaked().len());\n";
    std::fs::write(folder.path("leaks.rhai"), script).expect("write");
    let path = format!(
        "{}:{}",
        folder.root().display(),
        std::env::var("PATH").expect("PATH")
    );
    let is_there = |program: &str| {
        let found = folder.command("which").arg(program).output();
        found.is_ok_and(|found| found.status.success())
    };
    let asked = allocating(&folder);
    let unrecorded = unrecorded(&folder);
    let ssh = "#!/bin/sh\nfor line; do :; done\nexec sh -c \"$line\"\n";
    std::fs::write(folder.path("ssh"), ssh).expect("write");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path("ssh"), mode).expect("a mode");
    let mut receiver = None;
    for name in &commands(&folder) {
        let help = says(&folder, &format!("{name} --help"));
        let (_, examples) = help.split_once("\nExamples:\n").expect(name);
        for line in examples
            .lines()
            .filter(|line| line.starts_with("  memlog "))
        {
            let line = line.trim();
            let line = line.split("   ").next().unwrap_or(line);
            if let Some(absent) = ["jq", "make"]
                .into_iter()
                .find(|program| line.split(' ').any(|word| word == *program) && !is_there(program))
            {
                println!("SKIPPED {line}: there is no {absent}");
                continue;
            }
            let mut shell = folder.command("sh");
            // Nobody wants to look at what --open opens.
            let shell = shell.env("PATH", &path).env("BROWSER", "true");
            // It is asked for as the process of a log, or as one that has none.
            let of = |pid: u32| line.replace(" 5912", &format!(" {pid}"));
            let line = match line.split(' ').nth(1) {
                Some("ctl" | "top" | "follow") => of(asked.0.id()),
                Some("attach" | "detach") => of(unrecorded.0.id()).replace("30s", "300ms"),
                _ => line.to_owned(),
            };
            let line = line.replace("/var/lib/node_exporter/", "");
            // These go on until Ctrl-C; a port of an example may be taken.
            let is_long = ["memlog server", "memlog follow"];
            let is_long = is_long.iter().any(|begin| line.starts_with(begin));
            let line = match is_long || is_listening(&line) {
                // Without --foreground timeout sends the signal twice, and the second one kills.
                true => format!("timeout --foreground --preserve-status -s INT 2 {line}"),
                false => line,
            };
            let line = line.replace("0.0.0.0:4711", "127.0.0.1:0");
            let line = match line.starts_with("memlog stream") {
                true => receiver
                    .get_or_insert_with(|| Receiver::start(&folder))
                    .here(&line),
                false => line,
            };
            // The example before it may have begun to record.
            let line = match line.strip_prefix("memlog attach ") {
                Some(rest) if line.contains(" --for ") => {
                    let pid = rest.split(' ').next().unwrap_or(rest);
                    format!("memlog detach {pid}; {line}")
                }
                _ => line,
            };
            let output = shell.args(["-ec", &line]).output();
            let output = output.expect("sh");
            assert!(output.status.success(), "{line}: {}", said(&output));
        }
    }
}

/// A program that allocates until it is killed, without a recorder.
fn unrecorded(folder: &Folder) -> Running {
    let mut command = folder.command("sh");
    command.args(["-c", "while :; do x=$x.; x=; sleep 0.01; done"]);
    Running(command.spawn().expect("sh"))
}

/// A program that allocates until it is killed, and writes a log.
fn allocating(folder: &Folder) -> Running {
    let lib = folder.recorder().join("libmemlog.so");
    let log = folder.folder("asked").join("it.memlog");
    let mut command = folder.command("sh");
    command
        .args(["-c", "while :; do x=$x.; x=; sleep 0.01; done"])
        .env("LD_PRELOAD", lib)
        .env("MEMLOG_FOLLOW_EXEC", "0")
        .env("MEMLOG_OUTPUT", &log);
    let running = Running(command.spawn().expect("sh"));
    while !log.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    running
}
