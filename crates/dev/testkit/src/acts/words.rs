//! The command line, and the page that teaches it.

use std::path::PathBuf;
use std::time::Duration;

use http::HeaderMap;
use url::Url;

use super::agent::ActsCallers;
use super::binding::ActsBinding;
use super::special::ActsWishes;
use super::wire;

pub(super) const PAGE: &str = "\
a2a-acts runs the conformance tests of the Agent2Agent protocol (ACTS) against an agent.

usage: a2a-acts ADDRESS [options]
       a2a-acts [options] --client PROGRAM [WORD ...]

ADDRESS is where the agent's card is: `http://127.0.0.1:7411` for
`http://127.0.0.1:7411/.well-known/agent-card.json`, or the address of a card that ends in
`.json`. The card says which bindings there are and where.

The agent must know the messages of the tests. A message that begins with one of these words
wants:

  tck-complete-task     a task that is completed with a text
  tck-artifact-text     the same, with an artifact of text
  tck-artifact-data     ... of data; tck-artifact-file, tck-artifact-file-url: of a file
  tck-message-response  a message, and no task
  tck-multi-turn        a task that asks for input until it is told `done`
  tck-long-running      a task that works for some seconds and is then completed
  tck-cancel            a task that works until it is cancelled
  tck-stream-basic      a stream: working, an artifact, completed
  tck-stream-chunked    a stream with an artifact in several pieces
  tck-task-failure      a task that fails and says why
  tck-auth-required     a task that asks for authorisation

What an agent does not do is named by `--lacks`; its tests are then skipped, not failed.

options:
  --header 'NAME: VALUE'  sent with every request (may be repeated), as
                          'Authorization: Bearer TOKEN'
  --other 'NAME: VALUE'   the same of a second caller, whose tasks the first must not see
  --weak TOKEN            a bearer token that is valid and may do too little
  --lacks BEHAVIOUR       the agent does not know this word (may be repeated)
  --transport WAY         jsonrpc or rest; without it, each that the card offers
  --version VERSION       of the protocol, as card and header say it (1.0)
  --at URL                the place of the binding, instead of the one in the card; needs
                          --transport
  --only ID               tests whose name begins so (may be repeated)
  --suite FOLDER          the files of the suite: `tests/acts` of the branch
                          `conformance-spec` of github.com/a2aproject/A2A
  --patience SECONDS      for one answer, also a streamed one (60)
  --json                  the report for programs
  --client PROGRAM ...    judges a client. The program is started once for each test, with an
                          address and an operation (`send_message`, `get_task`,
                          `get_agent_card`) behind its words; it asks there, and writes what it
                          read as JSON: the answer, or `{\"error\": {\"code\": …, \"message\": …}}`

exit code: 0 if no `must` failed, 1 if one did, 2 if the tests could not be run.
";

/// What is asked for.
#[derive(Debug)]
pub(super) struct ActsWords {
    pub(super) address: Option<Url>,
    pub(super) at: Option<Url>,
    pub(super) client: Vec<String>,
    pub(super) callers: ActsCallers,
    pub(super) wishes: ActsWishes,
    pub(super) bindings: Vec<ActsBinding>,
    pub(super) version: String,
    pub(super) only: Vec<String>,
    pub(super) suite: PathBuf,
    pub(super) patience: Duration,
    pub(super) is_json: bool,
}

impl ActsWords {
    /// What the words say; nothing if they ask for the page.
    pub(super) fn read(words: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut read = Self::bare();
        let mut own = Vec::new();
        let mut other = Vec::new();
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
                "--header" => own.push(value()?),
                "--other" => other.push(value()?),
                "--weak" => read.wishes.weak = Some(value()?),
                "--lacks" => read.wishes.lacks.push(value()?),
                "--only" => read.only.push(value()?),
                "--version" => read.version = value()?,
                "--suite" => read.suite = value()?.into(),
                "--at" => read.at = Some(address(&value()?)?),
                "--transport" => read.bindings = vec![binding(&value()?)?],
                "--patience" => read.patience = seconds(&value()?)?,
                "--client" => {
                    read.client.push(value()?);
                    read.client.extend(words.by_ref());
                }
                _ if name.starts_with('-') => return Err(format!("there is no option `{name}`")),
                _ if read.address.is_none() => read.address = Some(address(&word)?),
                _ => return Err(format!("`{word}` is one word too many")),
            }
        }
        read.callers.own = headers(&own)?;
        read.callers.other = (!other.is_empty()).then(|| headers(&other)).transpose()?;
        if read.address.is_none() == read.client.is_empty() {
            return Err("name the address of an agent, or a client with `--client`".to_owned());
        }
        if read.at.is_some() && read.bindings.len() != 1 {
            return Err("`--at` needs `--transport`: a place is of one binding".to_owned());
        }
        Ok(Some(read))
    }

    fn bare() -> Self {
        let suite = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/data/a2a/acts");
        Self {
            address: None,
            at: None,
            client: Vec::new(),
            callers: ActsCallers { own: HeaderMap::new(), other: None },
            wishes: ActsWishes::default(),
            bindings: ActsBinding::ALL.to_vec(),
            version: "1.0".to_owned(),
            only: Vec::new(),
            suite: suite.into(),
            patience: Duration::from_mins(1),
            is_json: false,
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

fn binding(word: &str) -> Result<ActsBinding, String> {
    let known = ActsBinding::ALL.into_iter().find(|known| known.word() == word);
    known.ok_or_else(|| format!("`{word}` is no way that is spoken here: jsonrpc or rest"))
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (1..=3600).contains(seconds));
    let seconds = seconds.ok_or_else(|| format!("`{text}`: write 1 to 3600 seconds"))?;
    Ok(Duration::from_secs(seconds))
}

fn headers(lines: &[String]) -> Result<HeaderMap, String> {
    let mut pairs = Vec::new();
    for line in lines {
        let wrong = "a header is written as `NAME: VALUE`".to_owned();
        pairs.push(line.split_once(':').ok_or(wrong)?);
    }
    wire::headers(pairs)
}

#[cfg(test)]
mod tests {
    use super::ActsWords;

    fn read(line: &str) -> Result<Option<ActsWords>, String> {
        ActsWords::read(line.split(' ').map(str::to_owned))
    }

    #[test]
    fn words_are_read_and_what_is_wrong_with_them_is_told() {
        let words = read("127.0.0.1:7411 --header=X-A:1 --only CORE --json").unwrap().unwrap();
        assert_eq!(words.address.as_ref().unwrap().as_str(), "http://127.0.0.1:7411/");
        assert_eq!(words.callers.own.get("x-a").unwrap(), "1");
        assert!(words.is_json && words.wants("CORE-1") && !words.wants("CARD-1"));
        assert!(read("--help").unwrap().is_none());
        let client = read("--client python agent.py --json").unwrap().unwrap();
        assert_eq!(client.client, ["python", "agent.py", "--json"]);
        for (line, why) in [
            ("--only", "`--only` needs a value"),
            ("--what", "there is no option `--what`"),
            ("a b", "`b` is one word too many"),
            ("--json", "name the address of an agent, or a client with `--client`"),
            ("a --at http://b", "`--at` needs `--transport`: a place is of one binding"),
            ("a --transport grpc", "`grpc` is no way that is spoken here: jsonrpc or rest"),
            ("a --patience 0", "`0`: write 1 to 3600 seconds"),
            ("a --header b", "a header is written as `NAME: VALUE`"),
        ] {
            assert_eq!(read(line).unwrap_err(), why, "{line}");
        }
    }
}
