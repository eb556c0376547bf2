//! SHA-256 in base64, by which a page tells a browser the one script and the one
//! style that it may use: what else came into the page is not run.

use sha2::{Digest, Sha256};

/// `sha256-...`, as a policy names a text.
pub fn source(text: &str) -> String {
    format!("sha256-{}", base64(&Sha256::digest(text)))
}

fn base64(bytes: &[u8]) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let three = [0, 1, 2].map(|at| u32::from(group.get(at).copied().unwrap_or(0)));
        let bits = three[0] << 16 | three[1] << 8 | three[2];
        for at in 0..4 {
            text.push(match at <= group.len() {
                true => char::from(SIGNS[(bits >> (18 - 6 * at) & 63) as usize]),
                false => '=',
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By `printf %s TEXT | openssl dgst -sha256 -binary | base64`
    #[test]
    fn it_is_what_openssl_says() {
        let known = [
            ("", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="),
            (
                &"x".repeat(56),
                "BMJiYTcO51QVSdFt7jIMcj4/0UZx5moJmv4KN3wWiI4=",
            ),
        ];
        for (text, digest) in known {
            assert_eq!(source(text), format!("sha256-{digest}"));
        }
    }
}
