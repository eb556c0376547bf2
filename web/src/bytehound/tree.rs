//! `/tree` and `/allocation_ascii_tree`: stacks that are merged from the outermost frame in.

use std::collections::HashMap;
use std::hash::Hash;

use axum::extract::RawQuery;
use axum::http::HeaderMap;
use axum::response::Response;
use memlog_answers::{Sums, sums_of_stacks};
use memlog_pages::blocks::{Failure, FrameAt, Frames, Matter, Told};

use super::asked::Of;
use super::clock::Clock;
use super::frames::json;
use super::log::Log;
use super::table::{duration, size, table};
use super::{JSON, TEXT};
use crate::reply::{Refusal, text};

/// Frames that have their callers in common.
struct Tree<'f, K> {
    nodes: Vec<Node<'f>>,
    index: HashMap<(usize, K), usize>,
}

/// A frame, and all blocks that came by way of it.
struct Node<'f> {
    /// None of the root.
    frame: Option<FrameAt<'f>>,
    sums: Sums,
    children: Vec<usize>,
}

impl<'f, K: Hash + Eq> Tree<'f, K> {
    /// That of the chosen blocks. Frames of the same key are one below the same caller.
    fn of(
        told: &Told,
        frames: &'f Frames,
        key: impl Fn(&FrameAt<'f>) -> K,
    ) -> Result<Self, Failure> {
        let mut tree = Self {
            nodes: vec![Node {
                frame: None,
                sums: Sums::default(),
                children: Vec::new(),
            }],
            index: HashMap::new(),
        };
        let all = (0u32..).zip(sums_of_stacks(told.world, told.choice)?);
        for (stack, sums) in all.filter(|(_, sums)| sums.blocks > 0) {
            tree.add(frames.of(stack), sums, &key);
        }
        Ok(tree)
    }

    fn add(&mut self, stack: Vec<FrameAt<'f>>, sums: Sums, key: impl Fn(&FrameAt<'f>) -> K) {
        let mut node = 0;
        self.nodes[node].sums = self.nodes[node].sums.plus(sums);
        for frame in stack.into_iter().rev() {
            let next = self.nodes.len();
            let child = *self.index.entry((node, key(&frame))).or_insert(next);
            if child == next {
                self.nodes[node].children.push(child);
                self.nodes.push(Node {
                    frame: Some(frame),
                    sums: Sums::default(),
                    children: Vec::new(),
                });
            }
            node = child;
            self.nodes[node].sums = self.nodes[node].sums.plus(sums);
        }
    }

    /// Goes through it as it is told, without the stack: programs call as deep as they like.
    /// `enter` and `leave` hear each node with its place among its siblings, and their number.
    fn walk(
        &self,
        mut enter: impl FnMut(&Node<'f>, (usize, usize)),
        mut leave: impl FnMut(&Node<'f>, (usize, usize)),
    ) {
        let mut way = vec![(0, 0, (0, 1))];
        enter(&self.nodes[0], (0, 1));
        while let Some((node, done, place)) = way.last_mut() {
            let node = &self.nodes[*node];
            match node.children.get(*done) {
                Some(&child) => {
                    let place = (*done, node.children.len());
                    *done += 1;
                    enter(&self.nodes[child], place);
                    way.push((child, 0, place));
                }
                None => {
                    leave(node, *place);
                    way.pop();
                }
            }
        }
    }
}

/// Merged by address.
pub async fn tree(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let strips = asked.flag("strip_template_args")?;
    let made = log.told(Matter::Groups, asked.filter, move |told, desk| {
        let frames = desk.frames(memlog_answers::Of::Blocks)?;
        let tree = Tree::of(told, frames, |frame| frame.key)?;
        let (clock, world) = (Clock::of(told), told.world);
        let out = std::cell::RefCell::new(String::new());
        tree.walk(
            |node, _| {
                let second = |event| clock.unix_ns(clock.ns_of(world, event)) / 1_000_000_000;
                let mut own = serde_json::json!({
                    "size": node.sums.bytes,
                    "count": node.sums.blocks,
                    "first": (node.sums.blocks > 0).then(|| second(node.sums.born.0)),
                    "last": (node.sums.blocks > 0).then(|| second(node.sums.born.1)),
                });
                if let Some(frame) = &node.frame {
                    own["value"] = json(frame, strips);
                }
                let own = own.to_string();
                let mut out = out.borrow_mut();
                out.push_str(own.strip_suffix('}').unwrap_or(&own));
                out.push_str(",\"children\":[");
            },
            |_, (place, all)| {
                let end = if place + 1 < all { "]}," } else { "]}" };
                out.borrow_mut().push_str(end);
            },
        );
        Ok(out.into_inner())
    });
    Ok(text(&headers, JSON, made.await?))
}

/// What makes two frames the same line of the table.
#[derive(PartialEq, Eq, Hash)]
enum Place<'f> {
    Line(&'f str, u32),
    Function(&'f str),
    Address(u64),
}

impl<'f> Place<'f> {
    fn of(frame: &FrameAt<'f>) -> Self {
        let placed = frame.placed;
        match (&placed.file, placed.line, &placed.function) {
            (Some(file), Some(line), _) => Self::Line(file, line),
            (_, _, Some(function)) => Self::Function(function),
            _ => Self::Address(frame.address),
        }
    }
}

/// Merged by line, as a table with a tree in its last column.
pub async fn ascii(
    log: Log,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let asked = log.asked(query.as_deref(), Of::Blocks).await?;
    let made = log.told(Matter::Groups, asked.filter, |told, desk| {
        let frames = desk.frames(memlog_answers::Of::Blocks)?;
        let tree = Tree::of(told, frames, Place::of)?;
        let (clock, world) = (Clock::of(told), told.world);
        let rows = std::cell::RefCell::new(vec![
            ["SIZE", "COUNT", "FIRST", "LAST", "SOURCE"].map(str::to_owned),
        ]);
        // For each caller whether it has siblings below it.
        let lines = std::cell::RefCell::new(Vec::new());
        tree.walk(
            |node, (place, all)| {
                if node.sums.blocks == 0 {
                    return;
                }
                let mut lines = lines.borrow_mut();
                let seconds = |event| duration(clock.ns_of(world, event) / 1_000_000_000);
                let source = match &node.frame {
                    None => "▒".to_owned(),
                    Some(frame) => {
                        let before = lines.iter().skip(1);
                        let before = before.map(|goes_on| if *goes_on { '|' } else { ' ' });
                        let own = if place + 1 < all { '├' } else { '└' };
                        let before: String = before.chain([own]).collect();
                        format!("{before}{}", source_of(frame))
                    }
                };
                lines.push(place + 1 < all);
                rows.borrow_mut().push([
                    size(node.sums.bytes),
                    node.sums.blocks.to_string(),
                    seconds(node.sums.born.0),
                    seconds(node.sums.born.1),
                    source,
                ]);
            },
            |_, _| {
                lines.borrow_mut().pop();
            },
        );
        Ok(table(&rows.into_inner()))
    });
    Ok(text(&headers, TEXT, made.await?))
}

fn source_of(frame: &FrameAt) -> String {
    let placed = frame.placed;
    match (&placed.function, &placed.file, placed.line) {
        (Some(function), Some(file), Some(line)) => {
            let name = file.rsplit('/').next().unwrap_or(file);
            format!("{function} [{name}:{line}]")
        }
        (Some(function), ..) => function.clone(),
        _ => match frame.library {
            Some(library) => format!("{:016X} [{library}]", frame.address),
            None => format!("{:016X}", frame.address),
        },
    }
}
