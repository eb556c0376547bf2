//! Debug files that a server has: only who asks for them has it asked, once for each
//! module, and what is not the module's own file is refused.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use crate::memlog;
use crate::sites::build::GCC;
use crate::sites::{Folder, said};

/// A server of one file, which takes down what it was asked for.
struct Server {
    url: String,
    asked: Arc<Mutex<Vec<String>>>,
}

/// What it does when it is asked.
#[derive(Clone)]
enum Answer {
    /// Has this file of the build-id.
    Has(String, PathBuf),
    /// Never says anything.
    Silent,
}

impl Server {
    fn start(answer: Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&asked);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming().flatten() {
                match &answer {
                    Answer::Silent => silent.push(stream),
                    Answer::Has(id, file) => answered(stream, (id, file), &seen),
                }
            }
        });
        Self { url, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("a list").clone()
    }
}

fn answered(mut stream: TcpStream, (id, file): (&str, &PathBuf), asked: &Mutex<Vec<String>>) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut first = String::new();
    if reader.read_line(&mut first).is_err() {
        return;
    }
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|length| length > 2) {
        line.clear();
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let is_it = path == format!("/buildid/{id}/debuginfo");
    asked.lock().expect("a list").push(path);
    let (status, body) = match is_it {
        true => ("200 OK", fs::read(file).expect("a file")),
        false => ("404 Not Found", Vec::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(&[head.as_bytes(), &body].concat());
    let _ = reader.read(&mut [0]);
}

/// The log of a program whose debug information is in another file, and its build-id.
fn recorded(name: &str) -> (Folder, String, PathBuf) {
    let folder = Folder::new(name);
    let program = GCC.build::<&str>(&folder, "sites.c", "sites", &["-Wl,--build-id"]);
    let debug = folder.path("kept.debug");
    let run = |words: &[&str]| {
        let output = Command::new("objcopy").args(words).output().expect("run");
        assert!(output.status.success(), "{}", said(&output));
    };
    let [program, kept] = [&program, &debug].map(|path| path.to_str().expect("a name"));
    run(&["--only-keep-debug", program, kept]);
    run(&["--strip-debug", program]);
    folder.says(&["record", "-o", "sites.memlog", program]);
    let output = Command::new("readelf").args(["-n", program]).output();
    let notes = String::from_utf8(output.expect("run").stdout).expect("text");
    let id = notes.lines().find_map(|line| line.split_once("Build ID: "));
    let id = id.expect("a build-id").1.trim().to_owned();
    (folder, id, debug)
}

fn is_here() -> bool {
    let is_here = Command::new("debuginfod-find").arg("-V").output().is_ok();
    if !is_here {
        println!("SKIPPED debuginfod: there is no debuginfod-find (Debian: debuginfod)");
    }
    is_here
}

/// All that a command says, of a server.
fn shown(folder: &Folder, server: &Server, words: &str, more: &[(&str, &str)]) -> String {
    let mut command = memlog(folder, words);
    command.env("DEBUGINFOD_URLS", &server.url);
    command.env("DEBUGINFOD_CACHE_PATH", folder.path("cache"));
    command
        .env("no_proxy", "127.0.0.1")
        .env_remove("MEMLOG_DEBUGINFOD");
    command.envs(more.iter().copied());
    let output = command.output().expect("memlog runs");
    assert!(output.status.success(), "{words}: {}", said(&output));
    String::from_utf8([output.stdout, output.stderr].concat()).expect("text")
}

const LINE: &str = "victims/sites.c:23]";

#[test]
fn a_server_is_asked_by_who_wants_it() {
    if !is_here() {
        return;
    }
    let (folder, id, debug) = recorded("show-debuginfod");
    let server = Server::start(Answer::Has(id.clone(), debug));
    for value in ["0", ""] {
        let page = shown(
            &folder,
            &server,
            "report sites.memlog",
            &[("MEMLOG_DEBUGINFOD", value)],
        );
        assert!(!page.contains(LINE) && page.contains("alpha"), "{page}");
    }
    assert_eq!(server.asked(), [""; 0]);
    let page = shown(&folder, &server, "report --debuginfod sites.memlog", &[]);
    assert!(page.contains(LINE), "{page}");
    let asked = server.asked();
    let own = asked.iter().filter(|path| path.contains(&id)).count();
    assert_eq!(own, 1, "{asked:?}");
    // It stays, and what no server has is not asked for at once again either.
    let words = "tree --top-down sites.memlog";
    let page = shown(&folder, &server, words, &[("MEMLOG_DEBUGINFOD", "1")]);
    assert!(page.contains(LINE), "{page}");
    assert_eq!(server.asked(), asked);
}

#[test]
fn what_a_server_sends_is_looked_at() {
    if !is_here() {
        return;
    }
    let (folder, id, _) = recorded("show-debuginfod-wrong");
    GCC.build::<&str>(&folder, "sites.c", "other", &["-Wl,--build-id", "-O0"]);
    fs::write(folder.path("text"), "no program").expect("write");
    for (name, file) in [("a", "other"), ("b", "text")] {
        let server = Server::start(Answer::Has(id.clone(), folder.path(file)));
        let cache = folder.path(name);
        let cache = [("DEBUGINFOD_CACHE_PATH", cache.to_str().expect("a name"))];
        let page = shown(&folder, &server, "report --debuginfod sites.memlog", &cache);
        assert!(
            page.contains("alpha") && !page.contains(LINE),
            "{file}: {page}"
        );
        assert!(!server.asked().is_empty());
    }
    let server = Server::start(Answer::Silent);
    let limits = [("DEBUGINFOD_TIMEOUT", "1"), ("DEBUGINFOD_CACHE_PATH", "c")];
    let page = shown(
        &folder,
        &server,
        "report --debuginfod sites.memlog",
        &limits,
    );
    assert!(page.contains("alpha") && !page.contains(LINE), "{page}");
}
