//! Names as they fit into a box. A C++ template may be called 2,000 characters.
//!
//! ```text
//! if the text fits into its lines: wrap it
//! for depth in 3, 2, 1:                  a::b<c<d>>(e)   a::b<c<…>>(e)   a::b<…>(…)
//!     put `…` for what stands deeper in brackets; if it fits: wrap it
//! put `…` for the middle, as little of it as fits; wrap it
//! ```

use super::fonts;

const ELLIPSIS: char = '…';
/// Folds down to a depth of one bracket leave the most telling part.
const DEPTHS: [usize; 3] = [3, 2, 1];
/// A line is filled to this part at least before it ends within a word.
const LEAST_FILLED: f64 = 0.5;

/// Room for text: points, of which a line has `width`.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    pub width: f64,
    pub most_lines: usize,
    pub size: f64,
    pub bold: bool,
}

/// What can be shown of a text on one line: no control characters, nothing
/// that turns the direction of what follows, spaces for other white space.
pub(crate) fn clean(text: &str) -> String {
    let is_shown = |c: &char| {
        let is_mark = matches!(u32::from(*c), 0xAD | 0x200B..=0x200F | 0x202A..=0x202E
            | 0x2060..=0x206F | 0xFE00..=0xFE0F | 0xFEFF | 0xFFF9..=0xFFFF);
        !is_mark && !c.is_control()
    };
    let spaced = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c });
    spaced
        .filter(is_shown)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The text in lines, shortened if there is no other way.
pub(crate) fn fit(text: &str, room: &Room) -> Vec<String> {
    let text = clean(text);
    let folds = DEPTHS.iter().filter_map(|&depth| folded(&text, depth));
    let mut tries = std::iter::once(text.clone()).chain(folds);
    if let Some(lines) = tries.find_map(|text| wrapped(&text, room)) {
        return lines;
    }
    let shortest = folded(&text, 1).unwrap_or(text);
    let characters: Vec<char> = shortest.chars().collect();
    // What is kept, halved: between 0, which always fits, and what does not.
    let (mut fits, mut too_many) = (0, characters.len());
    while too_many - fits > 1 {
        let kept = usize::midpoint(fits, too_many);
        match wrapped(&without_middle(&characters, kept), room) {
            Some(_) => fits = kept,
            None => too_many = kept,
        }
    }
    let text = without_middle(&characters, fits);
    wrapped(&text, room).unwrap_or_else(|| vec![text])
}

fn without_middle(characters: &[char], kept: usize) -> String {
    let head = kept.div_ceil(2);
    let tail = characters.len() - (kept - head);
    let (head, tail) = (&characters[..head], &characters[tail..]);
    let middle = std::iter::once(&ELLIPSIS);
    head.iter().chain(middle).chain(tail).collect()
}

/// The text with `…` for what stands in more than so many brackets; nothing if
/// its brackets do not match or none is that deep.
fn folded(text: &str, most_depth: usize) -> Option<String> {
    let (mut result, mut open) = (String::new(), Vec::new());
    let mut is_folded = false;
    let characters: Vec<char> = text.chars().collect();
    for (at, &c) in characters.iter().enumerate() {
        let closes = match c {
            _ if is_operator(&characters[..at], c) => None,
            '(' | '<' | '[' | '{' => {
                if open.len() < most_depth {
                    result.push(c);
                }
                open.push(c);
                continue;
            }
            ')' => Some('('),
            '>' => Some('<'),
            ']' => Some('['),
            '}' => Some('{'),
            _ => None,
        };
        if closes.is_some() && open.pop() != closes {
            return None;
        }
        // Brackets with nothing in them lose nothing.
        if open.len() < most_depth {
            result.push(c);
        } else if !result.ends_with(ELLIPSIS) && (closes.is_none() || open.len() > most_depth) {
            result.push(ELLIPSIS);
            is_folded = true;
        }
    }
    (open.is_empty() && is_folded).then_some(result)
}

/// Whether a `<` or `>` belongs to `operator<`, `operator>>`, `->` or `=>`.
fn is_operator(before: &[char], c: char) -> bool {
    if c != '<' && c != '>' {
        return false;
    }
    let word: String = before.iter().rev().take(10).rev().collect();
    let word = word.trim_end_matches(['<', '>', '=', '-']);
    word.ends_with("operator") || c == '>' && matches!(before.last(), Some('-' | '='))
}

/// The lines, if they are not too many.
fn wrapped(text: &str, room: &Room) -> Option<Vec<String>> {
    let fits = |text: &str| fonts::width(text, room.size, room.bold) <= room.width;
    let mut lines = Vec::new();
    let mut rest = text;
    while !fits(rest) {
        if lines.len() + 1 >= room.most_lines {
            return None;
        }
        let (line, after) = rest.split_at(line_end(rest, room));
        lines.push(line.trim_end().to_owned());
        rest = after.trim_start();
    }
    lines.push(rest.to_owned());
    Some(lines)
}

/// Where the first line of this text ends: one character at least.
fn line_end(text: &str, room: &Room) -> usize {
    let mut width = 0.0;
    let (mut end, mut good_end) = (0, 0);
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    for (place, &(at, c)) in characters.iter().enumerate() {
        width += fonts::width(c.encode_utf8(&mut [0; 4]), room.size, room.bold);
        if width > room.width && at > 0 {
            break;
        }
        end = at + c.len_utf8();
        let next = characters.get(place + 1).map(|&(_, c)| c);
        if width >= room.width * LEAST_FILLED && may_end(c, next) {
            good_end = end;
        }
    }
    if good_end > 0 { good_end } else { end }
}

/// Whether a line may end between these two characters.
fn may_end(last: char, next: Option<char>) -> bool {
    match (last, next) {
        (':', Some(next)) => next != ':',
        (' ' | ',' | '/' | '_' | '-' | '.', _) => true,
        (_, Some('(' | '<')) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        width: 100.0,
        most_lines: 2,
        size: 10.0,
        bold: false,
    };

    #[test]
    fn names_are_wrapped_then_folded_then_cut() {
        assert_eq!(fit("main", &ROOM), ["main"]);
        let wrapped = fit("memory::arena::Allocator::grow", &ROOM);
        assert_eq!(wrapped, ["memory::arena::", "Allocator::grow"]);
        let name = "std::vector<int, std::allocator<int> >::push_back(int const&)";
        assert_eq!(fit(name, &ROOM), ["std::vector<…>::", "push_back(…)"]);
        let long = "abcdefghij".repeat(200);
        let cut = fit(&long, &ROOM);
        assert_eq!(cut.len(), 2);
        assert!(cut.concat().starts_with("abcdefghij"));
        assert!(cut.concat().ends_with("abcdefghij"));
        assert!(cut.concat().contains(ELLIPSIS));
    }

    #[test]
    fn operators_are_no_brackets() {
        let folded = |text| folded(text, 1);
        assert_eq!(folded("operator<<(a)").as_deref(), Some("operator<<(…)"));
        assert_eq!(folded("f<a->b>()").as_deref(), Some("f<…>()"));
        assert_eq!(folded("a > b (c)"), None);
        assert_eq!(folded("f()"), None);
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        assert_eq!(clean("\u{1B}[1ma\tb\0\u{202E}c\u{FEFF} "), "[1ma bc");
    }
}
