//! What the log says from then on is what the program did.

use std::process::Command;

use serde_json::Value;

use super::{Folder, Living, built, does};

fn held(folder: &Folder, log: &str, options: &[&str]) -> (u64, u64) {
    let path = folder.path(log);
    let mut words: Vec<&std::ffi::OsStr> = vec!["table".as_ref(), "--json".as_ref()];
    words.extend(options.iter().map(std::ffi::OsStr::new));
    words.extend(["--where", "function = counted"].map(std::ffi::OsStr::new));
    words.push(path.as_os_str());
    let page: Value = serde_json::from_str(&folder.says(&words)).expect("JSON");
    let number = |name: &str| page[name].as_u64().unwrap_or_else(|| panic!("{page:#}"));
    (number("bytes"), number("blocks"))
}

/// Nothing of before, all of then, nothing after; and the same once more.
#[test]
fn what_is_recorded_is_what_was_allocated_then() {
    let folder = Folder::new("attach-counted");
    built(&folder);
    let mut living = Living::way(&folder, "idle");
    let pid = living.pid();
    assert_eq!(living.asked("count"), "counted");
    let attach = ["attach", &pid, "-o", "it.memlog", "--wait", "300ms"];
    does(&folder, &attach, "recording begins when");
    assert_eq!(living.asked("count"), "counted");
    // Blocks of before go, and are neither damage nor leaks.
    assert_eq!(living.asked("free"), "freed");
    assert_eq!(living.asked("count"), "counted");
    does(
        &folder,
        &["detach", &pid, "--wait", "300ms"],
        "recording has ended",
    );
    assert_eq!(living.asked("count"), "counted");
    let stats = folder.whole(&folder.path("it.memlog"));
    let before = &stats["unknown_releases"]["before_start"];
    assert!(before.as_u64() >= Some(100), "{stats:#}");
    assert_eq!(held(&folder, "it.memlog", &[]), (2_000_000, 2000));
    does(&folder, &attach, "recording");
    assert_eq!(living.asked("count"), "counted");
    does(
        &folder,
        &["detach", &pid, "--wait", "300ms"],
        "recording has ended",
    );
    living.ends_well("idle");
    assert_eq!(held(&folder, "it.memlog", &[]), (2_000_000, 2000));
    // It did not allocate when it was left, and could not say so: another log begins.
    folder.whole(&folder.path("it.2.memlog"));
    assert_eq!(held(&folder, "it.2.memlog", &[]), (1_000_000, 1000));
}

/// The program is where other files are than here, as in a container.
#[test]
fn a_program_in_a_container_has_its_log_there() {
    let folder = Folder::new("attach-container");
    let victim = built(&folder);
    if !folder.is_root() {
        println!("SKIPPED a container: only root makes one");
        return;
    }
    let jail = folder.folder("jail");
    folder.folder("jail/tmp");
    folder.folder("jail/proc");
    let list = Command::new("ldd").arg(&victim).output().expect("ldd");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let files = list.split_whitespace().filter(|word| word.starts_with('/'));
    for file in files.chain([victim.to_str().expect("text")]) {
        let to = jail.join(file.trim_start_matches('/'));
        std::fs::create_dir_all(to.parent().expect("a folder")).expect("mkdir");
        std::fs::copy(file, &to).expect("a copy");
    }
    let mut command = folder.command("unshare");
    command.args(["--mount", "--pid", "--fork", "sh", "-c"]);
    let line = "mount -t proc proc jail/proc && exec chroot jail \"$0\" churn";
    command.arg(line).arg(&victim);
    let living = Living::start(command);
    let children = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", living.pid()));
    let pid = children.expect("its child").trim().to_owned();
    let text = does(&folder, &["attach", &pid], "recording into");
    assert!(text.contains("/tmp/"), "{text}");
    std::thread::sleep(std::time::Duration::from_millis(100));
    does(&folder, &["detach", &pid], "recording has ended");
    living.ends_well("churn");
    let logs = std::fs::read_dir(jail.join("tmp")).expect("its /tmp");
    let mut logs: Vec<_> = logs.map(|log| log.expect("an entry").path()).collect();
    // What was copied there with the victim is a folder.
    logs.retain(|log| log.is_file());
    assert_eq!(logs.len(), 1, "{logs:?}");
    let stats = folder.whole(&logs[0]);
    assert!(stats["allocations"].as_u64() > Some(1000), "{stats:#}");
}
