//! Scripts that are sent to the server: what they say is what other answers say, and they
//! get no farther than their log.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::client::{Reply, Server, encoded, word};
use crate::recorded;
use crate::sites::Folder;

fn post(server: &Server, path: &str, code: &str) -> Reply {
    let headers = format!(
        "Content-Type: text/plain\r\nContent-Length: {}\r\n",
        code.len()
    );
    server.request_with("POST", path, &headers, code)
}

fn run(server: &Server, code: &str) -> Value {
    let reply = post(server, "/api/1/logs/1/script", code);
    assert_eq!(reply.status, 200, "{code}: {}", reply.text());
    reply.json()
}

#[test]
fn scripts_say_what_answers_say() {
    let folder = Folder::new("server-scripts");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let told = run(
        &server,
        "println(allocations().only_leaked().len());\n\
         graph().add(allocations()).save(\"all.svg\");",
    );
    assert_eq!(told["status"], "ok", "{told}");
    let leaks = server.api("logs/1/leaks?top=1");
    assert_eq!(told["output"][0]["text"], leaks["blocks"].to_string());
    let image = &told["output"][1];
    assert_eq!(
        (&image["kind"], &image["name"]),
        (&"image".into(), &"all.svg".into())
    );
    let url = image["url"].as_str().expect("an address");
    let picture = server.get(&format!("/{url}"));
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    let policy = picture.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("sandbox;") && picture.body_text().contains("<svg"));
    // A filter comes back as what chooses the same.
    let filter = encoded("size >= 100 and leaked");
    let code = server.api(&format!("logs/1/filter-as-script?where={filter}"));
    let code = code["code"].as_str().expect("a script");
    let told = run(&server, &format!("println(({code}).len());"));
    let chosen = server.api(&format!("logs/1/table?top=1&where={filter}"));
    assert_eq!(told["output"][0]["text"], chosen["blocks"].to_string());
}

#[test]
fn by_the_names_of_bytehound_too() {
    let folder = Folder::new("server-scripts-bytehound");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let code = "println(\"{}\", allocations().len());\nallocations().save_as_flamegraph();";
    let reply = post(&server, "/data/last/execute_script", code);
    let told = reply.json();
    let table = server.api("logs/1/table?top=1");
    assert_eq!(told["status"], "ok", "{told}");
    assert_eq!(told["output"][0]["value"], table["blocks"].to_string());
    let url = told["output"][1]["url"].as_str().expect("an address");
    assert!(server.text(url).contains("<svg"));
    let code = server.json("/data/1/allocation_filter_to_script?lifetime=only_leaked&size_min=20");
    let code = code["code"].as_str().expect("a script");
    assert!(code.starts_with("allocations()"), "{code}");
    let asked = |query: &str| server.json(&format!("/data/1/allocations?count=1&{query}"));
    let custom = asked(&format!("custom_filter={}", encoded(code)));
    assert_eq!(
        custom["total_count"],
        asked("lifetime=only_leaked&size_min=20")["total_count"]
    );
    for wrong in ["1 +", "42", "maps()", "let x = 1;"] {
        let path = format!("/data/1/allocations?custom_filter={}", encoded(wrong));
        let (status, why) = server.refuses(&path);
        assert!(
            status == 400 && why.starts_with("custom_filter: "),
            "{wrong}: {why}"
        );
    }
}

#[test]
fn hostile_scripts_get_nowhere() {
    let folder = Folder::new("server-scripts-hostile");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let log = format!("load(\"{}\");", word(&log));
    for code in [
        "loop { }",
        "let a = \"x\"; loop { a += a; }",
        "fn f() { f() } f()",
        "import \"x\" as y;",
        "eval(\"1\")",
        &log,
        "graph().add(allocations()).save(\"../../x.svg\");",
        "graph().add(allocations()).save(\"/tmp/x.svg\");",
        "chdir(\"/\"); mkdir_p(\"/x\");",
        "(((",
        "\u{0}",
        "throw 1",
    ] {
        let told = run(&server, code);
        let is_refused = told["status"] == "failed" && told["message"].is_string();
        // A folder that is made up is none.
        assert!(is_refused || code.contains("chdir"), "{code}: {told}");
    }
    assert!(!folder.path("x.svg").exists());
    assert_eq!(
        post(&server, "/api/1/logs/1/script", &" ".repeat(1 << 20)).status,
        413
    );
    assert_eq!(server.get("/api/1/logs/1/script").status, 405);
    assert_eq!(server.get("/api/1/logs/1/pictures/x").status, 404);
    // Who goes away ends his script, and the next has room.
    for _ in 0..8 {
        let code = "loop { allocations().len(); }";
        let request = server.asked_with(
            "POST",
            "/api/1/logs/1/script",
            &format!("Content-Length: {}\r\n", code.len()),
            code,
        );
        drop(server.send(&request));
    }
    let begun = Instant::now();
    assert_eq!(run(&server, "println(1);")["status"], "ok");
    assert!(
        begun.elapsed() < Duration::from_secs(45),
        "{:?}",
        begun.elapsed()
    );
}
