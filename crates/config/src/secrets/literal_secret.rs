//! Texts that look like a secret that somebody wrote down.

use url::Url;

/// How tokens of well-known services begin, and how long they are at least.
const SHAPES: [(&str, usize); 14] = [
    ("sk-", 20),
    ("sk_live_", 16),
    ("rk_live_", 16),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghs_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("xoxb-", 16),
    ("xoxp-", 16),
    ("xapp-", 16),
    ("AKIA", 20),
    ("AIza", 30),
    ("eyJ", 40),
];

/// Parts of names of what is secret.
const NAMES: [&str; 13] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "accesskey",
    "privatekey",
    "authorization",
    "credential",
    "cookie",
    "bearer",
    "webhook",
];

/// Keys whose values look like secrets, and are none.
pub(crate) const HARMLESS: [&str; 5] = ["client_id", "scopes", "input_schema", "keys", "limits"];

/// Keys that sound as if a secret stood there.
const PLACES: [&str; 2] = ["tokens", "token_url"];

/// Shortest text that is judged by its letters alone.
const SHORTEST: usize = 20;

/// Whether a text that stands where a secret may stand is one.
pub(crate) fn looks_secret(name: &str, text: &str) -> bool {
    has_known_shape(text)
        || has_login(text)
        || (names_secret(name) && !is_plain(text))
        || text.split_whitespace().any(is_random)
        || holds_named(text)
        || has_random_path(text)
}

