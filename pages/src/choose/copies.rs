//! Files that are of the same process: one of them is to be read.

use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};

use crate::open::{Glance, Identity, Wholeness, each};

/// Of these files those that are to be read.
pub struct Once {
    /// One for each process, in the order of the files.
    pub chosen: Vec<PathBuf>,
    /// The others, each with the one that is read in its place.
    pub left_out: Vec<(PathBuf, PathBuf)>,
}

#[derive(PartialEq, Eq, Hash)]
enum Known {
    Process(Identity),
    /// What is no log, or does not say whose it is.
    File(PathBuf),
}

/// Of files of one process the one that has most of it; of equals the first.
pub fn each_process_once(paths: &[PathBuf]) -> Once {
    // To look at a packed one is to unpack it.
    if let [path] = paths {
        return Once {
            chosen: vec![path.clone()],
            left_out: Vec::new(),
        };
    }
    let looked = each(paths, |path| look(path)).into_iter().zip(paths);
    let looked = looked.map(|((known, wholeness), path)| (Some(known), wholeness, path));
    let (chosen, left_out) = most_of_each(looked);
    let left_out = left_out.into_iter();
    let left_out = left_out.map(|(path, place)| (path.clone(), chosen[place].clone()));
    Once {
        left_out: left_out.collect(),
        chosen: chosen.into_iter().cloned().collect(),
    }
}

/// Of things with the same key the one that has most; of equals the first. The others come
/// with the place of the one that is in theirs. What has no key is like no other.
pub fn most_of_each<K: Eq + Hash, W: PartialOrd, T>(
    things: impl IntoIterator<Item = (Option<K>, W, T)>,
) -> (Vec<T>, Vec<(T, usize)>) {
    let mut places: HashMap<K, usize> = HashMap::new();
    let mut chosen: Vec<(W, T)> = Vec::new();
    let mut others = Vec::new();
    for (key, much, thing) in things {
        let mut found = (much, thing);
        let next = chosen.len();
        let place = key.map_or(next, |key| *places.entry(key).or_insert(next));
        match chosen.get_mut(place) {
            None => chosen.push(found),
            Some(first) => {
                if found.0 > first.0 {
                    std::mem::swap(first, &mut found);
                }
                others.push((found.1, place));
            }
        }
    }
    (chosen.into_iter().map(|(_, thing)| thing).collect(), others)
}

/// Whose a file is, and how much of it; what is wrong with it is told by who reads it.
fn look(path: &Path) -> (Known, Option<Wholeness>) {
    let told = || -> anyhow::Result<_> {
        let glance = Glance::take(path)?;
        Ok((Identity::of(&glance.log()?), glance.wholeness()?))
    };
    match told() {
        Ok((Some(identity), wholeness)) => (Known::Process(identity), Some(wholeness)),
        _ => {
            let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            (Known::File(whole), None)
        }
    }
}
