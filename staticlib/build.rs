//! Assembles the five doors of the core; `prelink` makes the rest.

#[path = "../wrap/build/doors.rs"]
mod doors;
#[path = "../wrap/build/table.rs"]
mod table;

fn main() {
    let table = doors::doors();
    let core: Vec<_> = table.iter().filter(|door| door.core).collect();
    doors::archive("memlog_doors", &core, true);
}