/// Whether a secret stands word for word at a place of a file that has this name. What stands beside
/// references is judged without the name, which is about the whole.
pub(crate) fn is_literal_secret(name: &str, text: &str) -> bool {
    let (mut beside, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("${") {
        beside.push_str(before);
        beside.push(' ');
        rest = after.split_once('}').map_or("", |(_, after)| after);
    }
    if rest.len() < text.len() {
        return looks_secret("", (beside + rest).trim());
    }
    let name = if PLACES.contains(&name) { "" } else { name };
    looks_secret(name, text) || Url::parse(text).is_ok_and(|url| holds_secret(&url))
}

/// Whether an address holds a login, or a secret among its parameters.
pub(crate) fn holds_secret(url: &Url) -> bool {
    let is_secret = |name: &str, value: &str| names_secret(name) || looks_secret(name, value);
    !url.username().is_empty()
        || url.password().is_some()
        || url.query_pairs().any(|(name, value)| is_secret(&name, &value))
}

/// Whether a value under a secret's name stands within: `Server=db;Password=..`, `API_KEY=..`,
/// `Authorization: ..`, `{"private_key": ".."}`, `https://host/?token=..`.
fn holds_named(text: &str) -> bool {
    let bare = |text: &'_ str| text.trim().trim_matches(['"', '\'']).to_owned();
    text.split([';', '&', '?', ',', '{', '}', '\n']).any(|part| {
        let pair = part.split_once(['=', ':']).map(|(name, value)| (bare(name), bare(value)));
        pair.is_some_and(|(name, value)| {
            names_secret(&name) && !value.starts_with("//") && !is_plain(&value)
        })
    })
}

/// An address whose path is what opens it, as those of webhooks are.
pub(crate) fn has_random_path(text: &str) -> bool {
    let path = text.split_once("://").and_then(|(_, rest)| rest.split_once('/'));
    path.is_some_and(|(_, path)| path.split(['/', '?', '&', '=', '#']).any(is_random))
}

/// Whether a part of a text has the form of a well-known service's token.
pub(crate) fn has_known_shape(text: &str) -> bool {
    let is_end = |letter: char| !(letter.is_ascii_alphanumeric() || "_-.".contains(letter));
    text.split(is_end).any(|word| {
        SHAPES.iter().any(|(start, shortest)| word.starts_with(start) && word.len() >= *shortest)
    }) || text.contains("PRIVATE KEY-----")
}

/// Whether a name says that its value is secret.
pub(crate) fn names_secret(name: &str) -> bool {
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    let last = name.rsplit(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase();
    NAMES.iter().any(|part| letters.contains(part))
        || ["key", "pass", "pwd", "auth", "pat", "dsn"].contains(&last.as_str())
}

/// Whether an argument looks like a secret by itself, or by the option that it belongs to.
pub(crate) fn argument_is_secret(before: &str, word: &str) -> bool {
    let (option, value) = match word.split_once('=').filter(|_| word.starts_with('-')) {
        Some((option, value)) => (option, value),
        None => (before, word),
    };
    let is_named = option.starts_with('-') && names_secret(option);
    looks_secret("", value) || (is_named && !value.starts_with('-'))
}

/// `scheme://user:password@host`.
fn has_login(text: &str) -> bool {
    let Some((_, rest)) = text.split_once("://") else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    host.rsplit_once('@').is_some_and(|(login, _)| {
        login.split_once(':').is_some_and(|(_, password)| !password.is_empty())
    })
}

/// Words that nobody takes for a secret, whatever they stand under.
fn is_plain(text: &str) -> bool {
    text.len() < 4
        || ["true", "false", "none", "null", "bearer", "basic"]
            .contains(&text.to_ascii_lowercase().as_str())
        || text.starts_with(['/', '.', '~'])
}

/// Letters and digits in an order that no word has: more than 3.5 bits for each (Shannon).
fn is_random(word: &str) -> bool {
    let token = |letter: u8| letter.is_ascii_alphanumeric() || b"_-+/=.".contains(&letter);
    let is_path = word.starts_with(['/', '.', '~']) || word.matches('/').count() > 2;
    let mixed = word.bytes().any(|letter| letter.is_ascii_digit())
        && word.bytes().any(|letter| letter.is_ascii_alphabetic());
    if word.len() < SHORTEST || !word.bytes().all(token) || is_path || !mixed {
        return false;
    }
    let mut counts = [0_u32; 256];
    let length = f64::from(u32::try_from(word.len()).unwrap_or(u32::MAX));
    for letter in word.bytes() {
        if let Some(count) = counts.get_mut(usize::from(letter)) {
            *count += 1;
        }
    }
    let shares = counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / length);
    let bits: f64 = shares.map(|share| -share * share.log2()).sum();
    bits > 3.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_told_from_other_texts() {
        let secrets = [
            ("X", "sk-proj-abcdefghijklmnopqrst"),
            ("X", "Bearer ghp_0123456789abcdefghij"),
            ("X", "postgres://ann:hunter2@db/crib"),
            ("API_KEY", "hunter2"),
            ("DB_PASS", "hunter2"),
            ("Authorization", "Basic YW5uOmh1bnRlcjI="),
            ("X", "q7Zr2Kp9Lx4Tn8Vb3Ws6"),
            ("X", "-----BEGIN PRIVATE KEY-----"),
            ("X", "Server=db;User Id=sa;Password=hunter2;"),
            ("X", "{\"type\": \"x\", \"private_key\": \"hunter2\"}"),
            ("X", "GITHUB_TOKEN=hunter2"),
            ("X", "Authorization: Bearer hunter2"),
            ("X", "https://example.com/?page=1&token=hunter2"),
            ("X", "https://hooks.example.com/services/T0/q7Zr2Kp9Lx4Tn8Vb3Ws6"),
        ];
        for (name, text) in secrets {
            assert!(looks_secret(name, text), "{name}: {text}");
        }
        let others = [
            ("X", "production"),
            ("DEBUG", "1"),
            ("HOME", "/home/ann/projects/2026/a-long-name"),
            ("URL", "https://api.example.com/v1/things/2026"),
            ("MONKEY", "banana"),
            ("TOKEN_FILE", "/run/secrets/token"),
            ("NAMES", "a-rather-long-name-of-words"),
            ("X", "sk-short"),
            ("X", "KEY_FILE=/run/secrets/key"),
            ("X", "Authorization: Bearer "),
            ("X", "host=db;port=5432"),
        ];
        for (name, text) in others {
            assert!(!looks_secret(name, text), "{name}: {text}");
        }
    }
}
