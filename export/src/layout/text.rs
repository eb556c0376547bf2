//! Names as they fit into a box. A C++ template may be called 2,000 characters.
//!
//! ```text
//! in most columns that do it:                (as analysis/src/brief says)
//!     wrap it; a line ends within a word only if that is wider than a line
//! ```

use memlog_analysis::Brief;

use super::fonts;

/// A line is filled to this part at least if it can be.
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
    let brief = Brief::of(&text);
    let whole = brief.within(usize::MAX);
    if let Some(lines) = wrapped(&whole, room) {
        return lines;
    }
    // Columns that do, halved: none, which always do, and what does not.
    let (mut fits, mut too_many) = (0, whole.chars().count());
    while too_many - fits > 1 {
        let columns = usize::midpoint(fits, too_many);
        match wrapped(&brief.within(columns), room) {
            Some(_) => fits = columns,
            None => too_many = columns,
        }
    }
    let text = brief.within(fits);
    wrapped(&text, room).unwrap_or_else(|| vec![text])
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
    let (mut width, mut end) = (0.0, 0);
    // Between words, within one at a sign, and between words early in a line.
    let (mut good, mut fair, mut short) = (None, None, None);
    let characters: Vec<(usize, char)> = text.char_indices().collect();
    for (place, &(at, c)) in characters.iter().enumerate() {
        width += fonts::width(c.encode_utf8(&mut [0; 4]), room.size, room.bold);
        if width > room.width && at > 0 {
            break;
        }
        end = at + c.len_utf8();
        let next = characters.get(place + 1).map(|&(_, c)| c);
        let is_filled = width >= room.width * LEAST_FILLED;
        match is_between_words(c, next) {
            true if is_filled => good = Some(end),
            true => short = Some(end),
            false if is_filled && matches!(c, '_' | '-' | '.' | '/') => fair = Some(end),
            false => {}
        }
    }
    good.or(fair).or(short).unwrap_or(end)
}

fn is_between_words(last: char, next: Option<char>) -> bool {
    match (last, next) {
        (':', Some(next)) => next != ':',
        (' ' | ',', _) => true,
        (_, Some('(' | '<' | '{')) => true,
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
    fn names_are_wrapped_then_shortened_then_cut() {
        assert_eq!(fit("main", &ROOM), ["main"]);
        let wrapped = fit("memory::arena::Allocator::grow", &ROOM);
        assert_eq!(wrapped, ["memory::arena::", "Allocator::grow"]);
        let name = "std::vector<int, std::allocator<int> >::push_back(int const&)";
        assert_eq!(
            fit(name, &ROOM),
            ["std::vector<int>::", "push_back(int const&)"]
        );
        let long = "abcdefghij".repeat(200);
        let cut = fit(&long, &ROOM);
        assert_eq!(cut.len(), 2);
        assert!(cut.concat().starts_with("abcdefghij"));
        assert!(cut.concat().ends_with("abcdefghij"));
        assert!(cut.concat().contains('…'));
    }

    #[test]
    fn words_stay_whole() {
        let name = "rapidjson::GenericDocument<U>& rapidjson::GenericDocument<U>::Parse<T>(int)";
        assert_eq!(fit(name, &ROOM), ["GenericDocument", "<U>::Parse<T>(…)"]);
        let name = "<rayon::iter::filter_map::FilterMapFolder<C,P> as Folder<T>>::consume";
        assert_eq!(fit(name, &ROOM), ["FilterMapFolder<…>::", "consume"]);
    }

    #[test]
    fn what_cannot_be_shown_is_left_out() {
        assert_eq!(clean("\u{1B}[1ma\tb\0\u{202E}c\u{FEFF} "), "[1ma bc");
    }
}
