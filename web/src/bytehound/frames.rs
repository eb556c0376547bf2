//! Stacks as bytehound tells them: a list of frames, the outermost first.

use std::collections::HashMap;

use memlog_answers::World;
use memlog_pages::blocks::{FrameAt, Frames};
use serde_json::{Map, Value};

/// Stacks are told many times in an answer: each is put into words once.
pub struct Stacks<'f> {
    frames: &'f Frames,
    strips: bool,
    known: HashMap<u32, String>,
}

impl<'f> Stacks<'f> {
    /// Those of a log; what templates are of is left out where `strips`.
    pub fn new(frames: &'f Frames, strips: bool) -> Self {
        Self {
            frames,
            strips,
            known: HashMap::new(),
        }
    }

    /// The frames of a stack by its number, as JSON.
    pub fn text(&mut self, number: u32) -> &str {
        let (frames, strips) = (self.frames, self.strips);
        let made = || list(frames.of(number), strips).to_string();
        self.known.entry(number).or_insert_with(made)
    }
}

/// Frames that come from the innermost out.
pub fn list(frames: Vec<FrameAt>, strips: bool) -> Value {
    let frames = frames.into_iter().rev();
    frames.map(|frame| json(&frame, strips)).collect()
}

/// One of them. What is not known of it is not there.
pub fn json(frame: &FrameAt, strips: bool) -> Value {
    let placed = frame.placed;
    let function = placed.function.as_deref().map(|function| match strips {
        true => without_template_args(function),
        false => function.to_owned(),
    });
    let mut object: Map<String, Value> = [
        ("address", frame.address.into()),
        ("address_s", format!("{:016X}", frame.address).into()),
        ("count", frame.count.into()),
        ("is_inline", frame.is_inline.into()),
    ]
    .map(|(name, value): (&str, Value)| (name.to_owned(), value))
    .into_iter()
    .collect();
    for (name, text) in [
        ("library", frame.library),
        ("function", function.as_deref()),
        ("raw_function", placed.symbol.as_deref()),
        ("source", placed.file.as_deref()),
    ] {
        if let Some(text) = text {
            object.insert(name.to_owned(), text.into());
        }
    }
    if let Some(line) = placed.line {
        object.insert("line".to_owned(), line.into());
    }
    Value::Object(object)
}

/// By the number of a stack its number in the log, which filters know.
pub fn ids(world: &World) -> Vec<Option<u32>> {
    let all = world.log_numbers().into_iter();
    all.map(|numbers| numbers.into_iter().min()).collect()
}

/// One of those.
pub fn id(ids: &[Option<u32>], number: u32) -> Option<u32> {
    ids.get(number as usize).copied().flatten()
}

/// An object of JSON with more members, which are JSON already.
pub fn with(object: &Value, more: &[(&str, &str)]) -> String {
    let mut text = object.to_string();
    text.pop();
    for (name, value) in more {
        if text.len() > 1 {
            text.push(',');
        }
        text.push('"');
        text.push_str(name);
        text.push_str("\":");
        text.push_str(value);
    }
    text.push('}');
    text
}

/// A function's name with dots for what its templates are of. Operators keep their signs.
fn without_template_args(name: &str) -> String {
    let (mut short, mut depth, mut opened) = (String::new(), 0u32, 0);
    for (at, sign) in name.char_indices() {
        let is_operator = depth == 0 && matches!(sign, '<' | '>') && {
            let before = short.trim_end_matches(['<', '>', '-', '=']);
            before.ends_with("operator") && !before.ends_with("_operator")
        };
        match sign {
            _ if is_operator => short.push(sign),
            '<' => {
                if depth == 0 {
                    short.push('<');
                    opened = at + 1;
                }
                depth += 1;
            }
            // The arrow of a returned type.
            '>' if depth > 0 && name[..at].ends_with('-') => {}
            '>' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    short.push_str("...>");
                }
            }
            _ if depth == 0 => short.push(sign),
            _ => {}
        }
    }
    // What was never closed is no template.
    if depth > 0 {
        short.push_str(&name[opened..]);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_shortened() {
        for (name, short) in [
            ("main", "main"),
            (
                "std::vector<int>::push_back(int)",
                "std::vector<...>::push_back(int)",
            ),
            ("std::map<int, std::set<char> >::at", "std::map<...>::at"),
            ("operator<(A, B)", "operator<(A, B)"),
            ("operator<< <char>(A)", "operator<< <...>(A)"),
            ("A::operator->()", "A::operator->()"),
            ("f<int (*)() -> int>()", "f<...>()"),
            ("broken<a, b", "broken<a, b"),
        ] {
            assert_eq!(without_template_args(name), short, "{name}");
        }
    }

    #[test]
    fn members_are_added() {
        let object = serde_json::json!({ "a": 1 });
        assert_eq!(with(&object, &[("b", "[2]")]), r#"{"a":1,"b":[2]}"#);
        assert_eq!(with(&serde_json::json!({}), &[("b", "2")]), r#"{"b":2}"#);
    }
}
