//! `--open`: a viewer is started with the picture, or the file is named. The
//! viewers here are scripts that write down what they were given.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::{Duration, Instant};

use crate::errors::{refuses, with_log};
use crate::said;
use crate::sites::Folder;
use crate::sites::own_time::OwnTime;

/// A viewer that takes long.
fn viewer(folder: &Folder, name: &str) {
    let script = folder.folder("bin").join(name);
    let told = folder.path("told");
    let text = format!(
        "#!/bin/sh\necho \"${{0##*/}} $1\" > {0}.new\nmv {0}.new {0}\nexec sleep 3\n",
        told.display()
    );
    crate::runnable::write(&script, &text);
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).expect("chmod");
}

/// With these variables and no others of a desktop.
fn run(folder: &Folder, words: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = crate::command(folder, words);
    for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
        command.env_remove(name);
    }
    command.env("PATH", format!("{}:/bin", folder.path("bin").display()));
    command.envs(variables.iter().copied());
    command.output().expect("run")
}

/// What the viewer wrote down.
fn told(folder: &Folder) -> String {
    let mut time = OwnTime::start();
    loop {
        match fs::read_to_string(folder.path("told")) {
            Ok(told) => {
                fs::remove_file(folder.path("told")).expect("remove");
                return told;
            }
            Err(error) if time.spent() > Duration::from_secs(20) => panic!("{error}"),
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    }
}

#[test]
fn the_picture_is_opened_and_nobody_waits() {
    let folder = with_log("open");
    for name in ["xdg-open", "mine"] {
        viewer(&folder, name);
    }
    let svg = folder.path("a.memlog.svg");
    let display = ("DISPLAY", ":77");
    let start = Instant::now();
    let output = run(&folder, &["-q", "a.memlog", "--open"], &[display]);
    assert!(
        output.status.success() && !said(&output).contains("; open "),
        "{}",
        said(&output)
    );
    assert_eq!(told(&folder), format!("xdg-open {}\n", svg.display()));
    let words = ["-q", "a.memlog", "--open", "--format", "pdf"];
    let mine = folder.path("bin/mine").display().to_string();
    let output = run(&folder, &words, &[("BROWSER", &format!("{mine}:other"))]);
    assert!(
        output.status.success() && !said(&output).contains("; open "),
        "{}",
        said(&output)
    );
    let pdf = folder.path("a.memlog.pdf");
    assert_eq!(told(&folder), format!("mine {}\n", pdf.display()));
    println!(
        "two viewers of 3 s each were started in {:?}",
        start.elapsed()
    );
}

#[test]
fn without_a_viewer_the_file_is_named() {
    let folder = with_log("open-none");
    folder.folder("bin");
    let svg = folder.path("a.memlog.svg").display().to_string();
    let words = ["-q", "a.memlog", "--open"];
    let output = run(&folder, &words, &[]);
    assert!(output.status.success());
    let note = format!("memlog: note: there is no display to show the picture on; open {svg}\n");
    assert!(said(&output).ends_with(&note), "{}", said(&output));
    let output = run(&folder, &words, &[("BROWSER", "/no/such/viewer")]);
    assert!(output.status.success());
    let told = "memlog: note: /no/such/viewer cannot be started: No such file";
    assert!(said(&output).contains(told), "{}", said(&output));
    assert!(said(&output).ends_with(&format!("; open {svg}\n")));
    refuses(
        &folder,
        &["--open", "--format", "dot,txt", "a.memlog"],
        &["--open opens a picture, and --format names none", "hint: "],
    );
}
