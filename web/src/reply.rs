//! Answers and refusals, as HTTP.

use std::io::Write;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use memlog_pages::Advice;
use serde_json::{Value, json};

/// Why there is no answer, in a sentence.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: StatusCode,
    pub sentence: String,
    /// What can be done.
    pub hint: String,
}

impl Refusal {
    /// That it was asked in a way that is not understood.
    pub fn asked(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            sentence: sentence.into(),
            hint: hint.into(),
        }
    }

    /// That there is no such thing.
    pub fn missing(sentence: impl Into<String>, hint: impl Into<String>) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            ..Self::asked(sentence, hint)
        }
    }

    /// As the body has it.
    pub fn json(&self) -> Value {
        json!({ "error": self.sentence, "hint": self.hint })
    }
}

/// What a log cannot tell, or a question gets wrong.
impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        let hints = error.chain();
        let hints = hints.filter_map(|cause| cause.downcast_ref::<Advice>());
        let hints: Vec<_> = hints.map(|advice| advice.hint.clone()).collect();
        Self {
            status: StatusCode::UNPROCESSABLE_ENTITY,
            sentence: format!("{error:#}"),
            hint: hints.join("; "),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = self.json().to_string();
        (self.status, typed("application/json"), body).into_response()
    }
}

/// The headers of an answer that nobody keeps.
pub fn typed(content: &'static str) -> [(axum::http::HeaderName, HeaderValue); 2] {
    [
        (CONTENT_TYPE, HeaderValue::from_static(content)),
        (CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ]
}

/// Bytes below which packing wins nothing.
const PACKED_FROM: usize = 16 << 10;

/// A text, packed for who takes it so: it may go through ssh.
pub fn text(asked: &HeaderMap, content: &'static str, text: String) -> Response {
    let takes = asked.get(ACCEPT_ENCODING);
    let takes = takes.and_then(|takes| takes.to_str().ok()).unwrap_or("");
    let is_taken = takes.split(',').any(|one| one.trim().starts_with("gzip"));
    let bytes = text.into_bytes();
    let packed = match is_taken && bytes.len() >= PACKED_FROM {
        true => packed(&bytes),
        false => None,
    };
    let vary = [(VARY, "accept-encoding")];
    match packed {
        Some(packed) => {
            let encoding = [(CONTENT_ENCODING, "gzip")];
            (typed(content), vary, encoding, Body::from(packed)).into_response()
        }
        None => (typed(content), vary, Body::from(bytes)).into_response(),
    }
}

/// What may be done with a picture: nothing but look at it.
const PICTURE_RULES: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'";

/// A picture: names of a log stand in it, and none of them is anything but text.
pub fn picture(asked: &HeaderMap, svg: String) -> Response {
    let mut response = text(asked, "image/svg+xml", svg);
    let rules = HeaderValue::from_static(PICTURE_RULES);
    response
        .headers_mut()
        .insert(CONTENT_SECURITY_POLICY, rules);
    response
}

fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).ok()?;
    packer.finish().ok()
}
