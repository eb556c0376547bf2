//! Which arrows to turn so that no way leads back to where it began.
//!
//! ```text
//! turn the arrows that are said to lead back
//! for each vertex, those first that nobody calls:
//!     walk down from it along arrows, the heaviest first
//!     turn an arrow that leads to a vertex on the way to itself
//! ```
//!
//! Recursion so comes back up in the picture, to where it was first entered.
//! Where everything was said the walk finds nothing to turn; it is for graphs
//! of which less is known.

/// An arrow between two boxes of a part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Index in the graph's edges.
    pub edge: usize,
    pub from: usize,
    pub to: usize,
    pub weight: i64,
    /// Whether it is to lead up.
    pub leads_back: bool,
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
        let (upper, lower) = match call.leads_back {
            true => (call.to, call.from),
            false => (call.from, call.to),
        };
        leaving[upper].push(index);
        is_called[lower] = true;
    }
    for calls_of_one in &mut leaving {
        calls_of_one.sort_by_key(|&index| (-calls[index].weight, index));
    }
    let mut turned: Vec<bool> = calls.iter().map(|call| call.leads_back).collect();
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
            let to = match calls[index].leads_back {
                true => calls[index].from,
                false => calls[index].to,
            };
            match states[to] {
                State::New => {
                    states[to] = State::OnTheWay;
                    way.push((to, 0));
                }
                State::OnTheWay => turned[index] = !calls[index].leads_back,
                State::Done => {}
            }
        }
    }
    turned
}
