//! A name within so many columns.

use super::tokens::{Kind, Token};

const ELLIPSIS: &str = "…";
/// Parameters that take more columns are told by nobody.
const LONG_LIST: usize = 24;

/// A tidy name, and how its pieces nest.
pub(super) struct Parts<'n> {
    tokens: Vec<Token<'n>>,
    /// What may be put as `…`, in the order of the opening brackets.
    groups: Vec<Group>,
    columns: usize,
}

/// `<...>` or `(...)` with something in it.
struct Group {
    open: usize,
    /// In how many others it stands.
    depth: usize,
    /// The columns between its brackets.
    whole: usize,
    /// The same if all groups within are elided.
    elided: usize,
    /// Parameters of a function.
    is_list: bool,
}

/// A part of what is shown.
#[derive(Clone, Copy)]
struct Piece<'n> {
    text: &'n str,
    /// In how many brackets it stands, those of its own included.
    depth: usize,
}

impl<'n> Parts<'n> {
    pub(super) fn of(tokens: Vec<Token<'n>>) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let (mut whole, mut sums) = (0, vec![(0, 0)]);
        for (at, token) in tokens.iter().enumerate() {
            let long = width(token.text);
            whole += long;
            match token.kind {
                Kind::Open(b'<' | b'(') => {
                    open.push(groups.len());
                    sums.push((0, 0));
                    groups.push(Group {
                        open: at,
                        depth: open.len() - 1,
                        whole: 0,
                        elided: 0,
                        is_list: token.text == "(" && is_name(&tokens, at),
                    });
                }
                Kind::Close if matches!(token.text, ">" | ")") => {
                    let (inner, elided) = sums.pop().unwrap_or_default();
                    add(&mut sums, inner + 2, if inner == 0 { 2 } else { 3 });
                    if let Some(group) = open.pop() {
                        (groups[group].whole, groups[group].elided) = (inner, elided);
                    }
                }
                _ => add(&mut sums, long, long),
            }
        }
        Self {
            tokens,
            groups,
            columns: whole,
        }
    }

    pub(super) fn within(&self, columns: usize) -> String {
        let (is_elided, long) = self.without_lists(columns);
        if long <= columns {
            return text(&self.shown(&is_elided));
        }
        let plain = Self::of(without_namespaces(&self.tokens));
        let (mut is_elided, long) = plain.without_lists(columns);
        plain.elide(&mut is_elided, long, columns);
        let mut pieces = plain.shown(&is_elided);
        let mut bare = pieces.clone();
        drop_front(&mut pieces, columns, 2);
        if long_of(&pieces) > columns {
            bare.retain(|piece| piece.depth == 0);
            drop_front(&mut bare, columns, 1);
            // Of a name that is nothing but brackets they stay.
            if !is_blank(bare.iter().map(|piece| piece.text)) {
                pieces = bare;
            }
        }
        without_middle(&text(&pieces), columns)
    }

    /// Which groups are elided if long lists of parameters are, and all lists
    /// where room is short; and how many columns that takes.
    fn without_lists(&self, columns: usize) -> (Vec<bool>, usize) {
        let mut is_elided = vec![false; self.tokens.len()];
        let mut long = self.columns;
        for group in self.groups.iter().rev() {
            let is_list = group.depth == 0 && group.is_list && group.whole > 1;
            if is_list && (group.whole > LONG_LIST || long > columns) {
                is_elided[group.open] = true;
                long -= group.whole - 1;
            }
        }
        (is_elided, long)
    }

    /// Folds from the inside out, from the right to the left; the outermost by
    /// their width, so that of a class and its method one stays.
    fn elide(&self, is_elided: &mut [bool], mut long: usize, columns: usize) {
        let deepest = self.groups.iter().map(|group| group.depth + 1).max();
        let mut by_depth: Vec<Vec<usize>> = vec![Vec::new(); deepest.unwrap_or(0)];
        // What stands in a list that was elided is out of sight.
        let mut hidden_to = 0;
        for (index, group) in self.groups.iter().enumerate() {
            if group.open < hidden_to || group.elided <= 1 {
                continue;
            }
            if is_elided[group.open] {
                hidden_to = self.tokens[group.open].partner;
            } else {
                by_depth[group.depth].push(index);
            }
        }
        if let Some(outermost) = by_depth.first_mut() {
            outermost.sort_by_key(|&index| self.groups[index].elided);
        }
        for &index in by_depth.iter().rev().flat_map(|level| level.iter().rev()) {
            let group = &self.groups[index];
            if long <= columns {
                return;
            }
            is_elided[group.open] = true;
            long -= group.elided - 1;
        }
    }

