//! Which arrows lead back up: recursion, and functions that many go through.
//! Whoever stands farther out in the stacks is to be drawn farther up, so that
//! a picture begins with what the program began with.

/// Of each arrow whether it leads back. The boxes are told by how far in they
/// stand; an arrow that is on no circle never leads back.
pub(super) fn leads_back(depths: &[usize], arrows: &[(usize, usize)]) -> Vec<bool> {
    let mut leaving = vec![Vec::new(); depths.len()];
    for &(from, to) in arrows {
        leaving[from].push(to);
    }
    let is_before = |one: usize, other: usize| (depths[one], one) < (depths[other], other);
    let is_back = |&(from, to): &(usize, usize)| is_before(to, from) && reaches(&leaving, to, from);
    arrows.iter().map(is_back).collect()
}

fn reaches(leaving: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut is_seen = vec![false; leaving.len()];
    let mut waiting = vec![from];
    while let Some(at) = waiting.pop() {
        if at == to {
            return true;
        }
        if !std::mem::replace(&mut is_seen[at], true) {
            waiting.extend(&leaving[at]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::leads_back;

    #[test]
    fn of_a_circle_what_leads_to_the_outermost() {
        // main calls eval, eval call, and that eval; eval calls itself.
        let arrows = [(0, 1), (1, 2), (2, 1), (1, 1)];
        let back = leads_back(&[0, 1, 2], &arrows);
        assert_eq!(back, [false, false, true, false]);
        // The same in another order of the boxes.
        let back = leads_back(&[2, 1, 0], &[(2, 1), (1, 0), (0, 1)]);
        assert_eq!(back, [false, false, true]);
        // Farther out, but on no circle.
        assert_eq!(leads_back(&[1, 0], &[(0, 1)]), [false]);
    }
}
