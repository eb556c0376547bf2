//! Which of the calls that got no memory are told.
//!
//! A program may ask in a loop. Of calls of one function from one stack the
//! first is told, each that asks for more than any before, and else only the
//! 2nd, 4th, 8th and so on, each with how many it stands for. All are counted.

use memlog_format::api::Api;
use memlog_format::table::StackId;

/// How many loops a thread may be in at a time.
const SERIES: usize = 4;

/// Failures of a stream that may be many.
pub struct Failures {
    series: [Series; SERIES],
}

/// Failures of one function from one stack.
#[derive(Clone, Copy)]
struct Series {
    /// 0 for none: streams begin as zeros.
    api: u8,
    stack: u32,
    /// A stream goes from thread to thread, and with a fork to another process.
    tid: u32,
    largest: u64,
    calls: u64,
    untold: u64,
}

impl Failures {
    /// None so far.
    pub const fn new() -> Self {
        const NONE: Series = Series {
            api: 0,
            stack: 0,
            tid: 0,
            largest: 0,
            calls: 0,
            untold: 0,
        };
        Self {
            series: [NONE; SERIES],
        }
    }

    /// How many calls are to be told of now: nothing, if this one can wait.
    pub fn take(&mut self, tid: u32, (api, stack): (Api, StackId), size: u64) -> Option<u64> {
        let series = self.series.get_mut(stack.0 as usize % SERIES)?;
        if (series.api, series.stack, series.tid) != (api as u8, stack.0, tid) {
            *series = Series {
                api: api as u8,
                stack: stack.0,
                tid,
                largest: 0,
                calls: 0,
                untold: 0,
            };
        }
        series.calls += 1;
        series.untold += 1;
        let is_larger = size > series.largest;
        series.largest = series.largest.max(size);
        let is_told = is_larger || series.calls.is_power_of_two();
        is_told.then(|| core::mem::take(&mut series.untold))
    }
}

impl Default for Failures {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Failures;
    use memlog_format::api::Api;
    use memlog_format::table::StackId;

    /// However many they are, few are told, and those stand for nearly all.
    #[test]
    fn a_loop_is_told_in_few_records() {
        let mut failures = Failures::new();
        let (mut told, mut calls) = (0, 0);
        for call in 0..1_000_000u32 {
            let stack = StackId(8 + call % 2);
            if let Some(count) = failures.take(7, (Api::Malloc, stack), 100) {
                told += 1;
                calls += count;
            }
        }
        assert!(told <= 40, "{told}");
        assert!(calls >= 500_000, "{calls}");
    }

    #[test]
    fn the_largest_is_always_told() {
        let mut failures = Failures::new();
        let mut take = |size| failures.take(7, (Api::Malloc, StackId(9)), size);
        let told: Vec<_> = [7, 7, 7, 9, 8, 8, 10].map(&mut take).into();
        let some = Some;
        assert_eq!(told, [some(1), some(1), None, some(2), None, None, some(3)]);
        assert_eq!(failures.take(7, (Api::Calloc, StackId(9)), 1), Some(1));
        assert_eq!(failures.take(8, (Api::Calloc, StackId(9)), 1), Some(1));
    }
}
