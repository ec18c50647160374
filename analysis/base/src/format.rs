//! Numbers as Python's format strings write them.

/// A whole number in a notation, with leading zeros or blanks: `f"{n:b}"`, `f"{n:04x}"`, `f"{n:>4}"`; `None` for other
/// formats.
pub fn whole_number(number: i128, format: &str) -> Option<String> {
    // Numbers stand at the right as it is.
    let format = format.strip_prefix('>').unwrap_or(format);
    let (width, kind) = format.split_at(format.find(|c: char| !c.is_ascii_digit()).unwrap_or(format.len()));
    let (size, minus) = (number.unsigned_abs(), if number < 0 { "-" } else { "" });
    let digits = match kind {
        "b" => format!("{size:b}"),
        "o" => format!("{size:o}"),
        "x" => format!("{size:x}"),
        "X" => format!("{size:X}"),
        "" | "d" => size.to_string(),
        _ => return None,
    };
    let fill = if width.starts_with('0') { "0" } else { " " };
    let width: usize = if width.is_empty() { 0 } else { width.parse().ok().filter(|width| *width <= 256)? };
    let missing = fill.repeat(width.saturating_sub(digits.len() + minus.len()));
    Some(if fill == "0" { format!("{minus}{missing}{digits}") } else { format!("{missing}{minus}{digits}") })
}