    fn shown(&self, is_elided: &[bool]) -> Vec<Piece<'n>> {
        let mut pieces = Vec::new();
        let (mut at, mut depth) = (0, 0);
        while let Some(token) = self.tokens.get(at) {
            let is_open = matches!(token.kind, Kind::Open(b'<' | b'('));
            let is_close = token.kind == Kind::Close && matches!(token.text, ">" | ")");
            depth += usize::from(is_open);
            let text = token.text;
            pieces.push(Piece { text, depth });
            depth -= usize::from(is_close);
            at += 1;
            if is_open && is_elided[at - 1] {
                let text = ELLIPSIS;
                pieces.push(Piece { text, depth });
                at = token.partner;
            }
        }
        pieces
    }
}

/// Whether a name ends before this token; what is said in a sentence does not.
fn is_name(tokens: &[Token], at: usize) -> bool {
    let before = at.checked_sub(1).map(|before| tokens[before].kind);
    before.is_some_and(|kind| kind != Kind::Space)
}

fn add(sums: &mut [(usize, usize)], whole: usize, elided: usize) {
    if let Some(sum) = sums.last_mut() {
        *sum = (sum.0 + whole, sum.1 + elided);
    }
}

/// Of what stands in brackets the last words only: `A<B>` for `a::A<b::B>`.
fn without_namespaces<'n>(tokens: &[Token<'n>]) -> Vec<Token<'n>> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut moved = vec![usize::MAX; tokens.len()];
    let (mut at, mut depth) = (0, 0usize);
    while let Some(token) = tokens.get(at) {
        match token.kind {
            Kind::Open(b'<' | b'(') => depth += 1,
            Kind::Close if matches!(token.text, ">" | ")") => depth = depth.saturating_sub(1),
            _ => {}
        }
        let next = |ahead: usize| tokens.get(at + ahead).map(|token| token.kind);
        let is_namespace = token.kind == Kind::Word && next(1) == Some(Kind::Path);
        if depth > 0 && is_namespace && next(2) == Some(Kind::Word) {
            at += 2;
            continue;
        }
        moved[at] = kept.len();
        kept.push(*token);
        at += 1;
    }
    for token in &mut kept {
        token.partner = moved.get(token.partner).copied().unwrap_or(usize::MAX);
    }
    kept
}

/// Drops from the path in front as much as is needed, but no more than leaves
/// this many names; a closure is none.
fn drop_front(pieces: &mut Vec<Piece>, columns: usize, names: usize) {
    let mut long = long_of(pieces);
    let paths = pieces.iter().enumerate();
    let paths = paths.filter(|(_, piece)| piece.depth == 0 && piece.text == "::");
    let mut ends: Vec<usize> = paths.map(|(at, _)| at + 1).collect();
    // Behind the last there may be no name.
    ends.retain(|&end| end < pieces.len());
    let is_closure = |&end: &usize| {
        let name = pieces.get(end).map_or("", |piece| piece.text);
        name.starts_with('{') || name == "operator()"
    };
    let closures = ends.iter().rev().take_while(|end| is_closure(end)).count();
    ends.truncate((ends.len() + 1).saturating_sub(names + closures));
    let mut start = 0;
    for end in ends {
        if long <= columns {
            break;
        }
        long -= long_of(&pieces[start..end]);
        start = end;
    }
    pieces.drain(..start);
}

/// The words of the path on the outer level.
pub(super) fn path<'n>(tokens: &[Token<'n>]) -> Vec<&'n str> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.kind {
            Kind::Word => words.push(token.text),
            Kind::Open(_) => at = token.partner,
            _ => {}
        }
        at += 1;
    }
    words
}

fn text(pieces: &[Piece]) -> String {
    pieces.iter().map(|piece| piece.text).collect()
}

fn long_of(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| width(piece.text)).sum()
}

/// Nothing but spaces.
pub(super) fn is_blank<'n>(mut texts: impl Iterator<Item = &'n str>) -> bool {
    texts.all(|text| text.trim().is_empty())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// A word that alone is too long.
pub(super) fn without_middle(text: &str, columns: usize) -> String {
    let long = width(text);
    if long <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let tail = kept / 2;
    let head = text.chars().take(kept - tail);
    let tail = text.chars().skip(long - tail);
    head.chain(ELLIPSIS.chars()).chain(tail).collect()
}
