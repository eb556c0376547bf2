//! Which arrows to turn so that no way leads back to where it began.
//!
//! ```text
//! for each vertex, those first that nobody calls:
//!     walk down from it along arrows, the heaviest first
//!     turn an arrow that leads to a vertex on the way to itself
//! ```
//!
//! Recursion so comes back up in the picture, to where it was first entered.

/// An arrow between two boxes of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Index in the graph's edges.
    pub edge: usize,
    pub from: usize,
    pub to: usize,
    pub weight: i64,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    New,
    OnTheWay,
    Done,
}

/// Of each call, whether it is to be turned.
pub(super) fn turned(count: usize, calls: &[Call]) -> Vec<bool> {
    let mut leaving = vec![Vec::new(); count];
    let mut is_called = vec![false; count];
    for (index, call) in calls.iter().enumerate() {
        leaving[call.from].push(index);
        is_called[call.to] = true;
    }
    for calls_of_one in &mut leaving {
        calls_of_one.sort_by_key(|&index| (-calls[index].weight, index));
    }
    let mut turned = vec![false; calls.len()];
    let mut states = vec![State::New; count];
    let mut starts: Vec<usize> = (0..count).collect();
    starts.sort_by_key(|&vertex| is_called[vertex]);
    for start in starts {
        let mut way = Vec::new();
        if states[start] == State::New {
            states[start] = State::OnTheWay;
            way.push((start, 0));
        }
        while let Some(&mut (vertex, ref mut next)) = way.last_mut() {
            let Some(&index) = leaving[vertex].get(*next) else {
                states[vertex] = State::Done;
                way.pop();
                continue;
            };
            *next += 1;
            let to = calls[index].to;
            match states[to] {
                State::New => {
                    states[to] = State::OnTheWay;
                    way.push((to, 0));
                }
                State::OnTheWay => turned[index] = true,
                State::Done => {}
            }
        }
    }
    turned
}
