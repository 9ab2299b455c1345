//! Durations and sizes as they are written: a whole number with its unit.

const PAUSES: [(&str, u64); 5] =
    [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const SIZES: [(&str, u64); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

/// Milliseconds.
pub(crate) fn pause(text: &str) -> Option<u64> {
    with_unit(text, &PAUSES)
}

/// Bytes.
pub(crate) fn size(text: &str) -> Option<u64> {
    with_unit(text, &SIZES)
}

fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let unit = text.strip_prefix(digits)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}
