//! Leaks that somebody knows of: the suppressions of LeakSanitizer.

use std::sync::Arc;

use memlog_analysis::{Held, Name, first_outwards, nameless_in};

use crate::choice::{Choice, Test};
use crate::held::held_of;
use crate::place::{file_of, module_of};
use crate::world::{Damaged, World};

/// A line of a file of suppressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppression {
    /// Its number, from 1.
    pub line: usize,
    /// What stands behind `leak:`.
    pub pattern: String,
}

/// The suppressions of a file; the number of a line that is none, and that line.
///
/// ```text
/// line := blanks ["leak:" pattern | "#" anything] blanks
/// ```
pub fn suppressions(text: &str) -> Result<Vec<Suppression>, (usize, &str)> {
    let blank = [' ', '\t'];
    let lines = (1..).zip(text.split('\n'));
    let lines = lines.map(|(line, text)| (line, text.trim_start_matches(blank)));
    let lines = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
    let lines = lines.map(|(line, text)| (line, text.trim_end_matches([' ', '\t', '\r'])));
    let lines = lines.filter(|(_, text)| !text.is_empty());
    let read = lines.map(|(line, text)| match text.strip_prefix("leak:") {
        Some(pattern) => Ok(Suppression {
            line,
            pattern: pattern.to_owned(),
        }),
        None => Err((line, text)),
    });
    read.collect()
}

/// Whether a text has a pattern in it: `*` is any text, `^` in front is the text's
/// beginning and `$` its end. It is done as LeakSanitizer does it: a word is looked
/// for where it comes first, so `a$` is not in `aba`.
fn fits(pattern: &str, text: &str) -> bool {
    if text.is_empty() {
        return false;
    }
    let (mut pattern, mut is_start) = match pattern.strip_prefix('^') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (mut text, mut is_behind_star) = (text, false);
    while let Some(first) = pattern.chars().next() {
        if first == '*' {
            (pattern, is_start, is_behind_star) = (&pattern[1..], false, true);
            continue;
        }
        if first == '$' {
            return text.is_empty() || is_behind_star;
        }
        let end = pattern.find(['*', '$']).unwrap_or(pattern.len());
        let (word, rest) = pattern.split_at(end);
        match text.find(word) {
            Some(at) if !is_start || at == 0 => text = &text[at + word.len()..],
            _ => return false,
        }
        (pattern, is_start, is_behind_star) = (rest, false, false);
    }
    true
}

/// The first that fits a function's library, else the function, else its file.
fn first_of(list: &[Suppression], world: &World, name: &Name) -> Option<usize> {
    let first = |text: &str| list.iter().position(|one| fits(&one.pattern, text));
    let module = module_of(name).unwrap_or_default();
    let is_it = |path: &&String| path.rsplit('/').next() == Some(module);
    let mut paths = world.modules.iter().filter(is_it).peekable();
    let by_module = match paths.peek() {
        Some(_) => paths.filter_map(|path| first(path)).min(),
        None => first(module),
    };
    let function = Some(name.function.as_str()).filter(|name| nameless_in(name).is_none());
    by_module
        .or_else(|| first(function?))
        .or_else(|| first(file_of(name.location.as_deref()?)))
}

/// What of chosen blocks each suppression covers, in their order, and the test that
/// those blocks pass. The innermost frame that one fits decides.
pub fn suppressed(
    world: &World,
    choice: &Choice,
    list: &[Suppression],
) -> Result<(Vec<Held>, Test), Damaged> {
    let of = |name: &Name| first_of(list, world, name);
    let labels: Vec<Option<usize>> = world.names.iter().map(of).collect();
    let of_label = |label: u32| labels.get(label as usize).copied().flatten();
    let first = first_outwards(&world.lines, |label| of_label(label).is_some());
    let of_stack = world.stacks.iter().map(|stack| {
        let line = first.get(stack.whole as usize).copied()?;
        world.label(line).and_then(of_label)
    });
    let of_stack: Vec<Option<usize>> = of_stack.collect();
    let mut covered = vec![Held::default(); list.len()];
    for (held, place) in held_of(world, choice)?.into_iter().zip(&of_stack) {
        if let Some(place) = *place {
            covered[place] = covered[place].plus(held);
        }
    }
    let stacks = of_stack.iter().map(Option::is_some).collect();
    Ok((covered, Test::Stack(Arc::new(stacks))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_as_for_leak_sanitizer() {
        for (pattern, text) in [
            ("leak", "my_leak_here"),
            ("", "x"),
            ("^my", "my_leak"),
            ("my*here", "my_leak_here"),
            ("leak$", "my_leak"),
            ("^my*leak$", "my_leak"),
            ("^my_leak$", "my_leak"),
            ("leak*$", "my_leak_here"),
            ("*", "x"),
            ("^*x", "aax"),
        ] {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("leak", "my_lea"),
            ("", ""),
            ("^leak", "my_leak"),
            ("leak$", "my_leak_here"),
            ("here*my", "my_leak_here"),
            ("a$", "aba"),
            ("^my*lea$", "my_leak"),
        ] {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn lines_are_told_by_their_numbers() {
        let text = "# known\n\n \tleak:one \r\nleak:two words\n  # leak:no\nleak:";
        let read = suppressions(text).expect("lines");
        let read: Vec<_> = read.iter().map(|one| (one.line, &*one.pattern)).collect();
        assert_eq!(read, [(3, "one"), (4, "two words"), (6, "")]);
        assert_eq!(suppressions("leak:a\nrace:b"), Err((2, "race:b")));
    }
}
