//! Logs whose names are markup: they are text wherever they come.

use std::fs;

use crate::client::{Server, word};
use crate::log_of;
use crate::sites::Folder;

const NAME: &str = "<script>alert(1)</script>&'";

/// A function of that name, which allocates, and a thread of such a name.
const SOURCE: &str = r#"
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
void *kept[100];
__attribute__((noinline)) void hostile(void) __asm__("HOSTILE");
void hostile(void) { for (int i = 0; i < 100; i++) kept[i] = malloc(10000); }
static void *run(void *p) { prctl(PR_SET_NAME, "<b>'\"&\x01\xff"); hostile(); return p; }
int main(void) {
    pthread_t thread;
    hostile();
    pthread_create(&thread, 0, run, 0);
    pthread_join(thread, 0);
    return 0;
}
"#;

#[test]
fn names_are_text() {
    let folder = Folder::new("server-names-as-text");
    // The assembler takes any name in quotes.
    let source = folder.path("hostile.c");
    let escaped = format!(r#"\"{NAME}\""#);
    fs::write(&source, SOURCE.replace("HOSTILE", &escaped)).expect("a source");
    let log = log_of(&folder, &source, &[]);
    let server = Server::start(&folder, &[word(&log)]);
    let names = server.api("logs/1/flame")["names"].to_string();
    assert!(names.contains("alert(1)</script>&'"), "{names}");
    for path in [
        "table?by=thread",
        "threads",
        "flame",
        "function?name=.%2A",
        "table?list=1",
    ] {
        server.api(&format!("logs/1/{path}"));
    }
    let svg = server.get("/api/1/logs/1/graph.svg");
    let svg = String::from_utf8(svg.body).expect("text");
    assert!(
        svg.contains("&lt;/script") && !svg.contains("</script"),
        "{svg}"
    );
    // A question is told back as text, and never as a page.
    let reply = server.get("/api/1/logs/1/%3Cscript%3Ealert(1)%3C%2Fscript%3E");
    assert_eq!(reply.header("content-type"), Some("application/json"));
    assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
}
