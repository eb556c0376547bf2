//! Codes as %h and %p in the names of logs.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use memlog_pages::clean;

/// What the recorder knows after a %.
const CODES: &str = "hpetnrj%";

/// What stands after a % and means nothing there, as `%z`, each once.
pub fn unknown_codes(pattern: &[u8]) -> Vec<String> {
    let mut unknown = Vec::new();
    let text = String::from_utf8_lossy(pattern);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            continue;
        }
        let code = letters.next();
        let is_known = code.is_some_and(|code| CODES.contains(code));
        let code = clean(format!("%{}", code.map_or(String::new(), String::from)).as_bytes());
        if !is_known && !unknown.contains(&code) {
            unknown.push(code);
        }
    }
    unknown
}

/// The same name for a recorder that complains of what it does not know: `%z`
/// as `%%z`.
pub fn known_only(pattern: &OsStr) -> OsString {
    let mut known = Vec::new();
    let mut rest = pattern.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.first().filter(|_| *first == b'%');
        let is_known = code.is_some_and(|&code| CODES.as_bytes().contains(&code));
        known.push(*first);
        rest = after;
        match (first, is_known) {
            (b'%', true) => {
                known.extend(code);
                rest = &after[1..];
            }
            (b'%', false) => known.push(b'%'),
            _ => {}
        }
    }
    OsString::from_vec(known)
}

/// The pattern below the folder; the folder's own % are no codes.
pub fn beneath(folder: &Path, pattern: &OsStr) -> PathBuf {
    let bytes = folder.as_os_str().as_bytes();
    let escaped: Vec<u8> = bytes
        .iter()
        .flat_map(|&byte| {
            if byte == b'%' {
                &b"%%"[..]
            } else {
                std::slice::from_ref(&byte)
            }
            .to_vec()
        })
        .collect();
    PathBuf::from(OsString::from_vec(escaped)).join(pattern)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_known_or_named() {
        assert!(unknown_codes(b"%h.%p.%e.%t.%n.%r.%j.%%z").is_empty());
        assert_eq!(unknown_codes(b"%z%y.%z"), ["%z", "%y"]);
        assert_eq!(unknown_codes(b"50%"), ["%"]);
        assert_eq!(
            unknown_codes("%\u{1b}%\u{202e}".as_bytes()),
            ["%\\u{1b}", "%\\u{202e}"]
        );
    }

    #[test]
    fn unknown_codes_stand_for_themselves() {
        let known = |pattern: &str| known_only(OsStr::new(pattern)).into_string();
        assert_eq!(known("a%z.%p%%z.50%").as_deref(), Ok("a%%z.%p%%z.50%%"));
    }
}
