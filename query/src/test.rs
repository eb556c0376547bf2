//! What is asked of one block.

use std::fmt::{self, Write};

use regex::{Regex, RegexBuilder};

use crate::error::{Fault, Problem};
use crate::field::{
    ADDRESS, CountField, Field, Flag, GROUP_LEAKED, LengthField, MomentField, SizeField, TextField,
    count, length, moment, size,
};
use crate::span::Span;
use crate::value::{Address, Amount, Bytes, Length, Moment, quoted};

/// Bytes of the text of a filter, at most.
pub const MAX_TEXT: usize = 64 << 10;
/// Regular expressions of one filter, at most; a large one counts as five.
pub const MAX_PATTERNS: usize = 100;

/// One question about a block. Of a field that has several values, such as the
/// function of each frame, one that fits is enough; a field that has none, such as
/// the moment of a release that never came, fits nothing.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // a field, and its values
pub enum Test {
    /// Every block.
    All,
    Size {
        field: SizeField,
        span: Span<Bytes>,
    },
    Count {
        field: CountField,
        span: Span<u64>,
    },
    Length {
        field: LengthField,
        span: Span<Length>,
    },
    Moment {
        field: MomentField,
        span: Span<Moment>,
    },
    Text {
        field: TextField,
        matcher: Matcher,
    },
    Flag(Flag),
    /// Where the block begins.
    Address(Span<Address>),
    /// The address lies in the block.
    Contains(Address),
    /// The block is there from the one moment to the other.
    Alive {
        from: Moment,
        to: Moment,
    },
    /// How many of its stack's allocations were never released.
    GroupLeaked(Span<Amount>),
    FirstMatch(FirstMatch),
}

/// How a text is compared.
#[derive(Clone, Debug, PartialEq)]
pub enum Matcher {
    /// It is this, letter by letter.
    Is(String),
    /// Somewhere in it is what matches.
    Like(Pattern),
}

/// A regular expression; equal if its text is.
#[derive(Clone, Debug)]
pub struct Pattern {
    regex: Regex,
    is_large: bool,
}

/// The regular expressions of a filter, counted as they come, so that a filter is
/// made in a moment however it is written.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    count: usize,
}

/// The rules of memtrail's `-i` and `-x`: from the leaf outwards, the first frame
/// that matches any rule decides.
#[derive(Clone, Debug, PartialEq)]
pub struct FirstMatch {
    /// In the order in which a frame is compared with them.
    pub rules: Vec<Rule>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // what they say
pub struct Rule {
    pub verdict: Verdict,
    pub field: FrameField,
    pub pattern: Pattern,
}

/// What becomes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // what they say
pub enum Verdict {
    Keep,
    Drop,
}

/// What a rule looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // what they say
pub enum FrameField {
    Function,
    Module,
}

impl Matcher {
    /// Whether a text fits.
    pub fn fits(&self, text: &str) -> bool {
        match self {
            Self::Is(sought) => text == sought,
            Self::Like(pattern) => pattern.is_match(text),
        }
    }
}

impl Pattern {
    /// What one may take compiled, in bytes, and from where on it is a large one.
    const MOST: usize = 1 << 20;
    const LARGE: usize = 128 << 10;

    /// A regular expression of this text. `Err` says why it is none.
    pub fn new(text: &str) -> Result<Self, String> {
        let build = |most| RegexBuilder::new(text).size_limit(most).build();
        let (built, is_large) = match build(Self::LARGE) {
            Err(regex::Error::CompiledTooBig(_)) => (build(Self::MOST), true),
            built => (built, false),
        };
        let pattern = built.map(|regex| Self { regex, is_large });
        pattern.map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // Of a drawing with carets only its last line fits into a sentence.
            error => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                let last = last.strip_prefix("error: ").unwrap_or(last);
                last.replace(char::is_control, " ")
            }
        })
    }

    /// Whether some of a text matches.
    pub fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        self.regex.as_str()
    }
}

