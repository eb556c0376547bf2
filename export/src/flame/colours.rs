//! Colours of modules: light, so that black text is read on all of them, and
//! each lighter or darker than the one before it, for who sees them in grey.

use std::collections::BTreeMap;

use super::{Flame, Label, module_of};
use crate::draw::Colour;

/// Of the modules that fill most of the picture, the most first.
pub(super) const MODULES: [Colour; 7] = [
    Colour([0xF6, 0xBD, 0x74]),
    Colour([0xC3, 0xE4, 0xF6]),
    Colour([0x9A, 0xCD, 0xAE]),
    Colour([0xF7, 0xEA, 0xA0]),
    Colour([0xCB, 0xAE, 0xDB]),
    Colour([0xF6, 0xD2, 0xC8]),
    Colour([0xA3, 0xB8, 0xE6]),
];
/// Of all other modules together.
pub(super) const OTHERS: Colour = Colour([0xD8, 0xD8, 0xD2]);
/// Of what is in no file: everything, what was summed up, where a stack was cut.
pub(super) const NONE: Colour = Colour([0xEC, 0xEC, 0xE8]);

/// Equal neighbours are told apart by so many shades, each so much lighter.
pub(super) const SHADES: u32 = 3;
const LIGHTER: u32 = 14;

/// The modules of a tree.
pub(super) struct Modules {
    /// Those that fill most first.
    pub names: Vec<String>,
    /// So many are on the picture.
    pub seen: usize,
    /// Of each function which of them it is in.
    pub of_name: Vec<Option<u32>>,
}

impl Modules {
    /// By how much of the picture they fill, of equals by name.
    pub(super) fn of(flame: &Flame) -> Self {
        let modules = flame.names.iter().map(module_of);
        let modules: Vec<Option<&str>> = modules.collect();
        let mut filled: BTreeMap<&str, u128> = BTreeMap::new();
        for module in modules.iter().flatten() {
            filled.entry(module).or_default();
        }
        if let Some((metric, series)) = flame.first() {
            for (node, held) in flame.nodes.iter().zip(series.totals(&flame.nodes)) {
                let name = match node.label {
                    Label::Named(name) => modules.get(name as usize).copied().flatten(),
                    Label::Lesser(_) => None,
                };
                if let Some(sum) = name.and_then(|name| filled.get_mut(name)) {
                    *sum += u128::from(held.by(metric.measure));
                }
            }
        }
        let mut order: Vec<(&str, u128)> = filled.into_iter().collect();
        order.sort_by_key(|&(_, filled)| std::cmp::Reverse(filled));
        let numbers: BTreeMap<&str, u32> = order.iter().map(|&(name, _)| name).zip(0..).collect();
        let of_name = modules.iter().map(|name| numbers.get((*name)?).copied());
        Self {
            seen: order.iter().filter(|(_, filled)| *filled > 0).count(),
            of_name: of_name.collect(),
            names: order.iter().map(|&(name, _)| name.to_owned()).collect(),
        }
    }

    /// Of a function by its index in the names.
    pub(super) fn colour(&self, name: u32) -> Colour {
        let module = self.of_name.get(name as usize).copied().flatten();
        let Some(module) = module else {
            return NONE;
        };
        let colour = MODULES.get(module as usize).copied().unwrap_or(OTHERS);
        let lighter = LIGHTER * (name % SHADES);
        Colour(colour.0.map(|part| {
            let room = 255 - u32::from(part);
            (u32::from(part) + room * lighter / 100) as u8
        }))
    }
}
