//! Assembles the exported doors into this crate's archive; `link` makes the
//! shared object of it.

#[path = "../wrap/build/doors.rs"]
mod doors;
#[path = "../wrap/build/table.rs"]
mod table;

fn main() {
    let table = doors::doors();
    let all: Vec<_> = table.iter().collect();
    doors::archive("memlog_doors", &all, false);
}
