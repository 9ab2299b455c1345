//! A folder of one test.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder in the temporary one that goes away with its test; no two of a run are the same.
#[derive(Debug)]
pub struct TestFolder(PathBuf);

impl TestFolder {
    /// Makes an empty one.
    ///
    /// # Panics
    ///
    /// If the temporary folder cannot be written.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "a new one is another one each time")]
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolcrib-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        // One of an earlier process with our number was left by a kill.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)
            .unwrap_or_else(|error| unreachable!("cannot make `{}`: {error}", folder.display()));
        Self(folder)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in it, and tells where that is.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let file = self.0.join(name);
        std::fs::write(&file, text)
            .unwrap_or_else(|error| unreachable!("cannot write `{}`: {error}", file.display()));
        file
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // What is left is the system's to clear away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
