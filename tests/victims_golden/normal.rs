//! Takes out of a page what differs between runs and machines: times, resident
//! memory, processes, hosts, addresses, and the frames of libraries, of which
//! another version, or one with debugging information, has others.
//!
//! A place is the program's where its file is the victim's source. Any other is
//! a whole box, paragraph or line and goes with the calls to and from it; what
//! is left keeps its order, and boxes get new numbers. What a tree has below
//! such a place moves up to what is above it, and guides are blanks: those of
//! pages made by hand are golden elsewhere.

use std::collections::HashMap;

use regex::{Captures, Regex};

fn replaced(text: &str, pattern: &str, by: &str) -> String {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.replace_all(text, by).into_owned()
}

/// A line of the heading; nothing where it is of resident memory only, or of
/// what is left out, which may be a library's.
fn heading(line: &str) -> Option<String> {
    const OTHERS: &[&str] = &["RSS: ", "of it: ", "moment: ", "not in the picture: "];
    if OTHERS.iter().any(|start| line.starts_with(start)) {
        return None;
    }
    let line = replaced(line, r"^(program: ).*?(, \d+ threads?)", "${1}P${2}");
    let line = replaced(&line, r"\d+\.\d{3} s\b", "T s");
    Some(replaced(&line, r"RSS peak = \S+ \S+B", "RSS peak = R"))
}

/// `FILE.dot` of a victim with this source.
pub fn dot(page: &str, source: &str) -> String {
    let file = format!("{source}:");
    let node = Regex::new(r#"^n(\d+) \[label="([^"]*)""#).expect("a pattern");
    let edge = Regex::new(r"^n(\d+) -> n(\d+) ").expect("a pattern");
    let mut numbers: HashMap<String, String> = HashMap::new();
    let mut out = String::new();
    for line in page.lines() {
        if let Some(found) = node.captures(line) {
            if !found[2].contains(&file) {
                continue;
            }
            let number = format!("n{}", numbers.len());
            let line = line.replacen(&format!("n{}", &found[1]), &number, 1);
            numbers.insert(found[1].to_owned(), number);
            out.push_str(&line);
        } else if let Some(found) = edge.captures(line) {
            let (from, to) = (numbers.get(&found[1]), numbers.get(&found[2]));
            let (Some(from), Some(to)) = (from, to) else {
                continue;
            };
            let call = format!("{from} -> {to} ");
            out.push_str(&edge.replace(line, |_: &Captures| call.clone()));
        } else if let Some(rest) = line.strip_prefix("legend [label=\"") {
            let lines = rest.split("\\l").filter_map(heading);
            let lines: Vec<_> = lines.collect();
            let text = replaced(&lines.join("\\l"), "fontsize=[0-9.]+", "fontsize=F");
            out.push_str(&format!("legend [label=\"{text}"));
        } else {
            out.push_str(line);
        }
        out.push('\n');
    }
    out
}

/// `FILE.txt`.
pub fn text(page: &str, source: &str) -> String {
    let file = format!("{source}:");
    let rule = format!("{}\n", "*".repeat(80));
    let mut parts = page.split(&rule);
    let head = parts.next().unwrap_or_default();
    let head = head.lines().filter_map(heading);
    let mut out = head.map(|line| line + "\n").collect::<String>();
    for part in parts {
        let mut place = part.lines().take_while(|line| !line.is_empty());
        if !place.any(|line| line.contains(&file)) {
            continue;
        }
        out.push_str(&rule);
        for line in part.lines() {
            let is_address = line.trim_start().starts_with("0x");
            let is_call = line.contains("% ") && !line.contains("% of all");
            let is_other = is_call && line.starts_with("    ") && !line.contains(&file);
            if !is_address && !is_other && !line.starts_with("note: ") {
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    out
}

/// `memlog tree`, without its heading.
pub fn tree(page: &str, source: &str) -> String {
    let file = format!("{source}:");
    let is_no_place = |words: &str| {
        let starts = ["in ", "allocated here "];
        words.contains(" more of these ") || starts.iter().any(|start| words.starts_with(start))
    };
    let share = r"\d+\.\d\d% that the filter let through, ";
    let mut out = String::new();
    // Of the branches above: how far each was indented, and whether it stayed.
    let mut above: Vec<(usize, bool)> = Vec::new();
    for line in page
        .lines()
        .skip_while(|line| !line.starts_with("live heap"))
    {
        if line.starts_with("live heap") {
            out.push_str(&replaced(line, share, ""));
            out.push('\n');
            continue;
        }
        let Some((indent, words)) = line.split_once("->") else {
            continue;
        };
        above.retain(|(other, _)| *other < indent.len());
        let depth = above.iter().filter(|(_, stays)| *stays).count();
        let name = words.split_once("x): ").map_or("", |(_, name)| name);
        let stays = name.contains(&file) || is_no_place(name);
        above.push((indent.len(), stays));
        // Among the small ones of all are the libraries' own.
        let words = match indent {
            "" => &replaced(words, r"in [\d,]+ places?(, all)?", "in some places"),
            _ => words,
        };
        if stays {
            out.push_str(&format!("{:1$}->{words}\n", "", 2 * depth));
        }
    }
    out
}
