//! The resident stretches of a mapping.

use memlog_format::resident::Mapped;

/// Stretches of addresses, and how much of them is resident.
pub struct Stretches {
    /// From the first byte to behind the last.
    pub list: Vec<(u64, u64)>,
    /// So many bytes of them are resident ...
    pub resident: u64,
    /// ... of so many.
    pub bytes: u64,
}

impl Stretches {
    /// Those of a mapping. Without runs it is one, everywhere alike; with them it may
    /// still have pages that the kernel does not count, such as pages of zeros.
    pub fn of(mapped: &Mapped, page_bytes: u64) -> Self {
        let low = mapped.low_kb.saturating_mul(1024);
        let high = low.saturating_add(mapped.length_kb.saturating_mul(1024));
        let mut list = Vec::new();
        let (mut at, mut is_there) = (low, false);
        for pages in mapped.runs() {
            let end = at
                .saturating_add(pages.saturating_mul(page_bytes))
                .min(high);
            if is_there && end > at {
                list.push((at, end));
            }
            (at, is_there) = (end, !is_there);
        }
        if list.is_empty() && high > low {
            list.push((low, high));
        }
        let bytes = list.iter().map(|(from, to)| to - from).sum();
        Self {
            list,
            resident: mapped.resident_kb.saturating_mul(1024).min(bytes),
            bytes,
        }
    }

    /// Bytes of them between two addresses.
    pub fn within(&self, from: u64, to: u64) -> u64 {
        let parts = self.list.iter();
        let parts = parts.map(|(low, high)| (*high).min(to).saturating_sub((*low).max(from)));
        parts.sum()
    }

    /// The resident part of so many bytes in them.
    pub fn part(&self, bytes: u64) -> u64 {
        match self.bytes {
            0 => 0,
            all => (u128::from(bytes) * u128::from(self.resident) / u128::from(all)) as u64,
        }
    }
}
