//! The regions found last that hold code of no module. A compiler at run time
//! spreads its code over several, and one stack crosses many of them.

use crate::platform::bounds::Bounds;

/// As many are kept; the oldest makes room.
const KEPT: usize = 32;

/// Zeros are a valid beginning: no region.
#[derive(Default)]
pub struct Regions {
    kept: [Bounds; KEPT],
    next: usize,
}

impl Regions {
    /// Whether an address lies in one of them.
    pub fn contain(&self, address: u64) -> bool {
        let mut kept = self.kept.iter();
        kept.any(|region| (region.low..region.high).contains(&address))
    }

    /// Takes one in.
    pub fn add(&mut self, region: Bounds) {
        if let Some(place) = self.kept.get_mut(self.next) {
            *place = region;
        }
        self.next = (self.next + 1) % KEPT;
    }

    /// They may be wrong now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(number: u64) -> Bounds {
        Bounds {
            low: number * 0x1000,
            high: number * 0x1000 + 0x800,
        }
    }

    #[test]
    fn the_last_ones_are_kept() {
        let mut regions = Regions::default();
        assert!(!regions.contain(0));
        let all = 1..=KEPT as u64 + 1;
        all.clone().for_each(|number| regions.add(region(number)));
        assert!(!regions.contain(region(1).low));
        for number in all.skip(1) {
            let region = region(number);
            assert!(regions.contain(region.low) && regions.contain(region.high - 1));
            assert!(!regions.contain(region.high));
        }
        regions.clear();
        assert!(!regions.contain(region(2).low));
    }
}
