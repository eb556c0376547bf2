//! Tokens, names, other pages, hostile requests.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use crate::client::{Server, word};
use crate::recorded;
use crate::sites::Folder;

#[test]
fn nothing_is_told_without_the_token() {
    let folder = Folder::new("server-token");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let paths = [
        "/",
        "/app.js",
        "/app.css",
        "/api/1/logs",
        "/api/1/logs/1",
        "/api/1/logs/1/table",
        "/api/1/events",
        "/api/1/openapi.json",
        "/nothing",
        "/?token=",
        "/?token=0",
    ];
    for path in paths {
        let request =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let reply = server.raw(request.as_bytes());
        assert_eq!(reply.status, 401, "{path}: {}", reply.text());
        assert!(!reply.text().contains("copy_of") && !reply.text().contains("<html"));
    }
    // With it there is a cookie, and the link is gone from the address.
    let link = format!(
        "GET /?token={} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        server.token
    );
    let reply = server.raw(link.as_bytes());
    assert_eq!((reply.status, reply.header("location")), (303, Some("./")));
    let cookie = reply.header("set-cookie").expect("a cookie");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax"), "{cookie}");
    let cookie = cookie.split(';').next().expect("a cookie");
    let page = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\nConnection: close\r\n\r\n"
    );
    let page = server.raw(page.as_bytes());
    assert_eq!(page.status, 200);
    let policy = page.header("content-security-policy").expect("a policy");
    assert!(policy.starts_with("default-src 'self';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        assert_eq!(page.header(name), Some(value));
    }
    assert!(page.header("access-control-allow-origin").is_none());
}

/// The unit tests of the door have more of them.
#[test]
fn other_names_and_other_pages_are_refused() {
    let folder = Folder::new("server-names");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let of = |headers: &str| server.request("GET", "/api/1/logs", headers).status;
    assert_eq!(of(""), 200);
    assert_eq!(of("Origin: http://evil.example\r\n"), 403);
    assert_eq!(of("Sec-Fetch-Site: cross-site\r\n"), 403);
    let request = format!(
        "GET /api/1/logs HTTP/1.1\r\nHost: evil.example\r\nAuthorization: Bearer {}\r\n\
         Connection: close\r\n\r\n",
        server.token
    );
    assert_eq!(server.raw(request.as_bytes()).status, 421);
}

#[test]
fn hostile_requests_are_refused_and_it_lives() {
    let folder = Folder::new("server-hostile");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let long = "x".repeat(1 << 20);
    for path in [
        "/../../../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "//etc/passwd",
        "/app.js%00",
        "/api/1/logs/0",
        "/api/1/logs/-1",
        "/api/1/logs/99999999999999999999",
        "/api/1/logs/x",
        "/api/1/logs/1/nothing",
        "/api/1/logs/1/table?output=x",
        "/api/1/logs/1/table?file=/etc/passwd",
        "/api/1/logs/1/leaks?suppressions=/etc/passwd",
        "/api/1/logs/1/table?sysroot=/",
        "/api/1/logs/1/table?debug-symbols=/etc",
        "/api/1/logs/1/table?debuginfod=1",
        "/api/1/logs/1/timeline?output=/tmp/x",
        "/api/1/logs/1/table?by=",
        "/api/1/logs/1/table?top=-1",
        "/api/1/logs/1/table?top=99999999999999999999",
        "/api/1/logs/1/flame?nodes=999999999",
        "/api/1/logs/1/flame?nodes=0",
        "/api/1/logs/1/table?where=%FF%FE",
        "/api/1/logs/1/table?where=size%20%3E",
        "/api/1/logs/1/table?--json=1",
        "/api/1/logs/1/table?where=a%00b",
        "/api/1/logs/1/function?name=%28",
        "/api/1/logs/1/regions?parts=0",
        "/api/1/logs/1/diff?other=7",
        "/api/1/logs/1/graph.svg?max-boxes=9999",
    ] {
        let reply = server.get(path);
        assert!(
            (400..500).contains(&reply.status),
            "{path}: {}",
            reply.text()
        );
        assert!(!reply.text().contains("root:"), "{path}");
    }
    for method in ["POST", "PUT", "DELETE", "PATCH"] {
        assert_eq!(
            server.request(method, "/api/1/logs", "").status,
            405,
            "{method}"
        );
    }
    let filter = format!("/api/1/logs/1/table?where={}", "%28".repeat(60_000));
    let raws: [&[u8]; 7] = [
        b"\r\n\r\n", b"GET\r\n\r\n", b"\0\0\0\0\r\n\r\n", &[0xff; 4096],
        b"GET / HTTP/9.9\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST /api/1/logs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    ];
    for raw in raws {
        let reply = server.raw(raw);
        assert!(reply.status == 0 || reply.status >= 400, "{}", reply.text());
    }
    assert!(server.get(&format!("/{long}")).status >= 400);
    assert!(server.request("GET", "/", &format!("X: {long}\r\n")).status != 200);
    assert!((400..500).contains(&server.get(&filter).status));
    assert_eq!(server.get("/api/1/logs/1/table?top=1").status, 200);
}

/// Who says nothing, reads nothing or goes away holds up nobody.
#[test]
fn slow_clients_hold_up_nobody() {
    let folder = Folder::new("server-slow");
    let log = recorded(&folder);
    let mut server = Server::start(&folder, &[word(&log)]);
    let silent: Vec<_> = (0..100).map(|_| server.connect()).collect();
    let asked = |path: &str| {
        format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
            server.token
        )
    };
    let mut deaf = Vec::new();
    for _ in 0..60 {
        let mut stream = server.connect();
        for path in [
            "/api/1/logs/1/table?by=stack",
            "/app.js",
            "/api/1/logs/1/flame",
            "/app.js",
        ] {
            stream.write_all(asked(path).as_bytes()).expect("a request");
        }
        deaf.push(stream);
    }
    let mut events = server.connect();
    events
        .write_all(asked("/api/1/events").as_bytes())
        .expect("a request");
    let mut first = [0; 64];
    let count = events.read(&mut first).expect("a beginning");
    assert!(first[..count].starts_with(b"HTTP/1.1 200"));
    for _ in 0..20 {
        drop(server.connect());
    }
    let begun = Instant::now();
    for _ in 0..5 {
        assert_eq!(server.get("/api/1/logs/1/table?top=3").status, 200);
    }
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(20), "{took:?}");
    // With all of them still there it ends at once.
    let begun = Instant::now();
    let status = server.end("-INT");
    assert!(status.success(), "{status}");
    assert!(begun.elapsed() < Duration::from_secs(5));
    drop((silent, deaf, events));
}

