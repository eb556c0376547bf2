//! Time that a test counts on a machine which others keep busy.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::time::{Duration, Instant};

/// How often the load is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Time as it were on an idle machine: of each moment counts the part that the
/// load leaves, as in `ci/limited`. Whoever is ended by it hangs, or is slow.
pub struct OwnTime {
    spent: Duration,
    counted: Instant,
    looked: Instant,
    crowd: f64,
}

impl OwnTime {
    pub fn start() -> Self {
        let now = Instant::now();
        Self {
            spent: Duration::ZERO,
            counted: now,
            looked: now,
            crowd: crowd(),
        }
    }

    /// What has passed. Asked seldom, it knows little of the load in between.
    pub fn spent(&mut self) -> Duration {
        let now = Instant::now();
        if now - self.looked >= LOOK {
            self.crowd = crowd();
            self.looked = now;
        }
        self.spent += (now - self.counted).div_f64(self.crowd);
        self.counted = now;
        self.spent
    }
}

/// How many want each processor. The mean of a minute knows of a load that has
/// just come too late, and those of this moment are few by chance.
fn crowd() -> f64 {
    let said = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let mut words = said.split([' ', '/']);
    let mut number = |at| words.nth(at).and_then(|word| word.parse().ok());
    let (mean, now): (f64, f64) = (number(0).unwrap_or(0.0), number(2).unwrap_or(0.0));
    let cpus = std::thread::available_parallelism().map_or(1, |count| count.get());
    (mean.max(now) / cpus as f64).max(1.0)
}

/// How long a child has computed, also one that has ended and was not waited
/// for: how far it has come, whoever else runs.
pub fn cpu_time(child: u32) -> Duration {
    let (mut clock, mut now) = (
        0,
        libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        },
    );
    // SAFETY: both answers are written to places of this function's own.
    let found = unsafe { libc::clock_getcpuclockid(child as i32, &mut clock) };
    assert_eq!(found, 0, "a child's clock");
    // SAFETY: as above.
    let read = unsafe { libc::clock_gettime(clock, &mut now) };
    assert_eq!(read, 0, "a child's time");
    Duration::new(now.tv_sec as u64, now.tv_nsec as u32)
}
