//! The processes that one call writes: those of a node share their files.

use std::collections::{BTreeMap, HashSet};

use super::tables::{self, Table};
use super::{File, NO_JOB, Process, escaped, ids, parquet, tables_of};

/// Processes, as tables that grow.
#[derive(Default)]
pub struct Batch {
    /// By the folders of a job and a host.
    nodes: BTreeMap<[String; 2], Node>,
    /// By the folder of a job.
    stacks: BTreeMap<String, Stacks>,
}

struct Node {
    /// Processes, sites, the timeline.
    tables: [Table; 3],
    /// What the files are called of each process alone.
    names: Vec<String>,
    ranks: Vec<Option<i64>>,
}

struct Stacks {
    table: Table,
    known: HashSet<i64>,
}

impl Batch {
    /// Adds a process.
    pub fn add(&mut self, process: &Process) {
        let (own, ends, ids) = tables_of(process);
        let (job, host) = (process.text("job"), process.text("host"));
        let job = format!("job={}", escaped(job.as_deref().unwrap_or(NO_JOB)));
        let host = format!("host={}", escaped(host.as_deref().unwrap_or("unknown")));
        self.add_stacks(&job, process, &ends, &ids);
        let rank = process.rank();
        let name = match rank {
            Some(rank) => rank.to_string(),
            None => "none".to_owned(),
        };
        let image = process.imported().unwrap_or_else(|| process.image());
        let name = format!("{name}.{image}");
        match self.nodes.get_mut(&[job.clone(), host.clone()]) {
            None => {
                let node = Node {
                    tables: own,
                    names: vec![name],
                    ranks: vec![rank],
                };
                self.nodes.insert([job, host], node);
            }
            Some(node) => {
                for (table, more) in node.tables.iter_mut().zip(own) {
                    table.append(more);
                }
                node.names.push(name);
                node.ranks.push(rank);
            }
        }
    }

    /// Those that no process before it had.
    fn add_stacks(&mut self, job: &str, process: &Process, ends: &[u32], ids: &[i64]) {
        let Some(stacks) = self.stacks.get_mut(job) else {
            let known = ends.iter().filter_map(|&end| ids.get(end as usize));
            let stacks = Stacks {
                table: tables::stacks(process.flame, ends, ids),
                known: known.copied().collect(),
            };
            self.stacks.insert(job.to_owned(), stacks);
            return;
        };
        let is_new = |end: &&u32| {
            let id = ids.get(**end as usize);
            id.is_some_and(|&id| stacks.known.insert(id))
        };
        let new: Vec<u32> = ends.iter().filter(is_new).copied().collect();
        stacks
            .table
            .append(tables::stacks(process.flame, &new, ids));
    }

    /// Rows of all its sites: what takes most memory.
    pub fn rows(&self) -> usize {
        self.nodes.values().map(|node| node.tables[1].rows()).sum()
    }

    /// Its files.
    pub fn files(&self) -> ::parquet::errors::Result<Vec<File>> {
        let mut files = Vec::new();
        for ([job, host], node) in &self.nodes {
            let name = node.name();
            for table in &node.tables {
                files.push(File {
                    path: format!("{}/{job}/{host}/{name}.parquet", table.name),
                    bytes: parquet::bytes(table)?,
                });
            }
        }
        for (job, stacks) in &self.stacks {
            let bytes = parquet::bytes(&stacks.table)?;
            let name = ids::name_of(&bytes);
            files.push(File {
                path: format!("{}/{job}/{name}.parquet", stacks.table.name),
                bytes,
            });
        }
        Ok(files)
    }
}

impl Node {
    /// Of several processes the first and the last rank, and which processes they are.
    fn name(&self) -> String {
        if let [name] = &self.names[..] {
            return name.clone();
        }
        let rank = |rank: Option<&i64>| rank.map_or("none".to_owned(), i64::to_string);
        let known = || self.ranks.iter().flatten();
        let (first, last) = (rank(known().min()), rank(known().max()));
        let mut names = self.names.clone();
        names.sort_unstable();
        let which = ids::name_of(names.join(" ").as_bytes());
        format!("{first}-{last}.{which}")
    }
}
