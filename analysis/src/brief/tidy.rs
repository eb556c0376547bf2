//! What every name loses, however much room there is.

use super::tokens::{Kind, Token};
use super::{rust, standard};

/// Pieces of a name of which some are left out. What is left out is jumped
/// over, so that a piece within a piece costs nothing.
pub(super) struct Draft<'n> {
    pub tokens: Vec<Token<'n>>,
    /// By token: the next one that is shown, at least.
    jump: Vec<usize>,
}

impl<'n> Draft<'n> {
    /// Leaves out from one token to before another.
    pub(super) fn drop(&mut self, from: usize, to: usize) {
        if let Some(jump) = self.jump.get_mut(from) {
            *jump = to.max(*jump);
        }
    }

    pub(super) fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    pub(super) fn text(&self, at: usize) -> &'n str {
        self.tokens.get(at).map_or("", |token| token.text)
    }

    /// What follows on the same level: a bracket's partner is passed as well.
    pub(super) fn after(&self, at: usize) -> usize {
        match self.kind(at) {
            Some(Kind::Open(_)) => self.tokens[at].partner + 1,
            _ => at + 1,
        }
    }

    /// The tokens of a level between two, each with what it stands for.
    pub(super) fn level(&self, from: usize, to: usize) -> impl Iterator<Item = usize> {
        let step = move |&at: &usize| Some(self.after(at)).filter(|&next| next < to);
        std::iter::successors(Some(from).filter(|&from| from < to), step)
    }

    /// What is shown.
    fn finish(self) -> Vec<Token<'n>> {
        let mut shown = Vec::with_capacity(self.tokens.len());
        let mut moved = vec![usize::MAX; self.tokens.len()];
        let mut at = 0;
        while at < self.tokens.len() {
            if self.jump[at] > at {
                at = self.jump[at];
                continue;
            }
            moved[at] = shown.len();
            shown.push(self.tokens[at]);
            at += 1;
        }
        for token in &mut shown {
            let partner = moved.get(token.partner).copied();
            token.partner = partner.unwrap_or(usize::MAX);
            if token.partner == usize::MAX && matches!(token.kind, Kind::Open(_) | Kind::Close) {
                token.kind = Kind::Sign;
            }
        }
        shown
    }
}

/// The pieces that are worth a look.
pub(super) fn tidy(tokens: Vec<Token>) -> Vec<Token> {
    let mut draft = Draft {
        jump: vec![0; tokens.len()],
        tokens,
    };
    result_type(&mut draft);
    let mut at = 0;
    let mut paths = Paths::default();
    while at < draft.tokens.len() {
        if draft.jump[at] > at {
            at = draft.jump[at];
            continue;
        }
        paths.see(&draft, at);
        match draft.kind(at) {
            Some(Kind::Word) => standard::namespace(&mut draft, at),
            Some(Kind::Open(b'<')) if is_arguments(&draft, at) => {
                standard::arguments(&mut draft, at, paths.head());
            }
            Some(Kind::Open(b'<')) => rust::qualified(&mut draft, at, paths.start()),
            Some(Kind::Open(b'{')) => lambda(&mut draft, at),
            _ => {}
        }
        at += 1;
    }
    draft.finish()
}

/// Whether `<` opens arguments of the name before it.
fn is_arguments(draft: &Draft, at: usize) -> bool {
    let Some(before) = at.checked_sub(1) else {
        return false;
    };
    match draft.kind(before) {
        Some(Kind::Word | Kind::Close) => true,
        // `operator<< <char>`
        Some(Kind::Space) => before > 0 && draft.text(before - 1).starts_with("operator"),
        _ => false,
    }
}

/// Where the paths begin that are being read, the innermost last.
#[derive(Default)]
struct Paths<'n> {
    outer: Vec<Option<(usize, &'n str)>>,
    current: Option<(usize, &'n str)>,
}

impl<'n> Paths<'n> {
    fn see(&mut self, draft: &Draft<'n>, at: usize) {
        match draft.kind(at) {
            Some(Kind::Space | Kind::Comma | Kind::Sign) => self.current = None,
            Some(Kind::Open(_)) => {
                let start = self.current.unwrap_or((at, ""));
                self.outer.push(Some(start));
                self.current = None;
            }
            Some(Kind::Close) => self.current = self.outer.pop().flatten(),
            Some(Kind::Word | Kind::Path) if self.current.is_none() => {
                self.current = Some((at, draft.text(at)));
            }
            _ => {}
        }
    }

    /// Of the path that the bracket just seen belongs to.
    fn last(&self) -> Option<(usize, &'n str)> {
        self.outer.last().copied().flatten()
    }

    fn head(&self) -> &'n str {
        self.last().map_or("", |(_, head)| head)
    }

    fn start(&self) -> usize {
        self.last().map_or(0, |(start, _)| start)
    }
}

/// C++: `A<B> const& ` before the name of a function, ` const` behind it.
fn result_type(draft: &mut Draft) {
    let end = draft.tokens.len();
    let (mut start, mut last_list, mut is_conversion) = (0, None, false);
    let mut is_plain = true;
    let level: Vec<usize> = draft.level(0, end).collect();
    for &at in &level {
        match draft.kind(at) {
            Some(Kind::Space) if is_conversion || is_qualifier(draft.text(at + 1)) => {}
            // `operator<< <char>`
            Some(Kind::Space) if draft.kind(at + 1) == Some(Kind::Open(b'<')) => {}
            Some(Kind::Space) => (start, last_list) = (at + 1, None),
            Some(Kind::Word) => is_conversion |= draft.text(at) == "operator",
            Some(Kind::Open(b'(')) if at > start && draft.kind(at - 1) != Some(Kind::Path) => {
                last_list = Some(draft.after(at));
            }
            Some(Kind::Sign) => is_plain &= matches!(draft.text(at), "*" | "&" | "."),
            _ => {}
        }
    }
    let Some(after) = last_list.filter(|_| is_plain) else {
        return;
    };
    // Neither a sentence nor a file: nothing else begins so.
    draft.drop(0, start);
    let is_end = |at: usize| match draft.kind(at) {
        Some(Kind::Word) => is_qualifier(draft.text(at)),
        Some(Kind::Space | Kind::Open(b'[')) => true,
        Some(Kind::Sign) => draft.text(at) == "&",
        _ => false,
    };
    if draft.level(after, end).all(is_end) {
        draft.drop(after, end);
    }
}

fn is_qualifier(word: &str) -> bool {
    matches!(word, "const" | "volatile" | "noexcept" | "&" | "[")
}

/// `{lambda(int)#1}` without its parameters.
fn lambda(draft: &mut Draft, at: usize) {
    let list = at + 2;
    if draft.text(at + 1) == "lambda" && draft.kind(list) == Some(Kind::Open(b'(')) {
        draft.drop(list, draft.after(list));
    }
}