impl Patterns {
    /// The next one, which stands at a column.
    pub(crate) fn next(&mut self, text: &str, column: usize) -> Result<Pattern, Fault> {
        let pattern = Pattern::new(text);
        let pattern = pattern.map_err(|reason| (column, Problem::BadPattern { reason }))?;
        self.count += if pattern.is_large { 5 } else { 1 };
        match self.count > MAX_PATTERNS {
            true => Err((column, Problem::TooManyPatterns(MAX_PATTERNS))),
            false => Ok(pattern),
        }
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl FirstMatch {
    /// What the first rule says that a frame matches, if one does.
    pub fn of_frame(&self, function: &str, module: &str) -> Option<Verdict> {
        let fits = |rule: &&Rule| match rule.field {
            FrameField::Function => rule.pattern.is_match(function),
            FrameField::Module => rule.pattern.is_match(module),
        };
        self.rules.iter().find(fits).map(|rule| rule.verdict)
    }

    /// What becomes of a block of which no frame matches: where something is to
    /// be kept, the rest is not.
    pub fn otherwise(&self) -> Verdict {
        let keeps = |rule: &Rule| rule.verdict == Verdict::Keep;
        match self.rules.iter().any(keeps) {
            true => Verdict::Drop,
            false => Verdict::Keep,
        }
    }
}

impl Test {
    /// What it asks for.
    pub fn field(&self) -> Field {
        match self {
            Self::All => Field::All,
            Self::Size { field, .. } => size(*field),
            Self::Count { field, .. } => count(*field),
            Self::Length { field, .. } => length(*field),
            Self::Moment { field, .. } => moment(*field),
            Self::Text { field, .. } => Field::Text(*field),
            Self::Flag(flag) => Field::Flag(*flag),
            Self::Address(_) => ADDRESS,
            Self::Contains(_) => Field::Contains,
            Self::Alive { .. } => Field::Alive,
            Self::GroupLeaked(_) => GROUP_LEAKED,
            Self::FirstMatch(_) => Field::FirstMatch,
        }
    }
}

impl fmt::Display for Test {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.field().fmt(out)?;
        match self {
            Self::All | Self::Flag(_) => Ok(()),
            Self::Size { span, .. } => write!(out, " {span}"),
            Self::Count { span, .. } => write!(out, " {span}"),
            Self::Length { span, .. } => write!(out, " {span}"),
            Self::Moment { span, .. } => write!(out, " {span}"),
            Self::Text { matcher, .. } => write!(out, " {matcher}"),
            Self::Address(span) => write!(out, " {span}"),
            Self::Contains(address) => write!(out, " = {address}"),
            Self::Alive { from, to } if from == to => write!(out, " at {from}"),
            Self::Alive { from, to } => write!(out, " in {from}..{to}"),
            Self::GroupLeaked(span) => write!(out, " {span}"),
            Self::FirstMatch(rules) => rules.fmt(out),
        }
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Is(text) => {
                out.write_str("= ")?;
                quoted(out, text)
            }
            Self::Like(pattern) => {
                out.write_str("~ ")?;
                quoted(out, pattern.as_str())
            }
        }
    }
}

impl fmt::Display for FirstMatch {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_char('(')?;
        for (index, rule) in self.rules.iter().enumerate() {
            if index > 0 {
                out.write_str(", ")?;
            }
            rule.fmt(out)?;
        }
        out.write_char(')')
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let sign = match self.verdict {
            Verdict::Keep => '+',
            Verdict::Drop => '-',
        };
        let field = match self.field {
            FrameField::Function => "function",
            FrameField::Module => "module",
        };
        write!(out, "{sign}{field} ~ ")?;
        quoted(out, self.pattern.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(of: &[(Verdict, FrameField, &str)]) -> FirstMatch {
        let rule = |&(verdict, field, text): &(Verdict, FrameField, &str)| Rule {
            verdict,
            field,
            pattern: Pattern::new(text).expect("a pattern"),
        };
        FirstMatch {
            rules: of.iter().map(rule).collect(),
        }
    }

    #[test]
    fn the_first_rule_that_fits_a_frame_decides() {
        use FrameField::{Function, Module};
        use Verdict::{Drop, Keep};
        let both = rules(&[(Keep, Function, "^parse"), (Drop, Module, "libc")]);
        assert_eq!(both.of_frame("parse_all", "libc.so.6"), Some(Keep));
        assert_eq!(both.of_frame("reparse", "libc.so.6"), Some(Drop));
        assert_eq!(both.of_frame("main", "a.out"), None);
        assert_eq!(both.otherwise(), Drop);
        assert_eq!(rules(&[(Drop, Module, "libc")]).otherwise(), Keep);
        assert_eq!(rules(&[]).otherwise(), Keep);
    }

    #[test]
    fn a_bad_pattern_says_why() {
        let why = |text| Pattern::new(text).expect_err("no pattern");
        assert_eq!(why("a(b"), "unclosed group");
        assert_eq!(
            why("a\n(?=b)"),
            "look-around, including look-ahead and look-behind, is not supported"
        );
        assert_eq!(why("(\\w{99}){99}"), "it is too large");
    }
}
