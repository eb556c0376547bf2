//! What the kernel keeps on the stack of the frame that a signal interrupted.

use super::full::Registers;
use super::rule::Rule;
use crate::platform::arch::{self, REGISTERS};
use crate::platform::bounds::Bounds;

/// Where the interrupted pc, sp and fp stand, for the sp of a return trampoline
/// and its rule.
#[inline]
pub fn places(sp: u64, rule: Rule) -> [u64; 3] {
    let base = sp.wrapping_sub(rule.lower());
    arch::INTERRUPTED_AT.map(|above| base.wrapping_add(above))
}

/// Reads them.
pub fn interrupted(sp: u64, rule: Rule, bounds: &Bounds) -> Option<[u64; 3]> {
    let [pc, at_sp, fp] = places(sp, rule);
    Some([bounds.read(pc)?, bounds.read(at_sp)?, bounds.read(fp)?])
}

/// All that unwinding follows, by DWARF number, and the pc.
pub fn registers(sp: u64, rule: Rule, bounds: &Bounds) -> Option<Registers> {
    let base = sp.wrapping_sub(rule.lower());
    let mut all = [0; REGISTERS];
    for &(number, above) in arch::INTERRUPTED {
        *all.get_mut(number)? = bounds.read(base.wrapping_add(above))?;
    }
    Some(all)
}
