//! The forms of an address, and those of a pattern, in one spelling.

use std::collections::BTreeSet;

use toolcrib_json::invisible::is_unseen;

/// Longest address whose forms are told, in bytes.
const LONGEST: usize = 1_024;
/// Most fields of a query that are told apart.
const MOST_FIELDS: usize = 8;

/// The address with nothing encoded; `None` where nobody can tell what a server makes of it.
pub(super) fn plainly(uri: &str) -> Option<String> {
    let is_legal = |letter: char| {
        !letter.is_whitespace() && !is_unseen(letter) && !"<>\"{}|^`\\".contains(letter)
    };
    if uri.len() > LONGEST || !uri.chars().all(is_legal) {
        return None;
    }
    let decoded = decoded(uri)?;
    let (scheme, rest) = decoded.split_once(':')?;
    let is_scheme = uri.starts_with(scheme)
        && scheme.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && scheme.chars().all(|letter| letter.is_ascii_alphanumeric() || "+-.".contains(letter));
    let is_told = is_scheme
        && !decoded.chars().any(|letter| is_unseen(letter) || is_compatible(letter))
        && !leads_elsewhere(rest)
        && rest.matches(['?', '&']).count() <= MOST_FIELDS
        && encoded_slashes(uri).count() <= MOST_FIELDS
        && !decoded.contains('\\')
        // Encoded twice.
        && self::decoded(&decoded).is_none_or(|again| again == decoded);
    is_told.then_some(decoded)
}

/// Where slashes are encoded.
fn encoded_slashes(uri: &str) -> impl Iterator<Item = usize> {
    (0..uri.len()).filter(move |at| {
        let code = uri.get(*at..).and_then(|rest| rest.get(..3));
        code.is_some_and(|code| code.eq_ignore_ascii_case("%2f"))
    })
}

/// What stands behind each encoded slash, as an address of its own with nothing encoded: some
/// servers take that alone.
pub(super) fn ends(uri: &str) -> Vec<String> {
    let scheme = uri.split(':').next().unwrap_or_default();
    let ends = encoded_slashes(uri).filter_map(|at| decoded(uri.get(at + 3..)?));
    ends.map(|end| format!("{scheme}://{end}")).collect()
}

/// `None`: what is encoded is no text.
fn decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let letter = match after {
            [high, low, after @ ..] if *first == b'%' => hex(*high).zip(hex(*low)).map(|pair| {
                rest = after;
                pair.0 * 16 + pair.1
            }),
            _ => None,
        };
        bytes.push(letter.unwrap_or(*first));
    }
    String::from_utf8(bytes).ok()
}

fn hex(digit: u8) -> Option<u8> {
    let value = char::from(digit).to_digit(16)?;
    u8::try_from(value).ok()
}

/// Letters that some systems take for others, such as those of full width.
fn is_compatible(letter: char) -> bool {
    matches!(letter, '\u{2024}'..='\u{2026}' | '\u{fe50}'..='\u{fe6f}' | '\u{ff00}'..='\u{ffef}')
}

/// Whether a part of it is the one above, or the same.
fn leads_elsewhere(rest: &str) -> bool {
    let mut parts = rest.split(['/', '\\', '?', '#', '&', '=', ';', ':', ',']);
    parts.any(|part| {
        let part = part.trim();
        !part.is_empty() && part.chars().all(|letter| letter == '.')
    })
}

fn host(rest: &str) -> Option<&str> {
    let host = rest.strip_prefix("//")?;
    host.split(['/', '\\', '?', '#']).next()
}

/// What a server may take an address in normal form for.
pub(super) fn forms(normal: &str) -> BTreeSet<String> {
    let normal = normal.to_lowercase();
    let (scheme, rest) = normal.split_once(':').unwrap_or_default();
    let guestless = guestless(rest);
    let mut rests = vec![rest];
    rests.extend(guestless.as_deref());
    if scheme == "file"
        && let Some(host) = host(rest)
    {
        rests.extend(rest.get(2 + host.len()..));
    }
    let mut forms = BTreeSet::new();
    for rest in rests {
        for rest in without_query(rest) {
            for cut in [false, true] {
                let path = path(&rest, cut);
                for path in [named(&path), named(&as_listed(&path))] {
                    forms.extend(
                        ["/", "//", "///"].map(|slashes| format!("{scheme}:{slashes}{path}")),
                    );
                }
            }
        }
    }
    forms
}

