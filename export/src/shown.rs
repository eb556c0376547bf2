//! Names as they may be shown. Who makes a file, or a program, may put anything
//! into its name: what a terminal obeys, what ends the line, what turns the
//! text around it, what shows nothing. All of that is written out.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Text of a log or a program: no terminal obeys it, it stays on its line, and
/// no two names look the same for what is not seen.
pub fn clean(text: &[u8]) -> String {
    let mut shown = String::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character.is_control() || is_hidden(character) {
                true => shown.extend(character.escape_default()),
                false => shown.push(character),
            }
        }
        put_bytes(&mut shown, chunk.invalid());
    }
    shown
}

/// A file's name in a sentence.
pub fn shown(path: &(impl AsRef<Path> + ?Sized)) -> String {
    clean(path.as_ref().as_os_str().as_bytes())
}

/// A file's name as one would type it into a shell.
pub fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    // What begins as an option or as somebody's home means neither here.
    let bytes = match bytes.first() {
        Some(b'-' | b'~') => [b"./", bytes].concat(),
        _ => bytes.to_vec(),
    };
    spelt(bytes, "/._-+,:@%=~")
}

/// A word of a command line as one would type it into a shell.
pub fn word(text: &str) -> String {
    spelt(text.as_bytes().to_vec(), "/._-+,:@%=")
}

/// What is not plain stands in quotes.
fn spelt(bytes: Vec<u8>, plain: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || plain.contains(c);
    match String::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && text.chars().all(is_plain) => text,
        Ok(text) if clean(text.as_bytes()) == text => {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
        Ok(text) => spelt_out(text.as_bytes()),
        Err(error) => spelt_out(error.as_bytes()),
    }
}

/// As bash and zsh read what a terminal must not be sent.
fn spelt_out(bytes: &[u8]) -> String {
    let mut word = String::from("$'");
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\'' | '\\' => word.extend(['\\', character]),
                _ if character.is_control() || is_hidden(character) => {
                    put_bytes(&mut word, character.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => word.push(character),
            }
        }
        put_bytes(&mut word, chunk.invalid());
    }
    word + "'"
}

fn put_bytes(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // A String takes everything.
        let _ = write!(text, "\\x{byte:02x}");
    }
}

/// What shows nothing, or turns the text around it: a name must not look like
/// another, nor end the line.
fn is_hidden(character: char) -> bool {
    matches!(
        u32::from(character),
        0xAD | 0x61C
            | 0x180E
            | 0x200B..=0x200F
            | 0x2028..=0x202E
            | 0x2060..=0x206F
            | 0xFEFF
            | 0xFFF9..=0xFFFB
            | 0xE0000..=0xE007F
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn what_is_not_seen_or_obeyed_is_written_out() {
        assert_eq!(clean(b"a\x1b[31m\tb\n"), "a\\u{1b}[31m\\tb\\n");
        assert_eq!(clean("größe 漢字".as_bytes()), "größe 漢字");
        assert_eq!(clean(b"bad\xff\xfe.x"), "bad\\xff\\xfe.x");
        let turning = ['\u{202e}', '\u{2066}', '\u{2028}', '\u{200f}', '\u{61c}'];
        for character in turning.into_iter().chain(['\u{85}', '\u{e0041}']) {
            let name = format!("a{character}b");
            assert_eq!(
                clean(name.as_bytes()),
                format!("a{}b", character.escape_unicode())
            );
        }
    }

    #[test]
    fn names_can_be_pasted() {
        let of = |name: &[u8]| quoted(Path::new(OsStr::from_bytes(name)));
        assert_eq!(of(b"/a/b.1.memlog"), "/a/b.1.memlog");
        assert_eq!(of(b"/a/it's b"), r"'/a/it'\''s b'");
        assert_eq!(of(b"-o.memlog"), "./-o.memlog");
        assert_eq!(of(b"~a"), "./~a");
        // A word of a command line is no file, and may be an option.
        assert_eq!(word("-O1"), "-O1");
        assert_eq!(word("~a"), "'~a'");
        assert_eq!(word("it's b"), r"'it'\''s b'");
        assert_eq!(of(b""), "''");
        assert_eq!(of(b"*.memlog"), "'*.memlog'");
        assert_eq!(of(b"/a/\x1b[2J'\\\n"), r"$'/a/\x1b[2J\'\\\x0a'");
        assert_eq!(of("-\u{202e}b".as_bytes()), r"$'./-\xe2\x80\xaeb'");
        assert_eq!(of(b"bad\xff.memlog"), r"$'bad\xff.memlog'");
    }
}
