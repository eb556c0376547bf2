//! The case study of bytehound's book: its steps, in its words, on a program that leaks
//! alike. What its two helpers ask is asked of each group.

use std::fs;

use crate::Leaky;

/// Of each group of what was never freed: all of its blocks, and those that leaked.
const OBVIOUS: &str = r#"
graph()
    .add(allocations())
    .save();

graph()
    .add("Leaked", allocations().only_leaked())
    .add("Temporary", allocations())
    .save();

let groups = allocations()
    .only_leaked()
    .group_by_backtrace()
        .sort_by_size();

graph().add(groups).save();

fn analyze_group(list) {
    let list_all = allocations().only_matching_backtraces(list);

    graph()
        .add("Leaked", list_all.only_leaked())
        .add("Temporary", list_all)
        .save();

    println("Total: {}", list_all.len());
    println("Leaked: {}", list_all.only_leaked().len());
    println();
    println("Backtrace:");
    println(list_all[0].backtrace().strip());
}

analyze_group(groups[0]);
analyze_group(groups[1]);
analyze_group(groups[2]);
"#;

/// What was freed, but at the end only.
const HIDDEN: &str = r#"
let groups = allocations().only_leaked().group_by_backtrace().sort_by_size();

graph()
    .add(allocations().only_temporary())
    .save();

let remaining = allocations().only_not_matching_backtraces(groups);

let leaked_until_end = remaining
    .only_leaked_or_deallocated_after(data().runtime() * 0.98)
    .only_alive_for_at_least(data().runtime() * 0.02);

graph().add(leaked_until_end).save();

let groups = leaked_until_end.group_by_backtrace().sort_by_size();
graph().add(groups).save();

fn analyze_group(list) {
    let list_all = allocations().only_matching_backtraces(list);
    let list_selected = list_all
        .only_deallocated_after_at_least(data().runtime() * 0.98);

    graph()
        .add("Deallocated after 98%", list_selected)
        .add("Deallocated before 98%", list_all)
        .save();

    println("Total: {}", list_all.len());
    println("Deallocated after 98%: {}", list_selected.len());
    println();
    println("Backtrace:");
    println(list_all[0].backtrace().strip());
}

analyze_group(groups.ungroup().only_smaller(100).group_by_backtrace()[0]);

let group = groups
    .ungroup()
    .only_not_matching_backtraces(allocations().only_passing_through_function("^until_the_end$"))
    .group_by_backtrace();

graph().add(group).save();

graph()
    .add("Vecs", group.ungroup().only_passing_through_function("^grow$"))
    .add("Remaining", group.ungroup())
    .save();

println("Others: {}", group.ungroup().only_passing_through_function("^grow$").len() > 0);
"#;

#[test]
fn obvious_leaks_are_found() {
    let leaky = Leaky::get();
    let pictures = leaky.folder.folder("study");
    let output = leaky.runs(OBVIOUS, &pictures, &["-q"]);
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    let mut parts = said.split("Total: ").skip(1);
    for (function, allocated) in [
        ("linear_leak", 1500),
        ("bounded_leak", 1500),
        ("both", 1500),
    ] {
        let part = parts.next().expect("a group");
        let lines: Vec<&str> = part.lines().collect();
        let (leaked, _) = leaky.leaked(function);
        assert_eq!(lines[0], allocated.to_string(), "{function}");
        assert_eq!(lines[1], format!("Leaked: {leaked}"), "{function}");
        let last = lines.last().expect("a stack");
        assert!(
            last.contains(&format!("[leaky] {function} [leaky.c:")),
            "{last}"
        );
        // What only runs the program is left out.
        assert!(lines[4].contains(" main "), "{part}");
    }
    let pictures = fs::read_dir(&pictures).expect("a folder").count();
    assert_eq!(pictures, 6);
}

#[test]
fn what_is_freed_at_the_end_is_found() {
    let leaky = Leaky::get();
    let said = leaky.says(HIDDEN);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "Total: 1500");
    assert_eq!(lines[1], "Deallocated after 98%: 1500");
    assert!(said.contains("[leaky] until_the_end [leaky.c:"), "{said}");
    assert_eq!(lines.last(), Some(&"Others: true"));
}
