//! Files that are of the same process: one of them is to be read.

use std::collections::HashMap;
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
    let looked = each(paths, |path| look(path));
    let mut places: HashMap<Known, usize> = HashMap::new();
    let mut chosen: Vec<(&PathBuf, Option<Wholeness>)> = Vec::new();
    let mut others: Vec<(&PathBuf, usize)> = Vec::new();
    for ((known, mut wholeness), mut path) in looked.into_iter().zip(paths) {
        let place = *places.entry(known).or_insert(chosen.len());
        match chosen.get_mut(place) {
            None => chosen.push((path, wholeness)),
            Some((first, of_first)) => {
                if wholeness > *of_first {
                    std::mem::swap(first, &mut path);
                    std::mem::swap(of_first, &mut wholeness);
                }
                others.push((path, place));
            }
        }
    }
    let left_out = others.into_iter();
    let left_out = left_out.map(|(path, place)| (path.clone(), chosen[place].0.clone()));
    Once {
        left_out: left_out.collect(),
        chosen: chosen.into_iter().map(|(path, _)| path.clone()).collect(),
    }
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
