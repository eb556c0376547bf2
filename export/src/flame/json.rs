//! What is embedded in a page: one object of flat lists, in a text that is as
//! harmless in HTML as it is in JSON.

use std::fmt::{Display, Write};

/// An object that is written from its beginning to its end.
#[derive(Default)]
pub(super) struct Object(String);

impl Object {
    /// Whether something stands before what comes next.
    fn comma(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { '{' } else { ',' });
        put_string(&mut self.0, key);
        self.0.push(':');
    }

    /// One number.
    pub(super) fn number(&mut self, key: &str, number: impl Display) -> &mut Self {
        self.comma(key);
        // A String takes everything.
        let _ = write!(self.0, "{number}");
        self
    }

    /// A list of numbers.
    pub(super) fn numbers<N: Display>(
        &mut self,
        key: &str,
        list: impl IntoIterator<Item = N>,
    ) -> &mut Self {
        self.list(key, list, |text, number| {
            let _ = write!(text, "{number}");
        })
    }

    /// A list of texts.
    pub(super) fn texts<S: AsRef<str>>(
        &mut self,
        key: &str,
        list: impl IntoIterator<Item = S>,
    ) -> &mut Self {
        self.list(key, list, |text, word| put_string(text, word.as_ref()))
    }

    fn list<T>(
        &mut self,
        key: &str,
        list: impl IntoIterator<Item = T>,
        put: impl Fn(&mut String, T),
    ) -> &mut Self {
        self.comma(key);
        self.0.push('[');
        for (index, item) in list.into_iter().enumerate() {
            if index > 0 {
                self.0.push(',');
            }
            put(&mut self.0, item);
        }
        self.0.push(']');
        self
    }

    /// The whole.
    pub(super) fn end(&mut self) -> String {
        let mut text = std::mem::take(&mut self.0);
        text.push_str(if text.is_empty() { "{}" } else { "}" });
        text
    }
}

/// Whether a character may end a script, begin a comment, or be an end of line to
/// JavaScript.
fn is_of_html(character: char) -> bool {
    matches!(character, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

/// The same JSON, and harmless in HTML: such a character stands in strings alone.
pub fn harmless(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for character in json.chars() {
        match is_of_html(character) {
            true => put_code(&mut text, character),
            false => text.push(character),
        }
    }
    text
}

fn put_string(text: &mut String, word: &str) {
    text.push('"');
    for character in word.chars() {
        match character {
            '"' | '\\' => text.extend(['\\', character]),
            _ if is_of_html(character) || character.is_control() => put_code(text, character),
            _ => text.push(character),
        }
    }
    text.push('"');
}

fn put_code(text: &mut String, character: char) {
    // A String takes everything.
    let _ = write!(text, "\\u{:04x}", u32::from(character));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_flat_and_harmless() {
        let mut object = Object::default();
        object.number("a", 1.5).numbers("b", [1, 2]);
        object.texts("c", ["é\u{2028}\n\"\\", "</script><!--&漢"]);
        assert_eq!(
            object.end(),
            "{\"a\":1.5,\"b\":[1,2],\"c\":[\"é\\u2028\\u000a\\\"\\\\\",\
             \"\\u003c/script\\u003e\\u003c!--\\u0026漢\"]}"
        );
        assert_eq!(Object::default().end(), "{}");
    }
}
