//! Which program a log is of, by the names that users know.

use memlog_format::meta::Key;
use memlog_read::Log;

use crate::words::clean;

/// The name that the log was made by, without its folder.
pub fn log_name<'a>(log: &Log<'a>) -> &'a [u8] {
    let path = log.text(Key::LogPath).unwrap_or_default();
    path.rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

/// The words of a log's command line.
pub fn command_words(log: &Log) -> Vec<String> {
    words(log.text(Key::CommandLine).unwrap_or_default()).collect()
}

fn words(line: &[u8]) -> impl Iterator<Item = String> {
    let words = line.split_inclusive(|&byte| byte == 0);
    words.map(|word| clean(word.strip_suffix(&[0]).unwrap_or(word)))
}

/// The words of a command line, quoted where a shell would need it.
pub fn command_line(line: &[u8]) -> String {
    let plain = |word: &str| {
        let safe = |c: char| c.is_alphanumeric() || "_-./=:,+@%^".contains(c);
        !word.is_empty() && word.chars().all(safe)
    };
    let words = words(line).map(|word| match plain(&word) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The name by which a program was started, where that is not its file's: one
/// file may be many programs, as the C library's loader or busybox are.
pub fn started_as(log: &Log) -> Option<String> {
    let words = log.text(Key::CommandLine)?;
    other_name(
        words.split(|&byte| byte == 0).next()?,
        log.text(Key::Executable)?,
    )
}

/// A browser's child writes all of its command line over its name: of that the
/// beginning is shown, and not the program's name once more.
fn other_name(first: &[u8], executable: &[u8]) -> Option<String> {
    const MOST: usize = 32;
    fn name(path: &[u8]) -> &[u8] {
        path.rsplit(|&byte| byte == b'/').next().unwrap_or(path)
    }
    let program = name(executable);
    let end = first.iter().position(|&byte| byte == b' ');
    let is_own = match end {
        None => name(first) == program,
        // A folder's name may have spaces as well.
        Some(_) => executable.ends_with(first.strip_prefix(b".").unwrap_or(first)),
    };
    if is_own {
        return None;
    }
    let (word, rest) = first.split_at(end.unwrap_or(first.len()));
    // A shell that logs a user in.
    let word = name(word);
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let rest = rest.trim_ascii();
    let shown = match (word == program, rest.is_empty()) {
        (true, _) => clean(rest),
        (false, true) => clean(word),
        (false, false) => format!("{} {}", clean(word), clean(rest)),
    };
    let shown = match shown.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", shown[..cut].trim_end()),
        None => shown,
    };
    (!shown.is_empty()).then_some(shown)
}

/// The program's file as its places have it, without its folder.
pub fn program(log: &Log) -> Option<String> {
    let path = log.text(Key::Executable)?;
    let name = path.rsplit(|&byte| byte == b'/').next();
    Some(clean(name.unwrap_or(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_s_other_name_is_short() {
        let name = |first: &str, file: &str| other_name(first.as_bytes(), file.as_bytes());
        assert_eq!(name("ls", "/bin/busybox").as_deref(), Some("ls"));
        assert_eq!(name("sh", "/bin/dash").as_deref(), Some("sh"));
        assert_eq!(name("/bin/ls", "/bin/ls"), None);
        assert_eq!(name("-bash", "/bin/bash"), None);
        assert_eq!(name("/opt/My Program/tool", "/opt/My Program/tool"), None);
        let master = name("nginx: master process /usr/sbin/nginx", "/usr/sbin/nginx");
        assert_eq!(master.as_deref(), Some("nginx: master process /usr/sbin/…"));
        let child = "/usr/lib/browser/browser --type=renderer --data=/tmp/x.1 --lang=en";
        let child = name(child, "/usr/lib/browser/browser");
        assert_eq!(child.as_deref(), Some("--type=renderer --data=/tmp/x.1…"));
        assert_eq!(name("", "/bin/ls"), None);
    }
}
