//! Why the log could not grow, as [`Counter::LogRefused`](crate::counter::Counter)
//! holds it: the kernel's number of the error in the lower 32 bits, above them
//! what the recorder was about to do.

/// What could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To open the log's file again.
    Open,
    /// To make the file longer.
    Lengthen,
    /// To take room in the file: it is full, or memory is.
    Map,
    /// To write to the file.
    Write,
    /// Nothing was tried: the log had reached MEMLOG_MAX_LOG.
    MaxLog,
    /// Nothing was tried: it had reached RLIMIT_FSIZE.
    FileLimit,
    /// Nothing was tried: a seccomp filter may kill for it.
    Filter,
    /// To make a log at all.
    Create,
    /// Nothing was tried: all logs together had reached MEMLOG_MAX_LOGS_TOTAL.
    LogsTotal,
}

/// Each step with its number, which is for ever.
const STEPS: [(u32, Step); 9] = [
    (1, Step::Open),
    (2, Step::Lengthen),
    (3, Step::Map),
    (4, Step::Write),
    (5, Step::MaxLog),
    (6, Step::FileLimit),
    (7, Step::Filter),
    (8, Step::Create),
    (9, Step::LogsTotal),
];

/// Why the log could not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What could not be done.
    pub step: Step,
    /// The kernel's reason, as the machine that wrote the log numbers it.
    pub errno: u32,
}

impl Refusal {
    /// As the counter holds it.
    pub fn encode(self) -> u64 {
        let mut steps = STEPS.iter();
        let number = steps.find(|(_, step)| *step == self.step);
        let number = number.map_or(0, |&(number, _)| number);
        u64::from(number) << 32 | u64::from(self.errno)
    }

    /// Of a counter: nothing if there was none, or one that is not known yet.
    pub fn decode(counter: u64) -> Option<Self> {
        let number = (counter >> 32) as u32;
        let &(_, step) = STEPS.iter().find(|(known, _)| *known == number)?;
        let errno = counter as u32;
        Some(Self { step, errno })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        for (number, step) in STEPS {
            let refusal = Refusal { step, errno: 13 };
            assert_eq!(refusal.encode(), u64::from(number) << 32 | 13);
            assert_eq!(Refusal::decode(refusal.encode()), Some(refusal));
        }
        assert_eq!(Refusal::decode(0), None);
        assert_eq!(Refusal::decode(99 << 32 | 13), None);
    }
}
