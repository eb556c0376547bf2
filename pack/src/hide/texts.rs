//! Paths, hosts and users in texts.

/// Folders whose folders are named after users.
const HOMES: [&[u8]; 3] = [b"/home/", b"/Users/", b"/users/"];
/// What ends a path in a text, and begins the next.
const BETWEEN: &[u8] = b"\0 \t\n=,:;'\"()";

/// The last part of a path, however it ends.
pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let mut parts = path.rsplit(|&byte| byte == b'/');
    parts.find(|part| !part.is_empty()).unwrap_or(b"")
}

/// A text in which paths are their last parts.
pub(crate) fn tokens(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for piece in text.split_inclusive(|byte| BETWEEN.contains(byte)) {
        let (token, end) = match piece.split_last() {
            Some((last, token)) if BETWEEN.contains(last) => (token, std::slice::from_ref(last)),
            _ => (piece, &[][..]),
        };
        let is_path = token.contains(&b'/');
        out.extend_from_slice(if is_path { base_name(token) } else { token });
        out.extend_from_slice(end);
    }
    out
}

/// The names of a host: with and without its domain.
pub(crate) fn hosts(known: &mut Vec<Vec<u8>>, host: &[u8]) {
    let short = host.split(|&byte| byte == b'.').next().unwrap_or(host);
    for name in [host, short] {
        add(known, name);
    }
}

/// The users in whose folders paths lie.
pub(crate) fn users(known: &mut Vec<Vec<u8>>, text: &[u8]) {
    for home in HOMES {
        let places = text.windows(home.len()).enumerate();
        for (at, _) in places.filter(|(_, bytes)| *bytes == home) {
            let rest = &text[at + home.len()..];
            let end = |byte: &u8| *byte == b'/' || BETWEEN.contains(byte);
            add(known, rest.split(end).next().unwrap_or(rest));
        }
    }
}

fn add(known: &mut Vec<Vec<u8>>, name: &[u8]) {
    if !name.is_empty() && !known.iter().any(|other| other == name) {
        known.push(name.to_vec());
        known.sort_by_key(|name| std::cmp::Reverse(name.len()));
    }
}

/// Whether it is a number, with a unit or without: that tells of nobody.
pub(crate) fn is_figure(value: &[u8]) -> bool {
    let digits = value
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let unit = &value[digits..];
    digits > 0 && unit.len() <= 2 && unit.iter().all(u8::is_ascii_alphabetic)
}

/// The text with `word_1`, `word_2` where it has the names, as whole words.
pub(crate) fn replaced(text: &[u8], names: &[Vec<u8>], word: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let found = names.iter().position(|name| is_word_at(text, at, name));
        match found {
            Some(index) => {
                out.extend_from_slice(format!("{word}_{}", index + 1).as_bytes());
                at += names[index].len();
            }
            None => {
                out.push(text[at]);
                at += 1;
            }
        }
    }
    out
}

/// The text with `x` in place of the names, wherever they are.
pub(crate) fn masked(text: &[u8], names: &[Vec<u8>]) -> Vec<u8> {
    let mut out = text.to_vec();
    for name in names {
        for at in 0..text.len() {
            if text[at..].starts_with(name) {
                out[at..][..name.len()].fill(b'x');
            }
        }
    }
    out
}

fn is_word_at(text: &[u8], at: usize, name: &[u8]) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let before = at.checked_sub(1).and_then(|at| text.get(at));
    text[at..].starts_with(name) && !is_part(before) && !is_part(text.get(at + name.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        String::from_utf8_lossy(bytes).into_owned()
    }

    #[test]
    fn paths_in_texts_lose_their_folders() {
        for (given, expected) in [
            (
                "/home/al/bin/prog\0--in=/data/x.txt\0-v\0",
                "prog\0--in=x.txt\0-v\0",
            ),
            ("a/b/:/c/d", "b:d"),
            ("none", "none"),
            ("/", ""),
            ("", ""),
        ] {
            assert_eq!(text(&tokens(given.as_bytes())), expected);
        }
    }

    #[test]
    fn users_and_hosts_are_whole_words() {
        let mut known = Vec::new();
        users(&mut known, b"PATH=/home/al/bin:/home/alice:/Users/bo");
        assert_eq!(
            known.iter().map(|name| text(name)).collect::<Vec<_>>(),
            ["alice", "al", "bo"]
        );
        let hidden = replaced(b"al alice malice --user=bo al.2", &known, "user");
        assert_eq!(text(&hidden), "user_2 user_1 malice --user=user_3 user_2.2");
        assert_eq!(text(&masked(b"alice, bobo", &known)), "xxxxx, xxxx");
    }

    #[test]
    fn figures_have_digits() {
        for (value, is) in [
            ("1", true),
            ("64M", true),
            ("2GiB", false),
            ("", false),
            ("a1", false),
        ] {
            assert_eq!(is_figure(value.as_bytes()), is, "{value}");
        }
    }
}
