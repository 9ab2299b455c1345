//! Files in another language, told once and not by each of their lines.

use crate::import::comments;

/// What to say of a text that is no TOML.
pub(crate) struct FormatHint {
    /// Where it begins, in bytes.
    pub(crate) at: usize,
    pub(crate) message: &'static str,
    pub(crate) cure: &'static str,
}

/// Which other language a text is in that could not be read; `None` if it may well be TOML with
/// a fault.
pub(crate) fn find(text: &str) -> Option<FormatHint> {
    let plain = comments::without(text);
    if let Some(at) = plain.find(|letter: char| !letter.is_whitespace() && letter != '\u{feff}')
        && plain.get(at..).is_some_and(|text| text.starts_with('{'))
    {
        let message = "this is JSON, and a crib.toml is TOML";
        let cure = "if it lists the servers of another program, `toolcrib import` takes it over";
        return Some(FormatHint { at, message, cure });
    }
    let is_yaml = text.lines().any(is_yaml) && !text.lines().any(is_toml);
    let message = "this is YAML, and a crib.toml is TOML";
    let cure = "write it anew: `[[source]]` on a line, below it `id = \"name\"` and \
                `mcp = { command = [\"program\"] }`";
    is_yaml.then(|| FormatHint { at: start(text), message, cure })
}

/// Where the first line begins that is no remark.
fn start(text: &str) -> usize {
    let is_remark = |line: &&str| line.trim().is_empty() || line.trim().starts_with('#');
    text.split_inclusive('\n').take_while(is_remark).map(str::len).sum()
}

/// `---`, `key:` and `key: value`, also in a list.
fn is_yaml(line: &str) -> bool {
    let line = line.trim();
    let line = line.strip_prefix("- ").unwrap_or(line);
    line == "---"
        || line.split_once(':').is_some_and(|(key, rest)| {
            is_key(key) && (rest.is_empty() || rest.starts_with(char::is_whitespace))
        })
}

/// `[table]` and `key = value`.
fn is_toml(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('[') || line.split_once('=').is_some_and(|(key, _)| is_key(key.trim_end()))
}

fn is_key(text: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.\"'".contains(&byte);
    !text.is_empty() && text.bytes().all(letter)
}
