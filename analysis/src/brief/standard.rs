//! What the standard libraries of C++ add to every name.

use super::tidy::Draft;
use super::tokens::Kind;

/// Classes whose last arguments are rarely given.
const WITH_DEFAULTS: [&str; 17] = [
    "vector",
    "deque",
    "list",
    "forward_list",
    "set",
    "multiset",
    "map",
    "multimap",
    "unordered_set",
    "unordered_multiset",
    "unordered_map",
    "unordered_multimap",
    "unique_ptr",
    "stack",
    "queue",
    "priority_queue",
    "match_results",
];

/// Drops a namespace that only tells the version of an interface.
pub(super) fn namespace(draft: &mut Draft, at: usize) {
    let is_between =
        at > 0 && draft.kind(at - 1) == Some(Kind::Path) && draft.kind(at + 1) == Some(Kind::Path);
    if is_between && is_version(draft.text(at), draft.text(at.saturating_sub(2))) {
        draft.drop(at, at + 2);
    }
}

/// `__cxx11`, `__1`, `__ndk1`, `_V2`, `json_abi_v3_11_2`, `fmt::v9`
fn is_version(word: &str, outer: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let after = |start: &str| word.strip_prefix(start);
    word == "__cxx11"
        || word == "__ndk1"
        || word.contains("_abi_v")
        || after("__").is_some_and(is_number)
        || after("_V").is_some_and(is_number)
        || outer == "fmt" && after("v").is_some_and(is_number)
}

/// The arguments of a template: gives names their short form, and drops
/// arguments that are what they would be anyway.
pub(super) fn arguments(draft: &mut Draft, open: usize, head: &str) {
    let close = draft.tokens[open].partner;
    let name = draft.text(open.saturating_sub(1));
    let commas = draft.level(open + 1, close);
    let commas: Vec<usize> = commas
        .filter(|&at| draft.kind(at) == Some(Kind::Comma))
        .collect();
    let first = (open + 1, commas.first().copied().unwrap_or(close));
    let is_ours = head == "std" && (name.starts_with('_') || WITH_DEFAULTS.contains(&name));
    let is_text = head == "std" && name.starts_with("basic_");
    let mut end = close;
    for &comma in commas.iter().rev() {
        let one = (comma + 1, end);
        let is_default = match is_ours || is_text {
            true => is_default(draft, name, one, first),
            false => is_global(draft, one),
        };
        if !is_default {
            break;
        }
        end = comma;
    }
    if is_text && end == first.1 && first.1 == first.0 + 1 {
        characters(draft, open, close);
    } else {
        draft.drop(end, close);
    }
}

/// `std::basic_string<char>` is `std::string`, and its constructor `string`.
fn characters(draft: &mut Draft, open: usize, close: usize) {
    let name = draft.text(open - 1);
    let Some(short) = of_characters(name, draft.text(open + 1)) else {
        draft.drop(open + 2, close);
        return;
    };
    draft.tokens[open - 1].text = short;
    draft.drop(open, close + 1);
    if draft.kind(close + 1) == Some(Kind::Path) && draft.text(close + 2) == name {
        draft.tokens[close + 2].text = short;
    }
}

fn of_characters(name: &str, character: &str) -> Option<&'static str> {
    const NAMES: [(&str, &str, &str); 16] = [
        ("basic_string", "string", "wstring"),
        ("basic_string_view", "string_view", "wstring_view"),
        ("basic_ostream", "ostream", "wostream"),
        ("basic_istream", "istream", "wistream"),
        ("basic_iostream", "iostream", "wiostream"),
        ("basic_ios", "ios", "wios"),
        ("basic_streambuf", "streambuf", "wstreambuf"),
        ("basic_stringbuf", "stringbuf", "wstringbuf"),
        ("basic_filebuf", "filebuf", "wfilebuf"),
        ("basic_stringstream", "stringstream", "wstringstream"),
        ("basic_istringstream", "istringstream", "wistringstream"),
        ("basic_ostringstream", "ostringstream", "wostringstream"),
        ("basic_fstream", "fstream", "wfstream"),
        ("basic_ifstream", "ifstream", "wifstream"),
        ("basic_ofstream", "ofstream", "wofstream"),
        ("basic_regex", "regex", "wregex"),
    ];
    let (_, narrow, wide) = NAMES.iter().find(|(long, _, _)| *long == name)?;
    match (character, name) {
        ("char", _) => Some(narrow),
        ("wchar_t", _) => Some(wide),
        ("char8_t", "basic_string") => Some("u8string"),
        ("char16_t", "basic_string") => Some("u16string"),
        ("char32_t", "basic_string") => Some("u32string"),
        _ => None,
    }
}

type Range = (usize, usize);

/// Whether an argument of a class is `std::allocator<...>` or the like; what
/// depends on the first argument must be of that.
fn is_default(draft: &Draft, name: &str, one: Range, first: Range) -> bool {
    if draft.text(one.0) != "std" || draft.kind(one.0 + 1) != Some(Kind::Path) {
        return false;
    }
    let is_named = |at: usize| draft.kind(at) == Some(Kind::Word);
    let word = match is_version(draft.text(one.0 + 2), "") {
        true => one.0 + 4,
        false => one.0 + 2,
    };
    let open = word + 1;
    if !is_named(word) || draft.kind(open) != Some(Kind::Open(b'<')) {
        return false;
    }
    let close = draft.tokens[open].partner;
    match draft.text(word) {
        "allocator" | "char_traits" | "regex_traits" => close + 1 == one.1,
        "deque" | "vector" => {
            close + 1 == one.1 && matches!(name, "stack" | "queue" | "priority_queue")
        }
        "less" | "hash" | "equal_to" | "default_delete" => {
            close + 1 == one.1 && is_same(draft, (open + 1, close), first)
        }
        _ => false,
    }
}

/// `alloc::alloc::Global`, Rust's
fn is_global(draft: &Draft, one: Range) -> bool {
    let words = ["alloc", "::", "alloc", "::", "Global"];
    one.1 - one.0 == words.len()
        && (one.0..)
            .zip(words)
            .all(|(at, word)| draft.text(at) == word)
}

fn is_same(draft: &Draft, one: Range, other: Range) -> bool {
    let texts = |(from, to): Range| draft.tokens[from..to].iter().map(|token| token.text);
    one.1 - one.0 == other.1 - other.0 && texts(one).eq(texts(other))
}
