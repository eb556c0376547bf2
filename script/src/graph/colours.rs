//! Colours as pages say them.

/// Those that have names here.
const NAMED: [(&str, [u8; 3]); 21] = [
    ("black", [0, 0, 0]),
    ("silver", [192, 192, 192]),
    ("gray", [128, 128, 128]),
    ("grey", [128, 128, 128]),
    ("white", [255, 255, 255]),
    ("maroon", [128, 0, 0]),
    ("red", [255, 0, 0]),
    ("purple", [128, 0, 128]),
    ("magenta", [255, 0, 255]),
    ("fuchsia", [255, 0, 255]),
    ("green", [0, 128, 0]),
    ("lime", [0, 255, 0]),
    ("olive", [128, 128, 0]),
    ("yellow", [255, 255, 0]),
    ("orange", [255, 165, 0]),
    ("navy", [0, 0, 128]),
    ("blue", [0, 0, 255]),
    ("teal", [0, 128, 128]),
    ("cyan", [0, 255, 255]),
    ("pink", [255, 192, 203]),
    ("brown", [165, 42, 42]),
];

/// `#rrggbb`, `#rgb`, or a name. `Err` is a sentence.
pub(crate) fn colour(text: &str) -> Result<[u8; 3], String> {
    let word = text.trim().to_ascii_lowercase();
    if let Some((_, colour)) = NAMED.iter().find(|(name, _)| *name == word) {
        return Ok(*colour);
    }
    let wrong = || format!("`{text}` is no colour: write #rrggbb, #rgb or a name as red");
    let digits = word.strip_prefix('#').unwrap_or(&word);
    let value = |from: usize, len: usize| {
        let part = digits.get(from..from + len)?;
        u8::from_str_radix(part, 16).ok()
    };
    let parts = match digits.len() {
        6 => [value(0, 2), value(2, 2), value(4, 2)],
        3 => [0, 1, 2].map(|at| value(at, 1).map(|half| half * 17)),
        _ => return Err(wrong()),
    };
    match parts {
        [Some(red), Some(green), Some(blue)] => Ok([red, green, blue]),
        _ => Err(wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_understood() {
        assert_eq!(colour("Red"), Ok([255, 0, 0]));
        assert_eq!(colour("#1f77b4"), Ok([0x1F, 0x77, 0xB4]));
        assert_eq!(colour("#0f8"), Ok([0, 0xFF, 0x88]));
        for text in ["", "#12", "reddish", "#gggggg", "\u{e4}\u{e4}\u{e4}"] {
            assert!(colour(text).is_err(), "{text}");
        }
    }
}
