//! The tree of `memlog report --no-fold`, read back from its text:
//!
//! ```text
//! TITLE: 1,234B in 5 blocks
//! ->45.71% (564B, 2x): innermost [file:line]
//! | ->45.71% (564B, 2x): its caller [file:line]
//! ```

/// Bytes and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub bytes: u64,
    pub blocks: u64,
}

impl std::ops::AddAssign for Held {
    fn add_assign(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.blocks += other.blocks;
    }
}

/// A place in the tree.
#[derive(Debug)]
pub struct Node {
    pub held: Held,
    pub function: String,
    /// Without the folders: `file:line`, or the module.
    pub place: String,
    pub callers: Vec<Node>,
}

/// A whole tree with its title's figures.
#[derive(Debug)]
pub struct Tree {
    pub total: Held,
    pub roots: Vec<Node>,
}

impl Tree {
    /// The only tree of a report.
    #[track_caller]
    pub fn read(report: &str) -> Self {
        let lines = report.lines().skip_while(|line| !is_title(line));
        let mut lines = lines.take_while(|line| !line.is_empty());
        let title = lines
            .next()
            .unwrap_or_else(|| panic!("no tree in: {report}"));
        let (_, figures) = title.rsplit_once(": ").expect("a title");
        let figures = figures.trim_end_matches('s').strip_suffix(" block");
        let figures = figures.expect("blocks");
        let (bytes, blocks) = figures.split_once("B in ").expect("bytes and blocks");
        let nodes: Vec<_> = lines.map(node).collect();
        let mut nodes = nodes.into_iter().peekable();
        let tree = Self {
            total: Held {
                bytes: number(bytes),
                blocks: number(blocks),
            },
            roots: children(&mut nodes, 0),
        };
        let mut sum = Held::default();
        tree.roots.iter().for_each(|root| sum += root.held);
        assert_eq!(sum, tree.total, "the roots are all that is held: {report}");
        tree
    }

    /// The root that holds the most bytes.
    pub fn top(&self) -> Option<&Node> {
        self.roots.iter().max_by_key(|root| root.held.bytes)
    }

    /// What the roots of a function hold, whatever their lines.
    pub fn of(&self, function: &str) -> Held {
        let mut sum = Held::default();
        for root in self
            .roots
            .iter()
            .filter(|root| names(&root.function, function))
        {
            sum += root.held;
        }
        sum
    }
}

/// Whether a demangled name has this name in it as a whole word.
pub fn names(demangled: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    demangled.match_indices(name).any(|(at, _)| {
        let after = &demangled[at + name.len()..];
        !demangled[..at].ends_with(is_part) && !after.starts_with(is_part)
    })
}

fn is_title(line: &str) -> bool {
    (line.ends_with(" blocks") || line.ends_with(" block"))
        && line.contains("B in ")
        && !line.starts_with("heap peak")
}

fn number(text: &str) -> u64 {
    let digits: String = text.chars().filter(|c| *c != ',').collect();
    digits
        .parse()
        .unwrap_or_else(|_| panic!("no number: {text}"))
}

/// A line as its depth and a node without callers.
#[track_caller]
fn node(line: &str) -> (usize, Node) {
    let at = line
        .find("->")
        .unwrap_or_else(|| panic!("no branch: {line}"));
    let (_, rest) = line.split_once(" (").expect("a cost");
    let (cost, label) = rest.split_once("x): ").expect("a label");
    let (bytes, blocks) = cost.split_once("B, ").expect("bytes and blocks");
    let (function, place) = match label
        .strip_suffix(']')
        .and_then(|label| label.rsplit_once(" ["))
    {
        Some((function, place)) => (function, place.rsplit('/').next().unwrap_or(place)),
        None => (label, ""),
    };
    let node = Node {
        held: Held {
            bytes: number(bytes),
            blocks: number(blocks),
        },
        function: function.to_owned(),
        place: place.to_owned(),
        callers: Vec::new(),
    };
    (at / 2, node)
}

type Lines = std::iter::Peekable<std::vec::IntoIter<(usize, Node)>>;

fn children(lines: &mut Lines, depth: usize) -> Vec<Node> {
    let mut nodes = Vec::new();
    while let Some((_, mut node)) = lines.next_if(|(at, _)| *at == depth) {
        node.callers = children(lines, depth + 1);
        nodes.push(node);
    }
    nodes
}
