//! Places without names that lie in the midst of an allocator: near to a place
//! of it, and called from far away.
//!
//! Of a stripped program each call is a place of its own, so that xmalloc's
//! callers are told from xrealloc's, and an allocator of several functions is
//! never one place through which nearly all goes. What lies near in a file was
//! near in its source, as a rule.

use std::collections::{BTreeSet, HashMap};

use super::super::askers::Function;
use super::{Asking, NEARLY_ALL, Passed};

/// Bytes of code that an allocator's functions lie apart.
const NEAR: u64 = 0x400;
/// Bytes from where on a caller is of another part of the program.
const FAR: u64 = 0x1000;

/// Places of allocators, by file.
pub struct Allocators<'f>(HashMap<&'f str, BTreeSet<u64>>);

impl<'f> Allocators<'f> {
    /// All without a name that are passed over.
    pub fn of(passed: &Passed, functions: &'f [Function]) -> Self {
        let mut places: HashMap<&str, BTreeSet<u64>> = HashMap::new();
        for (function, _) in functions
            .iter()
            .zip(&passed.0)
            .filter(|(_, passed)| **passed)
        {
            if let Some((file, offset)) = place(function) {
                places.entry(file).or_default().insert(offset);
            }
        }
        Self(places)
    }

    /// Who of those that ask is of them.
    pub fn beside(&self, list: &Asking, passed: &Passed, functions: &[Function]) -> Vec<u32> {
        let is_one = |&function: &u32| {
            let asked = &list.by_function[&function];
            let place = place(&functions[function as usize]);
            let Some((file, offset)) = place.filter(|&(file, offset)| self.has_near(file, offset))
            else {
                return false;
            };
            let callers = asked.callers.iter().filter(|(caller, _)| {
                let known = &functions[**caller as usize];
                let is_far = match (&known.file, known.offset) {
                    (Some(other), Some(caller)) if other == file => caller.abs_diff(offset) >= FAR,
                    _ => true,
                };
                is_far || passed.0[**caller as usize]
            });
            let far = callers.fold(0u64, |sum, (_, part)| sum.saturating_add(*part));
            asked.weight > 0 && far as f64 >= NEARLY_ALL * asked.weight as f64
        };
        list.by_function.keys().copied().filter(is_one).collect()
    }

    fn has_near(&self, file: &str, offset: u64) -> bool {
        let near = offset.saturating_sub(NEAR)..=offset.saturating_add(NEAR);
        let places = self.0.get(file);
        places.is_some_and(|places| places.range(near).next().is_some())
    }
}

fn place(function: &Function) -> Option<(&str, u64)> {
    function.file.as_deref().zip(function.offset)
}
