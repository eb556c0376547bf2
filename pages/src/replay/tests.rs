use super::*;

fn row(name: &str, figures: &[(&str, u64)]) -> Row {
    let figures = figures
        .iter()
        .map(|(name, value)| ((*name).to_owned(), *value));
    Row {
        name: name.to_owned(),
        library: String::new(),
        settings: Vec::new(),
        own: Run::default(),
        runs: vec![Run(figures.collect())],
        failed: None,
    }
}

fn replayed(rows: Vec<Row>, has_own: bool) -> Replayed {
    Replayed {
        recorded: Recorded::default(),
        rows,
        has_own,
        limit_bytes: 64 << 20,
        absent: Vec::new(),
    }
}

fn said(replayed: &Replayed) -> String {
    sentences(replayed, Sizes::Exact).join("\n")
}

/// However much the program had: the limit has other reasons, too.
#[test]
fn what_is_not_touched_is_told_with_the_limit_alone() {
    let one = replayed(vec![row("glibc", &[("untouched_bytes", 5)])], true);
    let told = said(&one);
    let wanted = "5B were not touched: no more than 67,108,864B is at a time.";
    assert!(told.contains(wanted), "{told}");
}

#[test]
fn threads_that_share_a_place_are_told() {
    let mut one = replayed(vec![row("glibc", &[])], true);
    one.recorded.head.program_threads = 600;
    for (places, shares) in [(4, false), (MAX_THREADS, true)] {
        one.recorded.head.threads = places;
        let told = said(&one);
        assert!(
            told.contains(&format!("600 threads are replayed by {places}")),
            "{told}"
        );
        let wanted = "of more than 256 at a time several share one";
        assert_eq!(told.contains(wanted), shares, "{told}");
    }
}

#[test]
fn an_allocator_that_was_not_replayed_has_its_name() {
    let mut one = replayed(vec![row("musl", &[])], false);
    for (allocator, wanted) in [
        (None, "The program had glibc, which was not replayed"),
        (
            Some("/a/libx.so"),
            "The program had /a/libx.so, which was not replayed",
        ),
        (
            Some("(unknown)"),
            "Which allocator the program had is not known",
        ),
    ] {
        one.recorded.allocator = allocator.map(str::to_owned);
        let told = said(&one);
        assert!(told.contains(wanted), "{told}");
    }
}
