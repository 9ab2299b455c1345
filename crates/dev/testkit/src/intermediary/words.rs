//! The command line, and the page that teaches it.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

pub(super) const PAGE: &str = "\
mcp-intermediary-suite judges a gateway of MCP from both ends: by what its clients see, and by what
the server behind it sees.

usage: mcp-intermediary-suite ADDRESS [options]
       mcp-intermediary-suite relay UPSTREAM
       mcp-intermediary-suite --list

ADDRESS is where the gateway serves MCP over HTTP: `http://127.0.0.1:7411/mcp`. Start this program
first, and then the gateway, with one server behind it: the fixture that this program is.

  over HTTP    http://127.0.0.1:7499/mcp
  over stdio   the program `mcp-intermediary-suite relay 127.0.0.1:7499`

The gateway lets every tool of the fixture be called without asking anybody, and may put a prefix
before the names. The fixture speaks 2025-11-25 and 2026-07-28.

options:
  --upstream UPSTREAM     where the fixture listens (127.0.0.1:7499)
  --revision REVISION     2025-11-25 or 2026-07-28; without it, both
  --header 'NAME: VALUE'  sent with every request (may be repeated), as
                          'Authorization: Bearer TOKEN'
  --other 'NAME: VALUE'   the same of a second caller, who must not come into the first's session
  --lacks FEATURE         the gateway does not have this; its checks are skipped, not failed (may
                          be repeated). `--list` tells which check is of which feature
  --only ID               checks whose name begins so (may be repeated)
  --patience SECONDS      for one answer, and for the gateway to be there (20)
  --json                  the report for programs
  --list                  the checks, and what each rests on

exit code: 0 if no `must` failed, 1 if one did, 2 if the checks could not be run.
";

/// The revisions of the protocol that are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntermediaryRevision {
    /// 2025-11-25: sessions, and a server that asks.
    Older,
    /// 2026-07-28: no sessions, and results that ask.
    Newer,
}

impl IntermediaryRevision {
    pub const ALL: [Self; 2] = [Self::Older, Self::Newer];

    pub fn word(self) -> &'static str {
        match self {
            Self::Older => "2025-11-25",
            Self::Newer => "2026-07-28",
        }
    }
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct IntermediaryWords {
    pub(super) address: Option<Url>,
    pub(super) upstream: String,
    pub(super) revisions: Vec<IntermediaryRevision>,
    pub(super) own: HeaderMap,
    pub(super) other: Option<HeaderMap>,
    pub(super) lacks: Vec<String>,
    pub(super) only: Vec<String>,
    pub(super) patience: Duration,
    pub(super) is_json: bool,
    pub(super) lists: bool,
}

impl IntermediaryWords {
    /// What the words say; nothing if they ask for the page.
    pub(super) fn read(words: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut read = Self::bare();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) if name.starts_with("--") => (name, Some(value.to_owned())),
                _ => (word.as_str(), None),
            };
            let mut value = || {
                let value = joined.clone().or_else(|| words.next());
                value.ok_or_else(|| format!("`{name}` needs a value"))
            };
            match name {
                "--help" | "-h" | "help" => return Ok(None),
                "--json" => read.is_json = true,
                "--list" => read.lists = true,
                "--upstream" => read.upstream = value()?,
                "--header" => header(&value()?, &mut read.own)?,
                "--other" => header(&value()?, read.other.get_or_insert_default())?,
                "--lacks" => read.lacks.push(value()?),
                "--only" => read.only.push(value()?),
                "--revision" => read.revisions.push(revision(&value()?)?),
                "--patience" => read.patience = seconds(&value()?)?,
                _ if name.starts_with('-') => return Err(format!("there is no option `{name}`")),
                _ if read.address.is_none() => read.address = Some(address(&word)?),
                _ => return Err(format!("`{word}` is one word too many")),
            }
        }
        if read.revisions.is_empty() {
            read.revisions = IntermediaryRevision::ALL.to_vec();
        }
        if read.address.is_none() && !read.lists {
            return Err("name the address of a gateway".to_owned());
        }
        Ok(Some(read))
    }

    fn bare() -> Self {
        Self {
            address: None,
            upstream: "127.0.0.1:7499".to_owned(),
            revisions: Vec::new(),
            own: HeaderMap::new(),
            other: None,
            lacks: Vec::new(),
            only: Vec::new(),
            patience: Duration::from_secs(20),
            is_json: false,
            lists: false,
        }
    }

    pub(super) fn wants(&self, id: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| id.starts_with(only.as_str()))
    }
}

fn address(text: &str) -> Result<Url, String> {
    let with_scheme = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
    Url::parse(&with_scheme).map_err(|error| format!("`{text}` is no address: {error}"))
}

fn revision(word: &str) -> Result<IntermediaryRevision, String> {
    let known = IntermediaryRevision::ALL.into_iter().find(|known| known.word() == word);
    known.ok_or_else(|| format!("`{word}` is not judged here: 2025-11-25 or 2026-07-28"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("`{text}`: write 1 to 3600 seconds"))?;
    Ok(Duration::from_secs(seconds))
}

fn header(line: &str, headers: &mut HeaderMap) -> Result<(), String> {
    let (name, value) = line.split_once(':').ok_or("a header is written as `NAME: VALUE`")?;
    let wrong = || format!("HTTP carries no header `{name}` with such a value");
    let known = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
    headers.insert(known, HeaderValue::from_str(value.trim()).map_err(|_| wrong())?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{IntermediaryRevision, IntermediaryWords};

    fn read(line: &str) -> Result<Option<IntermediaryWords>, String> {
        IntermediaryWords::read(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn words_are_read_and_what_is_wrong_with_them_is_told() {
        let line = "127.0.0.1:7411/mcp --header=X-A:1 --only CALL --revision 2026-07-28 --json";
        let words = read(line).unwrap().unwrap();
        assert_eq!(words.address.as_ref().unwrap().as_str(), "http://127.0.0.1:7411/mcp");
        assert!(words.own.get("x-a").unwrap() == "1" && words.other.is_none());
        assert_eq!(words.revisions, [IntermediaryRevision::Newer]);
        assert!(words.is_json && words.wants("CALL-1") && !words.wants("LIST-1"));
        assert!(read("--help").unwrap().is_none() && read("--list").unwrap().unwrap().lists);
        for (line, why) in [
            ("--only", "`--only` needs a value"),
            ("--what", "there is no option `--what`"),
            ("a b", "`b` is one word too many"),
            ("--json", "name the address of a gateway"),
            (
                "a --revision 2024-11-05",
                "`2024-11-05` is not judged here: 2025-11-25 or 2026-07-28",
            ),
            ("a --patience 0", "`0`: write 1 to 3600 seconds"),
            ("a --header b", "a header is written as `NAME: VALUE`"),
        ] {
            assert_eq!(read(line).unwrap_err(), why, "{line}");
        }
    }
}
