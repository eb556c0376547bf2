//! What pages say of a log whose recording was off for a while, and at its end.

use super::sites::Folder;
use super::{told, with_header};

const CODE: &str = r#"
    #include "memlog.h"
    #include <signal.h>
    #include <stdlib.h>
    void *volatile kept[3];
    int main(void) {
        for (int i = 0; i < 3; i++) kept[i] = malloc(1000);
        memlog_mark("held");
        free(kept[0]);
        memlog_stop();
        memlog_start();
        kept[0] = malloc(500);
        free(kept[0]);
        memlog_mark("behind the pause");
        memlog_stop();
        raise(SIGKILL);
    }"#;

#[test]
fn blocks_of_before_a_pause_are_not_freed_and_the_end_is_not_a_death() {
    let folder = Folder::new("header-paused");
    let program = with_header(&folder, CODE, &[]);
    let log = folder.path("it.memlog");
    let mut command = folder.command(&program);
    command
        .env("LD_PRELOAD", folder.recorder().join("libmemlog.so"))
        .env("MEMLOG_OUTPUT", &log);
    command.status().expect("it runs");

    let snapshots = ["report", "--show-snapshots", "--where", "size = 1000"];
    for words in [&snapshots[..2], &snapshots] {
        let page = told(&folder, words, &log);
        let all = page["snapshots"].as_array().expect("snapshots");
        let sum = |key: &str| all.iter().filter_map(|one| one[key].as_u64()).sum::<u64>();
        let live = |mark: &str| {
            let at = all.iter().find(|one| one["mark"] == mark);
            at.and_then(|one| one["bytes"].as_u64())
        };
        assert_eq!(live("held"), Some(3000), "{page:#}");
        assert_eq!(live("behind the pause"), Some(0), "{page:#}");
        // The block of behind the pause is none of 1000.
        let behind = u64::from(words.len() == 2);
        assert_eq!(sum("releases"), 1 + behind, "{page:#}");
        assert_eq!(sum("freed_bytes"), 1000 + 500 * behind, "{page:#}");
        assert_eq!(sum("forgotten_blocks"), 2, "{page:#}");
        assert_eq!(sum("forgotten_bytes"), 2000, "{page:#}");
    }
    let path = log.as_os_str();
    let says = |words: &[&str]| {
        let words = words.iter().map(std::ffi::OsStr::new);
        folder.says(&words.chain([path]).collect::<Vec<_>>())
    };
    let page = says(&["report", "--show-snapshots"]);
    let sentence = "2 blocks (2.0 KiB) left the heap and were not freed";
    assert!(page.contains(sentence), "{page}");

    let page = told(&folder, &["timeline"], &log);
    let points = page["points"].as_array().expect("points");
    let releases = points.iter().filter_map(|point| point["releases"].as_u64());
    assert_eq!(releases.sum::<u64>(), 2, "{page:#}");

    let figures = folder.path("it.prom");
    let file = figures.to_str().expect("a name");
    says(&["follow", "--prometheus", file]);
    let figures = std::fs::read_to_string(&figures).expect("figures");
    let freed = figures
        .lines()
        .find(|line| line.starts_with("memlog_freed_bytes_total"));
    let freed = freed.and_then(|line| line.rsplit(' ').next());
    assert_eq!(freed, Some("1500"), "{figures}");

    let page = says(&["summary"]);
    assert!(page.contains("its end was not recorded"), "{page}");
    let page = says(&["info"]);
    assert!(page.contains("not known: recording was off then"), "{page}");
    let page = told(&folder, &["postmortem"], &log);
    assert_eq!(page["death"]["how"], "not-recorded", "{page:#}");
    says(&["report", "--at", "mark behind the pause"]);
}
