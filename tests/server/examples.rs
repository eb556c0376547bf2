//! The examples of doc/API.md do what they say, and its description is of what is there.

use serde_json::Value;

use crate::client::{Server, word};
use crate::recorded;
use crate::sites::Folder;

const DOCUMENT: &str = include_str!("../../doc/API.md");

#[test]
fn examples_are_answered() {
    let folder = Folder::new("server-examples");
    let has_curl = folder.command("curl").arg("--version").output().is_ok();
    if !has_curl {
        println!("SKIPPED the examples of doc/API.md: there is no curl");
        return;
    }
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let lines = DOCUMENT
        .lines()
        .filter_map(|line| line.strip_prefix("    "));
    let examples: Vec<&str> = lines.filter(|line| line.starts_with("curl ")).collect();
    assert!(examples.len() >= 8, "{examples:?}");
    for example in examples {
        let mut command = folder.command("sh");
        command.args(["-c", example]).env("TOKEN", &server.token);
        let output = command
            .env("SERVER", format!("http://127.0.0.1:{}", server.port))
            .output()
            .expect("it runs");
        assert!(output.status.success(), "{example}: {}", output.status);
        let text = String::from_utf8(output.stdout).expect("text");
        let is_right = match example.contains(".svg") {
            true => text.contains("<svg"),
            false => serde_json::from_str::<Value>(&text).is_ok(),
        };
        assert!(is_right, "{example}: {text}");
    }
}

/// Each path is answered, but for what is missing.
#[test]
fn the_description_is_of_what_is_there() {
    let folder = Folder::new("server-description");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let told = server.api("openapi.json");
    let paths = told["paths"].as_object().expect("paths");
    assert!(paths.len() >= 19, "{}", paths.len());
    for (path, what) in paths
        .iter()
        .filter(|(path, what)| *path != "/events" && what["get"].is_object())
    {
        let list = what["get"]["parameters"].as_array().expect("a list");
        let needed = list
            .iter()
            .filter(|one| one["required"] == true && one["in"] == "query");
        let needed = needed.map(|one| {
            let name = one["name"].as_str().expect("a name");
            let value = match name {
                "of" => "size",
                "name" => "main",
                "source" => "server.c",
                _ => "0x10",
            };
            format!("{name}={value}")
        });
        let query: Vec<String> = needed.collect();
        let path = format!("/api/1{}?{}", path.replace("{id}", "1"), query.join("&"));
        let reply = server.get(&path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        // Whatever it is given, it is a sentence at worst.
        for one in list.iter().filter(|one| one["in"] == "query") {
            let name = one["name"].as_str().expect("a name");
            let reply = server.get(&format!("{path}&{name}=%00%3Cx%3E"));
            assert!(reply.status < 500, "{path} {name}: {}", reply.text());
        }
    }
}
