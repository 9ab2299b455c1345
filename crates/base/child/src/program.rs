//! What is started: command, arguments, environment, folder, limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use crate::error::SpawnError;
use crate::tag;

/// A program as the operator wrote it down.
///
/// Nothing is read from our own environment: whoever makes a `Program` fills `inherited`.
#[derive(Clone)]
pub struct Program {
    /// An absolute path, or a bare name to be found in the `PATH` of the new environment.
    pub command: PathBuf,
    /// Each reaches the program as one word, whatever it holds.
    pub arguments: Vec<String>,
    /// What the operator named for this program; it wins over `inherited`.
    pub environment: Vec<(String, String)>,
    /// The host's own environment; only what [`INHERITED`] names is passed on.
    pub inherited: Vec<(String, String)>,
    /// Where it runs; without one, in an empty folder that is removed at its end.
    pub folder: Option<PathBuf>,
    pub limits: ProgramLimits,
}

/// What a program, and each that it starts, may use at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramLimits {
    /// Files and sockets open at a time; Node alone needs over a hundred with a few modules.
    pub open_files: u64,
    /// Bytes in one file.
    pub file_size: u64,
    /// Bytes of address space; engines that reserve much and use little (V8, the JVM) need none.
    pub address_space: Option<u64>,
    /// Bytes of its standard error that are kept, the last ones.
    pub stderr: usize,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self { open_files: 1024, file_size: 1 << 30, address_space: None, stderr: 1 << 20 }
    }
}

/// Variables of the host that a program may know; a name that ends in `*` stands for all that
/// begin so.
///
/// They say who the user is, where programs are, and how to write text and time.
/// Whatever could hold a secret or bend a program (proxies, preloads, tokens) must be named for the
/// one program that needs it.
pub const INHERITED: [&str; 11] = [
    "HOME", "LANG", "LANGUAGE", "LC_*", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
];

impl Program {
    /// A program with no variables, a folder of its own and the usual limits.
    pub fn new<A: Into<String>>(
        command: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        Self {
            command: command.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            environment: Vec::new(),
            inherited: Vec::new(),
            folder: None,
            limits: ProgramLimits::default(),
        }
    }

    /// The command for messages.
    pub(crate) fn name(&self) -> String {
        self.command.display().to_string()
    }

    /// The whole environment of the new program, our mark included.
    pub(crate) fn variables(&self) -> BTreeMap<String, String> {
        // A value that begins as an exported function of a shell is a known way to smuggle code.
        let inherited = self
            .inherited
            .iter()
            .filter(|(name, value)| may_inherit(name) && !value.starts_with("()"));
        let mut variables: BTreeMap<String, String> =
            inherited.chain(&self.environment).cloned().collect();
        variables.insert(tag::VARIABLE.to_owned(), tag::ours().to_owned());
        variables
    }

    /// Refuses what the system cannot hand over.
    pub(crate) fn check(&self) -> Result<(), SpawnError> {
        let bad = |what: String| Err(SpawnError::Text { command: self.name(), what });
        for (index, argument) in self.arguments.iter().enumerate() {
            if argument.contains('\0') {
                return bad(format!("argument {}", index + 1));
            }
        }
        for (name, value) in &self.environment {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                return bad(format!("the variable `{}`", name.escape_debug()));
            }
        }
        Ok(())
    }
}

/// Values of variables are secrets more often than not.
impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |list: &[(String, String)]| -> Vec<String> {
            list.iter().map(|(name, _)| name.clone()).collect()
        };
        f.debug_struct("Program")
            .field("command", &self.command)
            .field("arguments", &self.arguments)
            .field("environment", &names(&self.environment))
            .field("inherited", &names(&self.inherited))
            .field("folder", &self.folder)
            .field("limits", &self.limits)
            .finish()
    }
}

fn may_inherit(name: &str) -> bool {
    INHERITED.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}
