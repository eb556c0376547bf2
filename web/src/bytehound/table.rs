//! Tables of text, with sizes in thousands and times in hours, minutes and seconds.

/// Columns side by side, each as wide as its widest cell.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join(" ");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Bytes.
pub fn size(bytes: u64) -> String {
    let units = [(12, "TB"), (9, "GB"), (6, "MB"), (3, "KB")];
    let unit = units
        .into_iter()
        .find(|(power, _)| bytes >= 10u64.pow(*power));
    match unit {
        None => format!("{bytes:7}"),
        Some((power, name)) => {
            let thousandths = bytes / 10u64.pow(power - 3);
            format!("{:3}.{:03} {name}", thousandths / 1000, thousandths % 1000)
        }
    }
}

/// Seconds.
pub fn duration(seconds: u64) -> String {
    let (minutes, rest) = (seconds / 60, seconds % 60);
    let (hours, minutes) = (minutes / 60, minutes % 60);
    let (days, hours) = (hours / 24, hours % 24);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest:02}s"),
        (0, 0, _) => format!("{minutes:02}m{rest:02}s"),
        (0, ..) => format!("{hours:02}h{minutes:02}m{rest:02}s"),
        _ => format!("{days} days {hours:02}h{minutes:02}m{rest:02}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_as_there() {
        for (bytes, text) in [
            (0, "      0"),
            (999, "    999"),
            (1000, "  1.000 KB"),
            (1_234_567, "  1.234 MB"),
            (u64::MAX, "18446744.073 TB"),
        ] {
            assert_eq!(size(bytes), text);
        }
        for (seconds, text) in [
            (0, "00s"),
            (61, "01m01s"),
            (3600, "01h00m00s"),
            (90_061, "1 days 01h01m01s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
    }
}
