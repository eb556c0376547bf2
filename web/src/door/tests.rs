use axum::http::Request;
use axum::http::header::{LOCATION, SET_COOKIE};

use super::*;

fn door() -> Door {
    Door::new("8080", &["Hub.example.org".to_owned()]).expect("random bytes")
}

fn request(path: &str, headers: &[(&str, &str)]) -> Request<()> {
    let mut request = Request::get(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(()).expect("a request")
}

fn status(door: &Door, path: &str, headers: &[(&str, &str)]) -> u16 {
    let answer = door.check(&request(path, headers));
    answer.map_or_else(|response| response.status().as_u16(), |()| 200)
}

#[test]
fn only_who_has_the_token_is_answered() {
    let door = door();
    let cookie = format!("a=b; memlog-8080={}", door.token);
    let bearer = format!("Bearer {}", door.token);
    let host = ("host", "localhost:8080");
    assert_eq!(status(&door, "/api/1/logs", &[host]), 401);
    assert_eq!(status(&door, "/", &[host]), 401);
    assert_eq!(
        status(&door, "/api/1/logs", &[host, ("cookie", &cookie)]),
        200
    );
    assert_eq!(
        status(&door, "/api/1/logs", &[host, ("authorization", &bearer)]),
        200
    );
    let with = format!("/api/1/logs{}", door.query());
    assert_eq!(status(&door, &with, &[host]), 200);
    // Cut, longer, of another server, none.
    for wrong in [
        &door.token[1..],
        &format!("{}0", door.token),
        "",
        &"0".repeat(2 * TOKEN_BYTES),
    ] {
        let cookie = format!("memlog-8080={wrong}");
        let other = format!("memlog-8081={}", door.token);
        for cookie in [cookie, other] {
            assert_eq!(status(&door, "/", &[host, ("cookie", &cookie)]), 401);
        }
        let path = format!("/?token={wrong}");
        assert_eq!(status(&door, &path, &[host]), 401, "{wrong}");
    }
    assert_eq!(door.token.len(), 2 * TOKEN_BYTES);
    assert_ne!(door.token, super::tests::door().token);
}

#[test]
fn the_token_leaves_the_address() {
    let door = door();
    let path = format!("/?a=%3Cb%3E&token={}&c=d", door.token);
    let answer = door.check(&request(&path, &[("host", "127.0.0.1:8080")]));
    let answer = answer.expect_err("a redirect");
    assert_eq!(answer.status(), StatusCode::SEE_OTHER);
    assert_eq!(answer.headers()[LOCATION], "./?a=%3Cb%3E&c=d");
    let cookie = answer.headers()[SET_COOKIE].to_str().expect("text");
    assert!(cookie.starts_with(&format!("memlog-8080={}; HttpOnly", door.token)));
}

#[test]
fn names_of_others_are_refused() {
    let door = door();
    let bearer = format!("Bearer {}", door.token);
    let of = |host: &str| status(&door, "/", &[("host", host), ("authorization", &bearer)]);
    for own in [
        "localhost",
        "localhost:1",
        "127.0.0.1:80",
        "[::1]:80",
        "[::1]",
        "hub.example.org:443",
    ] {
        assert_eq!(of(own), 200, "{own}");
    }
    for other in [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:80",
        "",
        ":80",
        "localhost:80:evil",
        "evil.example:localhost",
        "0.0.0.0:8080",
    ] {
        assert_eq!(of(other), 421, "{other}");
    }
    assert_eq!(status(&door, "/", &[("authorization", &bearer)]), 421);
}

#[test]
fn other_pages_are_refused() {
    let door = door();
    let bearer = format!("Bearer {}", door.token);
    let of = |more: &[(&str, &str)]| {
        let mut headers = vec![("host", "localhost:8080"), ("authorization", &bearer)];
        headers.extend(more);
        status(&door, "/api/1/logs", &headers)
    };
    assert_eq!(of(&[("origin", "http://localhost:8080")]), 200);
    assert_eq!(of(&[("origin", "https://hub.example.org")]), 200);
    for other in [
        "http://localhost:9999",
        "http://evil.example",
        "null",
        "localhost:8080",
        "",
    ] {
        assert_eq!(of(&[("origin", other)]), 403, "{other}");
    }
    assert_eq!(of(&[("sec-fetch-site", "cross-site")]), 403);
    assert_eq!(of(&[("sec-fetch-site", "same-site")]), 403);
    assert_eq!(of(&[("sec-fetch-site", "same-origin")]), 200);
    // A link on another page leads here: the token decides.
    assert_eq!(
        of(&[
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", "navigate")
        ]),
        200
    );
}
