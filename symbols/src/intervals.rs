//! A sorted table of address ranges that may overlap and nest.

/// Ranges sorted once; a question is a binary search and a short walk back.
pub(crate) struct Intervals<T> {
    items: Vec<Interval<T>>,
}

pub(crate) struct Interval<T> {
    pub begin: u64,
    /// Exclusive.
    pub end: u64,
    /// The largest `end` of this and all earlier items: where a walk back may stop.
    reach: u64,
    pub value: T,
}

impl<T: Ord> Intervals<T> {
    /// Sorts by begin; equal begins by value, so that the order never depends on the file's.
    pub(crate) fn new(ranges: impl IntoIterator<Item = (u64, u64, T)>) -> Self {
        let mut items: Vec<_> = ranges
            .into_iter()
            .filter(|(begin, end, _)| begin < end)
            .map(|(begin, end, value)| Interval {
                begin,
                end,
                reach: 0,
                value,
            })
            .collect();
        items.sort_unstable_by(|a, b| (a.begin, &a.value, a.end).cmp(&(b.begin, &b.value, b.end)));
        let mut reach = 0;
        for item in &mut items {
            reach = reach.max(item.end);
            item.reach = reach;
        }
        Self { items }
    }

    /// The ranges that hold `address`: the largest begin first, equal begins in reverse order
    /// of value.
    pub(crate) fn holding(&self, address: u64) -> impl Iterator<Item = &Interval<T>> {
        let after = self.items.partition_point(|item| item.begin <= address);
        self.items[..after]
            .iter()
            .rev()
            .take_while(move |item| item.reach > address)
            .filter(move |item| item.end > address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_as_a_linear_search() {
        let mut seed = 7_u64;
        let mut next = |n: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % n
        };
        let ranges: Vec<_> = (0..300)
            .map(|i| {
                let begin = next(1000);
                (begin, begin + next(40), i)
            })
            .collect();
        let table = Intervals::new(ranges.clone());
        for address in 0..1100 {
            let mut expected: Vec<_> = ranges
                .iter()
                .filter(|(b, e, _)| *b <= address && address < *e)
                .map(|(b, _, v)| (*b, *v))
                .collect();
            expected.sort_unstable();
            expected.reverse();
            let found: Vec<_> = table.holding(address).map(|i| (i.begin, i.value)).collect();
            assert_eq!(found, expected);
        }
    }
}
