//! The tests of the suite, as its files have them.

mod yaml;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The file that names the others.
const MASTER: &str = "suite.acts.yaml";
/// Bytes of a file.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// How much a test counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ActsLevel {
    Must,
    Should,
    May,
}

impl ActsLevel {
    pub const ALL: [Self; 3] = [Self::Must, Self::Should, Self::May];

    pub fn word(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
        }
    }
}

/// One test. Its steps stay as they are written.
#[derive(Debug, Clone)]
pub(super) struct ActsTest {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) level: ActsLevel,
    /// Bindings it is of; of all if there is none.
    pub(super) bindings: Vec<String>,
    /// What the card must say of its capabilities.
    pub(super) capabilities: Map<String, Value>,
    /// Beginnings of messages that the agent must know.
    pub(super) behaviours: Vec<String>,
    pub(super) steps: Vec<Value>,
    pub(super) variables: Map<String, Value>,
}

impl ActsTest {
    /// Whether it judges a client.
    pub(super) fn is_of_clients(&self) -> bool {
        self.steps.iter().any(|step| step.get("client_response").is_some())
    }

    /// The text of all its steps, to look for a word in.
    pub(super) fn names(&self, variable: &str) -> bool {
        let word = format!("{{{{{variable}}}}}");
        self.steps.iter().any(|step| step.to_string().contains(&word))
    }
}

/// What is wrong with a suite, and where.
#[derive(Debug)]
pub struct SuiteFault {
    place: PathBuf,
    why: String,
}

impl fmt::Display for SuiteFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.place.display(), self.why)
    }
}

impl std::error::Error for SuiteFault {}

/// All tests of a folder, in its order: by its `suite.acts.yaml`, else by the names of the files.
pub(super) fn read(folder: &Path) -> Result<Vec<ActsTest>, SuiteFault> {
    let mut tests = Vec::new();
    for file in files(folder)? {
        let at = |why: String| SuiteFault { place: file.clone(), why };
        let document = document(&file)?;
        let variables = map(&document, "variables");
        for suite in list(&document, "suites") {
            for (index, test) in list(suite, "tests").iter().enumerate() {
                let read = test_of(test, &variables);
                tests.push(read.map_err(|why| at(format!("test {}: {why}", index + 1)))?);
            }
        }
    }
    let mut seen = BTreeSet::new();
    let twice = tests.iter().find(|test| !seen.insert(test.id.clone()));
    let fault = |why| SuiteFault { place: folder.to_owned(), why };
    if let Some(test) = twice {
        return Err(fault(format!("two tests are `{}`", test.id)));
    }
    if tests.is_empty() {
        return Err(fault("it has no tests".to_owned()));
    }
    Ok(tests)
}

fn files(folder: &Path) -> Result<Vec<PathBuf>, SuiteFault> {
    let master = folder.join(MASTER);
    if master.exists() {
        let document = document(&master)?;
        // A name that leads elsewhere is no name of a file of the suite.
        let named = texts(&document, "include").into_iter();
        let named = named.filter(|name| !name.contains(['/', '\\']));
        return Ok(named.map(|name| folder.join(name)).collect());
    }
    let fault = |error: std::io::Error| SuiteFault {
        place: folder.to_owned(),
        why: format!("it cannot be read ({error}): name the folder of the suite with `--suite`"),
    };
    let entries = std::fs::read_dir(folder).map_err(fault)?;
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.to_string_lossy().ends_with(".acts.yaml"));
    files.sort();
    Ok(files)
}

fn document(file: &Path) -> Result<Value, SuiteFault> {
    let fault = |why: String| SuiteFault { place: file.to_owned(), why };
    let length = std::fs::metadata(file).map_err(|error| fault(error.to_string()))?.len();
    if length > MOST_BYTES {
        return Err(fault(format!("it is larger than {MOST_BYTES} bytes")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| fault(error.to_string()))?;
    yaml::read(&text).map_err(fault)
}

fn test_of(test: &Value, variables: &Map<String, Value>) -> Result<ActsTest, String> {
    let id = test.get("id").and_then(Value::as_str).ok_or("it has no `id`")?.to_owned();
    let level = test.get("level").and_then(Value::as_str).unwrap_or_default();
    let level = ActsLevel::ALL.into_iter().find(|known| known.word() == level);
    let level = level.ok_or_else(|| format!("`level` of `{id}` is none of must, should, may"))?;
    let steps = list(test, "steps").to_vec();
    if steps.is_empty() {
        return Err(format!("`{id}` has no `steps`"));
    }
    Ok(ActsTest {
        name: test.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
        level,
        bindings: texts(test, "transport"),
        capabilities: test.get("preconditions").map_or_else(Map::new, |it| map(it, "capabilities")),
        behaviours: texts(test, "requires_behaviors"),
        steps,
        variables: variables.clone(),
        id,
    })
}

fn list<'v>(value: &'v Value, field: &str) -> &'v [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn texts(value: &Value, field: &str) -> Vec<String> {
    list(value, field).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn map(value: &Value, field: &str) -> Map<String, Value> {
    value.get(field).and_then(Value::as_object).cloned().unwrap_or_default()
}
