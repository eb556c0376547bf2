//! `perf-PID.map`: a line for each function, `START SIZE NAME`, the numbers in
//! hexadecimal. Later lines take the place of earlier ones.

/// All functions: where each begins, how long it is, its name.
pub(super) fn entries(text: &[u8]) -> impl Iterator<Item = (u64, u64, &[u8])> {
    text.split(|&byte| byte == b'\n').filter_map(entry)
}

fn entry(line: &[u8]) -> Option<(u64, u64, &[u8])> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut words = line.splitn(3, |&byte| byte == b' ');
    let (low, size) = (number(words.next()?)?, number(words.next()?)?);
    Some((low, size, words.next()?.trim_ascii()))
}

fn number(digits: &[u8]) -> Option<u64> {
    let digits = digits.strip_prefix(b"0x").unwrap_or(digits);
    let is_hex = digits.iter().all(u8::is_ascii_hexdigit);
    let text = std::str::from_utf8(digits).ok().filter(|_| is_hex)?;
    u64::from_str_radix(text, 16).ok()
}
