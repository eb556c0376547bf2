//! The page itself, as it was built from `web/ui`.

use axum::http::HeaderMap;
use axum::response::Response;

use crate::reply::{Refusal, text};

/// What runs in it.
pub const SCRIPT: &str = include_str!("../dist/app.js");
/// How it looks.
pub const STYLE: &str = include_str!("../dist/app.css");

/// Its files by name, with what they are.
const FILES: [(&str, &str, &str); 4] = [
    (
        "index.html",
        "text/html; charset=utf-8",
        include_str!("../dist/index.html"),
    ),
    ("app.js", "text/javascript; charset=utf-8", SCRIPT),
    ("app.css", "text/css; charset=utf-8", STYLE),
    (
        "icon.svg",
        "image/svg+xml",
        include_str!("../dist/icon.svg"),
    ),
];

/// One of them; the page for no name.
pub fn file(headers: &HeaderMap, name: &str) -> Result<Response, Refusal> {
    let name = match name {
        "" => "index.html",
        name => name,
    };
    let file = FILES.iter().find(|(known, ..)| *known == name);
    let (_, content, bytes) = file.ok_or_else(|| {
        Refusal::missing(
            format!("there is nothing at {name:?}"),
            "the page is at ./, the API at api/1/logs",
        )
    })?;
    Ok(text(headers, content, *bytes))
}
