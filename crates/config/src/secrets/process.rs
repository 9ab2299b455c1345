//! What a configuration may have of the process that opens it: its environment and its files.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

use super::template::SecretLookup;

/// More than any secret has, in bytes: whoever takes it refuses it as too long.
const LARGEST_SECRET: u64 = 1024 * 1024;

/// Secrets from the environment and the files of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessLookup;

impl SecretLookup for ProcessLookup {
    #[expect(clippy::disallowed_methods, reason = "it hands in the process on purpose")]
    fn env(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }

    fn file(&self, path: &Path) -> io::Result<String> {
        let mut text = String::new();
        open_ordinary_file(path)?.take(LARGEST_SECRET).read_to_string(&mut text)?;
        Ok(text)
    }

    #[cfg(unix)]
    fn is_open_to_others(&self, path: &Path) -> bool {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
    }
}

/// Opens what ends: a file, or a pipe that a shell has filled (`<(..)`).
pub fn open_ordinary_file(path: &Path) -> io::Result<File> {
    let refused = |why| Err(io::Error::new(ErrorKind::InvalidInput, why));
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return refused("it is a folder");
    }
    // A named pipe without a writer keeps whoever opens it for ever; one of a shell has no name
    // and its writer is there.
    let is_of_shell = ["/dev/fd/", "/proc/self/fd/"].iter().any(|at| path.starts_with(at));
    if !kind.is_file() && !is_of_shell {
        return refused("it is no ordinary file");
    }
    File::open(path)
}

/// What a child may know of where it runs: nothing of it is a secret.
const HARMLESS: [&str; 10] =
    ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ"];

/// The harmless part of the environment, by name and value.
#[expect(clippy::disallowed_methods, reason = "it hands in the process on purpose")]
pub fn inherited_variables() -> Vec<(String, String)> {
    let value = |name: &&str| Some(((*name).to_owned(), std::env::var(name).ok()?));
    HARMLESS.iter().filter_map(value).collect()
}
