//! Who is let in. Everybody on a shared node reaches its ports, and every page that a
//! browser has open may send requests here:
//!
//! * Only who has the token is answered: it is in the link that was printed, then in a
//!   cookie that scripts cannot read.
//! * The request has to be meant for this machine by name ([`Door::is_ours`]): a name that
//!   somebody else's server gives for 127.0.0.1 is none.
//! * It comes from our own page or from no page at all.

#[cfg(test)]
mod tests;

use axum::http::header::{AUTHORIZATION, COOKIE, HOST, LOCATION, ORIGIN, SET_COOKIE};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};
use axum::response::{IntoResponse, Response};

use crate::reply::{Refusal, typed};

/// What a request has to show.
pub struct Door {
    token: String,
    /// The cookie's name: two servers on one machine have the same cookies.
    cookie: String,
    hosts: Vec<String>,
}

/// Bytes of a token before they are written out.
const TOKEN_BYTES: usize = 24;

impl Door {
    /// A door with a token of its own; `name` tells servers of a machine apart.
    pub fn new(name: &str, hosts: &[String]) -> anyhow::Result<Self> {
        let mut bytes = [0; TOKEN_BYTES];
        getrandom::fill(&mut bytes)
            .map_err(|error| anyhow::anyhow!("the kernel gives no random bytes: {error}"))?;
        let token = bytes.iter().map(|byte| format!("{byte:02x}"));
        let local = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let hosts = hosts.iter().map(|host| host.to_ascii_lowercase());
        Ok(Self {
            token: token.collect(),
            cookie: format!("memlog-{name}"),
            hosts: local.into_iter().chain(hosts).collect(),
        })
    }

    /// What the link ends with.
    pub fn query(&self) -> String {
        format!("?token={}", self.token)
    }

    /// Whether a request is let in; if not, what is answered instead.
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), Box<Response>> {
        let headers = request.headers();
        let host = headers.get(HOST).and_then(|host| host.to_str().ok());
        if !host.is_some_and(|host| self.is_ours(host)) {
            return refuse(
                StatusCode::MISDIRECTED_REQUEST,
                "this server is not reached by that name",
                "use the link that memlog server printed; behind a proxy, give its name with \
                 --host",
            );
        }
        if !self.is_from_here(headers, host.unwrap_or_default()) {
            return refuse(
                StatusCode::FORBIDDEN,
                "another page sent this request",
                "open the link that memlog server printed",
            );
        }
        if self.has_token(headers) {
            return Ok(());
        }
        match token_of(request.uri()) {
            Some(token) if same(token, &self.token) => match is_page(request) {
                true => Err(Box::new(self.with_cookie(request.uri()))),
                false => Ok(()),
            },
            _ if is_page(request) => Err(Box::new(words(
                StatusCode::UNAUTHORIZED,
                "memlog: this server answers only who has its token.\n\
                 Open the link that memlog server printed.\n",
            ))),
            _ => refuse(
                StatusCode::UNAUTHORIZED,
                "this server answers only who has its token",
                "open the link that memlog server printed, or send \
                 `Authorization: Bearer TOKEN`",
            ),
        }
    }

    /// Whether a name in a request is one of this server's, with any port.
    fn is_ours(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        self.hosts.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    /// Whether our own page asks, or none.
    fn is_from_here(&self, headers: &HeaderMap, host: &str) -> bool {
        let origin = headers.get(ORIGIN).map(|origin| origin.to_str());
        let is_own = match origin {
            None => true,
            Some(Err(_)) => false,
            Some(Ok(origin)) => {
                let place = origin.split_once("://").map(|(_, place)| place);
                place.is_some_and(|place| place == host || self.is_proxy(place))
            }
        };
        let site = headers.get("sec-fetch-site");
        let mode = headers.get("sec-fetch-mode");
        let is_link = mode.is_some_and(|mode| mode == "navigate");
        let is_other = site.is_some_and(|site| site == "cross-site" || site == "same-site");
        is_own && (!is_other || is_link)
    }

    /// A proxy may hand on a name of its own.
    fn is_proxy(&self, place: &str) -> bool {
        let (_, given) = self.hosts.split_at(3);
        let name = place.rsplit_once(':').map_or(place, |(name, _)| name);
        given.iter().any(|own| own.eq_ignore_ascii_case(name))
    }

    fn has_token(&self, headers: &HeaderMap) -> bool {
        let bearer = headers.get(AUTHORIZATION);
        let bearer = bearer.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
        let cookies = headers.get_all(COOKIE).iter();
        let cookies = cookies.filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';'));
        let has_cookie = cookies.any(|cookie| {
            let (name, value) = cookie.trim().split_once('=').unwrap_or_default();
            name == self.cookie && same(value, &self.token)
        });
        has_cookie || bearer.is_some_and(|token| same(token, &self.token))
    }

    /// The link without the token, which then stands in no history and no picture.
    fn with_cookie(&self, uri: &Uri) -> Response {
        let rest = query(uri).filter(|(name, _)| name != "token");
        let mut place = String::from("./");
        let rest = form_urlencoded::Serializer::new(String::new())
            .extend_pairs(rest)
            .finish();
        if !rest.is_empty() {
            place.push('?');
            place.push_str(&rest);
        }
        // Lax: who comes by a link of a portal has it too.
        let cookie = format!("{}={}; HttpOnly; SameSite=Lax", self.cookie, self.token);
        let mut response = StatusCode::SEE_OTHER.into_response();
        for (name, value) in [(LOCATION, place), (SET_COOKIE, cookie)] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                response.headers_mut().insert(name, value);
            }
        }
        response
    }
}

/// A refusal for people.
fn words(status: StatusCode, text: &'static str) -> Response {
    (status, typed("text/plain; charset=utf-8"), text).into_response()
}

/// Whether it is the page itself that is asked for.
fn is_page<B>(request: &Request<B>) -> bool {
    request.method() == Method::GET && request.uri().path() == "/"
}

fn query(uri: &Uri) -> impl Iterator<Item = (String, String)> {
    form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned()
}

fn token_of(uri: &Uri) -> Option<&str> {
    let mut words = uri.query()?.split('&');
    words.find_map(|word| word.strip_prefix("token="))
}

/// Compares in a time that does not depend on where two tokens differ.
fn same(one: &str, other: &str) -> bool {
    let differ = one.bytes().zip(other.bytes());
    let differ = differ.fold(0, |sum, (one, other)| sum | (one ^ other));
    one.len() == other.len() && std::hint::black_box(differ) == 0
}

fn refuse(status: StatusCode, sentence: &str, hint: &str) -> Result<(), Box<Response>> {
    let refusal = Refusal {
        status,
        ..Refusal::asked(sentence, hint)
    };
    Err(Box::new(refusal.into_response()))
}

/// What every response says to the browser: nothing from elsewhere, nothing inline, no
/// frame around it, no guessing.
pub fn harden(response: &mut Response) {
    let headers = response.headers_mut();
    let rules = [
        (
            "content-security-policy",
            "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             object-src 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
    ];
    for (name, value) in rules {
        // A picture has stricter rules.
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
}