/// The rest as it is, without its fragment, without its query, and with each field of that alone.
fn without_query(rest: &str) -> BTreeSet<String> {
    let whole = rest.split('#').next().unwrap_or_default();
    let (path, query) = whole.split_once('?').unwrap_or((whole, ""));
    let fields = query.split('&').filter(|field| !field.is_empty());
    let fields = fields.map(|field| format!("{path}?{field}"));
    [rest, whole, path].map(str::to_owned).into_iter().chain(fields).collect()
}

/// The parts of a path, without blanks and dots at their ends. `cut`: without ports, parameters
/// and streams either.
fn path(rest: &str, cut: bool) -> String {
    let parts = rest.split(['/', '\\']).map(|part| {
        let part = if cut { part.split([':', ';']).next().unwrap_or_default() } else { part };
        part.trim_start().trim_end_matches(|letter: char| letter == '.' || letter.is_whitespace())
    });
    let parts: Vec<_> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("/")
}

/// Without whoever comes to a host, and with what no address holds encoded.
pub(super) fn normal(decoded: &str) -> String {
    let (scheme, rest) = decoded.split_once(':').unwrap_or_default();
    let guestless = guestless(rest).unwrap_or_else(|| rest.to_owned());
    encoded(&format!("{scheme}:{guestless}"), |byte| !byte.is_ascii())
}

/// The same without a user before the host; `None`: there is none.
fn guestless(rest: &str) -> Option<String> {
    let host = host(rest)?;
    let (guest, _) = host.rsplit_once('@')?;
    let rest = rest.get(2 + guest.len() + 1..)?;
    Some(format!("//{rest}"))
}

fn encoded(path: &str, is_more: impl Fn(u8) -> bool) -> String {
    let mut encoded = Vec::with_capacity(path.len());
    for byte in path.bytes() {
        if b" <>\"{}|^`%".contains(&byte) || is_more(byte) {
            encoded.extend(format!("%{byte:02X}").into_bytes());
        } else {
            encoded.push(byte);
        }
    }
    String::from_utf8(encoded).unwrap_or_default()
}

/// As a list may have it: most lists hold no blank.
fn as_listed(path: &str) -> String {
    encoded(path, |_| false).to_lowercase()
}

/// As rules read it: what no name holds is a `_`. Other alphabets have several ways to write one
/// letter, so theirs may be any.
fn named(path: &str) -> String {
    let as_named = |letter: char| match letter {
        _ if !letter.is_ascii() => '*',
        'a'..='z' | '0'..='9' | '_' | '.' | ':' | '/' | '-' => letter,
        _ => '_',
    };
    path.chars().map(as_named).collect()
}

/// The forms of a pattern over names, of which an address may be a part.
pub(super) fn of_pattern(pattern: &str) -> BTreeSet<String> {
    let written = pattern.to_lowercase();
    let decoded = decoded(&written).unwrap_or_else(|| written.clone());
    let mut forms = BTreeSet::new();
    for text in [&written, &decoded.to_lowercase()] {
        for text in [text.clone(), hostless(text)] {
            for cut in [false, true] {
                forms.insert(tidied(&text, cut));
            }
            forms.insert(text);
        }
    }
    let as_named = |letter: char| match letter {
        '*' | '?' => letter,
        _ if !letter.is_ascii() => '*',
        'a'..='z' | '0'..='9' | '_' | '.' | ':' | '/' | '-' => letter,
        _ => '_',
    };
    forms.iter().map(|form| form.chars().map(as_named).collect()).collect()
}

/// Without the host of a file, and without whoever comes to a host.
fn hostless(pattern: &str) -> String {
    let Some((before, rest)) = pattern.split_once("://") else { return pattern.to_owned() };
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    let host = if before.ends_with("file") && !path.is_empty() { "" } else { host };
    format!("{before}://{host}{path}")
}

/// With one slash for several, one behind the scheme, and parts without what `path` takes away.
fn tidied(pattern: &str, cut: bool) -> String {
    let Some((before, rest)) = pattern.split_once(':') else {
        let start = if pattern.starts_with('/') { "/" } else { "" };
        return format!("{start}{}", path(pattern, false));
    };
    format!("{before}:/{}", path(rest, cut))
}
