//! What must be equal with memlog and without, and what the logs must say.

use super::case::Case;
use super::run::RunOutput;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is wrong with the run by itself.
pub fn alone(native: &RunOutput) -> Vec<String> {
    match native.hung || matches!(native.code, Some(98 | 99)) {
        true => vec![
            format!("without memlog: {}", ended(native)),
            text(&native.out),
        ],
        false => Vec::new(),
    }
}

/// What differs.
pub fn same(native: &RunOutput, recorded: &RunOutput) -> Vec<String> {
    let mut wrong = Vec::new();
    if recorded.hung {
        return vec![format!(
            "ended after {:.1} s, {:.3} native",
            recorded.took.as_secs_f64(),
            native.took.as_secs_f64()
        )];
    }
    if ended(native) != ended(recorded) {
        wrong.push(format!("{}, native {}", ended(recorded), ended(native)));
    }
    for (what, native, recorded) in [
        ("stdout", &native.out, &recorded.out),
        ("stderr", &native.err, &recorded.err),
    ] {
        if native != recorded {
            wrong.push(format!(
                "{what}: {:?}, native {:?}",
                text(recorded),
                text(native)
            ));
        }
    }
    for (name, (mode, bytes)) in &native.files {
        match recorded.files.get(name) {
            None => wrong.push(format!("{}: not there", name.display())),
            Some((other, _)) if other != mode => {
                wrong.push(format!(
                    "{}: mode {other:o}, native {mode:o}",
                    name.display()
                ));
            }
            Some((_, other)) if other != bytes => {
                wrong.push(format!(
                    "{}: {} bytes, native {}",
                    name.display(),
                    other.len(),
                    bytes.len()
                ));
            }
            Some(_) => {}
        }
    }
    let more = recorded
        .files
        .keys()
        .filter(|name| !native.files.contains_key(*name));
    wrong.extend(more.map(|name| format!("{}: not there natively", name.display())));
    wrong
}

fn ended(recorded: &RunOutput) -> String {
    match (recorded.code, recorded.signal) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}

fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.chars().take(300).collect()
}

/// What is wrong with the logs of a run, and how many allocations are in them.
pub fn logs(case: &Case, folder: &Path) -> (Vec<String>, u64) {
    let (mut wrong, mut allocations) = (Vec::new(), 0);
    let files = fs::read_dir(folder).expect("the logs").flatten();
    let paths: Vec<_> = files.map(|file| file.path()).collect();
    if paths.is_empty() {
        wrong.push("no log".to_owned());
    }
    for path in paths {
        let name = path
            .file_name()
            .map_or(String::new(), |name| name.to_string_lossy().into_owned());
        // Of a child that was killed between the file's making and its first byte.
        if case.may_lack && fs::metadata(&path).is_ok_and(|about| about.len() == 0) {
            continue;
        }
        match read(&path) {
            Ok(stats) => {
                allocations += stats["allocations"].as_u64().unwrap_or(0);
                let said = sense(case, &stats).into_iter();
                wrong.extend(said.map(|line| format!("{name}: {line}")));
            }
            Err(error) => wrong.push(format!("{name}: {error}")),
        }
    }
    (wrong, allocations)
}

fn read(path: &Path) -> Result<Value, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_memlog"));
    let output = command
        .args(["stats", "--json"])
        .arg(path)
        .output()
        .expect("memlog runs");
    if !output.status.success() {
        return Err(text(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}

/// What in a log's figures makes no sense.
fn sense(case: &Case, stats: &Value) -> Vec<String> {
    let figure = |name: &str| stats[name].as_u64();
    let lost = figure("lost_events").filter(|_| case.may_lose).or(Some(0));
    let mut wrong = Vec::new();
    for name in [
        "allocations_of_live_addresses",
        "lost_events",
        "order_breaks",
    ] {
        let allowed = match name {
            "lost_events" => case.may_lose,
            // A release that was lost is no more than one of these.
            "allocations_of_live_addresses" => case.may_reuse || figure(name) <= lost,
            _ => false,
        };
        match figure(name) {
            Some(0) => {}
            Some(count) if !allowed => wrong.push(format!("{name} {count}")),
            Some(_) => {}
            None => wrong.push(format!("{name} is not a number")),
        }
    }
    let twice = stats["unknown_releases"]["twice"].as_u64();
    if twice != Some(0) && !case.may_lose {
        wrong.push(format!("releases of what was released: {twice:?}"));
    }
    if figure("end_live_bytes") > figure("heap_peak_bytes") {
        wrong.push("more live at the end than at the peak".to_owned());
    }
    wrong
}
