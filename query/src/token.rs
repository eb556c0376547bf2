//! The text in pieces.

use crate::error::{Fault, Problem, shown};

/// A piece, and where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token<'t> {
    pub what: What<'t>,
    pub column: usize,
    /// As it stands in the text.
    pub text: &'t str,
}

/// Kinds of pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What<'t> {
    Open,
    Close,
    Comma,
    Dots,
    And,
    Or,
    Not,
    Compare(Op),
    /// A name, a number, or a text without quotes.
    Word(&'t str),
    /// A text in quotes, without its backslashes.
    Quoted(String),
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Is,
    IsNot,
    Less,
    AtMost,
    More,
    AtLeast,
    Like,
    Unlike,
}

/// What is written without letters; the longer ones first.
const SIGNS: [(&str, What<'static>); 18] = [
    ("&&", What::And),
    ("||", What::Or),
    ("==", What::Compare(Op::Is)),
    ("!=", What::Compare(Op::IsNot)),
    ("<=", What::Compare(Op::AtMost)),
    (">=", What::Compare(Op::AtLeast)),
    ("!~", What::Compare(Op::Unlike)),
    ("..", What::Dots),
    ("(", What::Open),
    (")", What::Close),
    (",", What::Comma),
    ("!", What::Not),
    ("=", What::Compare(Op::Is)),
    ("<", What::Compare(Op::Less)),
    (">", What::Compare(Op::More)),
    ("~", What::Compare(Op::Like)),
    // For these the next letter is missing.
    ("&", What::And),
    ("|", What::Or),
];

/// The pieces of a text, or what is wrong with it at which column.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token<'_>>, Fault> {
    let mut tokens = Vec::new();
    let (mut rest, mut column) = (text, 1);
    while let Some(letter) = rest.chars().next() {
        let length = if letter.is_whitespace() {
            letter.len_utf8()
        } else {
            let (what, length) = piece(rest).map_err(|problem| (column, problem))?;
            let text = &rest[..length];
            tokens.push(Token { what, column, text });
            length
        };
        column += rest[..length].chars().count();
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// The piece at the beginning, and its bytes.
fn piece(rest: &str) -> Result<(What<'_>, usize), Problem> {
    if rest.starts_with(['"', '\'']) {
        return quoted(rest);
    }
    let sign = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign));
    if let Some((sign, what)) = sign {
        return match *sign {
            "&" | "|" => Err(Problem::Unexpected {
                found: Some(shown(sign)),
                expected: "`&&` or `||`",
            }),
            _ => Ok((what.clone(), sign.len())),
        };
    }
    let is_end = |letter: char| letter.is_whitespace() || "\"'()!=<>~&|,".contains(letter);
    let end = rest.find(is_end).unwrap_or(rest.len());
    let end = rest.find("..").map_or(end, |dots| dots.min(end));
    Ok((What::Word(&rest[..end]), end))
}

/// In a text in quotes a backslash is itself, except before a quote and before
/// another one: so the backslashes of regular expressions need not be doubled.
fn quoted(rest: &str) -> Result<(What<'_>, usize), Problem> {
    let mut letters = rest.char_indices().peekable();
    let quote = letters.next().map_or('"', |(_, quote)| quote);
    let mut text = String::new();
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return Ok((What::Quoted(text), at + 1));
        }
        let escaped = letters.next_if(|(_, next)| letter == '\\' && "\"'\\".contains(*next));
        text.push(escaped.map_or(letter, |(_, next)| next));
    }
    Err(Problem::OpenQuote)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_signs_begin() {
        let texts = |text| {
            let tokens = tokens(text).expect("tokens");
            tokens
                .iter()
                .map(|token| token.text)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(
            texts("size>=1MiB&&!(a!~'b c')"),
            "size >= 1MiB && ! ( a !~ 'b c' )"
        );
        assert_eq!(texts("20%..40% .. 1.5 a.b"), "20% .. 40% .. 1.5 a.b");
        assert_eq!(
            texts("first-match(+function~x,-module~y)"),
            "first-match ( +function ~ x , -module ~ y )"
        );
    }

    #[test]
    fn columns_count_characters() {
        let tokens = tokens(" '\u{e9}\u{6f22}' x").expect("tokens");
        let columns: Vec<_> = tokens.iter().map(|token| token.column).collect();
        assert_eq!(columns, [2, 7]);
    }

    #[test]
    fn a_backslash_is_itself_except_before_quotes() {
        for (text, meant) in [
            (r#""a\.b\d""#, r"a\.b\d"),
            (r#""a\"b\\c""#, r#"a"b\c"#),
            (r#"'it\'s "so"'"#, r#"it's "so""#),
        ] {
            let tokens = tokens(text).expect("tokens");
            assert_eq!(tokens[0].what, What::Quoted(meant.into()));
        }
        assert_eq!(tokens(r#"x "a\"#), Err((3, Problem::OpenQuote)));
    }
}