#[test]
fn only_this_machine_reaches_it() {
    let folder = Folder::new("server-loopback");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    let port = format!(":{:04X}", server.port);
    let listens = |file: &str| {
        let table = fs::read_to_string(file).unwrap_or_default();
        let lines = table
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>());
        // 0A: it listens.
        let own = lines.filter(|words| words.get(3) == Some(&"0A") && words[1].ends_with(&port));
        own.map(|words| words[1].to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listens("/proc/net/tcp"), [format!("0100007F{port}")]);
    assert_eq!(listens("/proc/net/tcp6"), [""; 0]);
}

#[test]
fn a_socket_is_its_users() {
    let folder = Folder::new("server-socket");
    let log = recorded(&folder);
    let words = ["--socket", "own.sock", word(&log)];
    let mut server = Server::start(&folder, &words);
    let path = folder.path("own.sock");
    let mode = fs::symlink_metadata(&path)
        .expect("a socket")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(server.get("/api/1/logs").status, 200);
    assert_eq!(
        server
            .raw(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .status,
        401
    );
    // Another one cannot have the place.
    let second = folder.run(&["server", "--socket", "own.sock", word(&log)]);
    assert_eq!(second.status.code(), Some(2));
    assert!(server.end("-TERM").success());
    assert!(!path.exists(), "it is left");
    // What a killed one left is replaced; what is no socket is not.
    drop(UnixListener::bind(&path).expect("a socket"));
    let mut server = Server::start(&folder, &words);
    assert_eq!(server.get("/api/1/logs").status, 200);
    assert!(server.end("-INT").success());
    fs::write(&path, "mine").expect("a file");
    let refused = folder.run(&["server", "--socket", "own.sock", word(&log)]);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(fs::read_to_string(&path).expect("a file"), "mine");
}

#[test]
fn what_is_no_log_is_told_at_once() {
    let folder = Folder::new("server-none");
    fs::write(folder.path("text"), "text").expect("a file");
    for words in [
        &["server"][..],
        &["server", "text"],
        &["server", "missing"],
        &["server", "."],
    ] {
        let output = folder.run(words);
        assert_eq!(output.status.code(), Some(2), "{words:?}");
        assert!(!output.stderr.is_empty());
    }
}

/// What takes several values takes no more of them, and none that is another option.
#[test]
fn no_value_becomes_an_option() {
    let folder = Folder::new("server-options");
    let log = recorded(&folder);
    let server = Server::start(&folder, &[word(&log)]);
    for query in [
        "between=1%25&between=2%25&between=--suppressions=/etc/passwd",
        "between=1%25&between=--suppressions=/etc/passwd",
        "between=--sysroot=/&between=2%25",
        "between=1%25",
        "where=--json",
        "at=--suppressions=/etc/passwd",
        "top=0",
        "top=100001",
        "list=1&top=99999999",
    ] {
        let (status, why) = server.refuses(&format!("/api/1/logs/1/leaks?{query}"));
        assert!(status < 500 && !why.contains("root:"), "{query}: {why}");
    }
    assert_eq!(
        server
            .get("/api/1/logs/1/leaks?between=1%25&between=99%25")
            .status,
        200
    );
}

/// What a client asks and does not wait for is not made to its end.
#[test]
fn who_goes_away_ends_his_work() {
    let folder = Folder::new("server-gone");
    let log = crate::log_of(&folder, &crate::sites::victim("churn.c"), &["3000000"]);
    let server = Server::start(&folder, &[word(&log)]);
    assert_eq!(server.get("/api/1/logs/1").status, 200);
    let begun = Instant::now();
    let one = server.get("/api/1/logs/1/threads?where=size%3E1");
    let took = begun.elapsed();
    assert_eq!(one.status, 200);
    let asked = |number| server.open(&format!("/api/1/logs/1/threads?where=size%3E{number}"));
    let clients: Vec<_> = (2..200).map(asked).collect();
    std::thread::sleep(took);
    drop(clients);
    let begun = Instant::now();
    assert_eq!(
        server.get("/api/1/logs/1/threads?where=size%3E0").status,
        200
    );
    assert!(
        begun.elapsed() < took * 40,
        "{:?} {took:?}",
        begun.elapsed()
    );
}
