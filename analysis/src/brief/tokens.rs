//! A name as words, signs and brackets that know their partners.

/// What a piece of a name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier; also `operator<<`, `{closure}`, `(anonymous namespace)`.
    Word,
    /// `::`
    Path,
    Comma,
    Space,
    /// `<`, `(`, `[` or `{` with its partner.
    Open(u8),
    Close,
    /// Any other sign, and brackets without a partner.
    Sign,
}

/// A piece of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'n> {
    pub kind: Kind,
    pub text: &'n str,
    /// Of a bracket: its partner.
    pub partner: usize,
}

/// What is one word although it has brackets or blanks, and how it is shown.
const WHOLE: [(&str, &str); 5] = [
    ("{{closure}}", "{closure}"),
    ("{{vtable.shim}}", "{shim}"),
    ("{{constructor}}", "{constructor}"),
    ("(anonymous namespace)", "(anonymous namespace)"),
    ("'lambda'", "'lambda'"),
];
/// The same with a number behind.
const NUMBERED: [(&str, &str); 3] = [
    ("{closure#", "{closure}"),
    ("{closure_env#", "{closure}"),
    ("{shim:vtable#", "{shim}"),
];

/// The pieces; together they are the name but for white space, versions of
/// interfaces, and the spelling of closures.
pub(super) fn tokens(name: &str) -> Vec<Token<'_>> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        if let Some(after) = version(rest) {
            rest = after;
            continue;
        }
        let (kind, text, long) = next(rest, first);
        rest = &rest[long..];
        if kind != Kind::Space || is_needed(&tokens, rest) {
            tokens.push(Token {
                kind,
                text,
                partner: usize::MAX,
            });
        }
    }
    while tokens.last().is_some_and(|last| last.kind == Kind::Space) {
        tokens.pop();
    }
    join(&mut tokens);
    tokens
}

/// Whether a blank tells anything between these: not in `> >`, nor after a
/// comma, which is shown with one.
fn is_needed(before: &[Token], after: &str) -> bool {
    let Some(last) = before.last() else {
        return false;
    };
    let is_closed = matches!(last.kind, Kind::Close) && after.starts_with('>');
    last.kind != Kind::Comma && !is_closed && !after.starts_with(char::is_whitespace)
}

/// What follows `[abi:cxx11]`.
fn version(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("[abi:")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    rest[end..].strip_prefix(']')
}

/// The next piece, how it is shown, and how long it is.
fn next(text: &str, first: char) -> (Kind, &str, usize) {
    if let Some((shown, long)) = whole(text) {
        return (Kind::Word, shown, long);
    }
    let signs = |kind, long| (kind, &text[..long], long);
    if is_word(first) {
        let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
        let end = match &text[..end] {
            "operator" => end + operator(&text[end..]),
            _ => end,
        };
        return signs(Kind::Word, end);
    }
    match first {
        c if c.is_whitespace() => (Kind::Space, " ", c.len_utf8()),
        ':' if text.starts_with("::") => signs(Kind::Path, 2),
        '-' | '=' if text[1..].starts_with('>') => signs(Kind::Sign, 2),
        ',' if text[1..].starts_with(|c: char| c.is_ascii_digit()) => signs(Kind::Sign, 1),
        ',' => (Kind::Comma, ", ", 1),
        '<' | '(' | '[' | '{' => signs(Kind::Open(first as u8), 1),
        '>' | ')' | ']' | '}' => signs(Kind::Close, 1),
        _ => signs(Kind::Sign, first.len_utf8()),
    }
}

fn whole(text: &str) -> Option<(&'static str, usize)> {
    if let Some((long, shown)) = WHOLE.iter().find(|(long, _)| text.starts_with(long)) {
        return Some((shown, long.len()));
    }
    let (start, shown) = NUMBERED.iter().find(|(start, _)| text.starts_with(start))?;
    let rest = &text[start.len()..];
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let ends = rest[digits..].starts_with('}');
    ends.then_some((shown, start.len() + digits + 1))
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '~' | '$' | '#' | '@')
}

/// How much behind the word `operator` is its sign.
fn operator(text: &str) -> usize {
    const SIGNS: [&str; 11] = [
        "()",
        "[]",
        " new[]",
        " delete[]",
        " new",
        " delete",
        " co_await",
        "<=>",
        "->*",
        "->",
        "\"\" ",
    ];
    if let Some(sign) = SIGNS.iter().find(|sign| text.starts_with(**sign)) {
        return sign.len();
    }
    let is_sign = |c: &char| "<>=+-*/%^&|!~,\"".contains(*c);
    // `operator<<<int>` is `operator<<` with an argument.
    text.chars().take_while(is_sign).take(3).count()
        - usize::from(text.starts_with("<<<") || text.starts_with("<=<"))
}

/// Brackets meet their partners; those that have none are mere signs.
fn join(tokens: &mut [Token]) {
    let mut open: Vec<usize> = Vec::new();
    let mut counts = [0usize; 128];
    for at in 0..tokens.len() {
        let wanted = match (tokens[at].kind, tokens[at].text) {
            (Kind::Open(bracket), _) => {
                open.push(at);
                counts[usize::from(bracket)] += 1;
                continue;
            }
            (Kind::Close, ">") => b'<',
            (Kind::Close, ")") => b'(',
            (Kind::Close, "]") => b'[',
            (Kind::Close, _) => b'{',
            _ => continue,
        };
        let is_on_top = open.last().map(|&top| tokens[top].kind) == Some(Kind::Open(wanted));
        // A lone `>` compares; any other bracket ends what is open within.
        if counts[usize::from(wanted)] == 0 || wanted == b'<' && !is_on_top {
            tokens[at].kind = Kind::Sign;
            continue;
        }
        while let Some(top) = open.pop() {
            let Kind::Open(bracket) = tokens[top].kind else {
                continue;
            };
            counts[usize::from(bracket)] -= 1;
            if bracket == wanted {
                tokens[top].partner = at;
                tokens[at].partner = top;
                break;
            }
            tokens[top].kind = Kind::Sign;
        }
    }
    for top in open {
        tokens[top].kind = Kind::Sign;
    }
}
