//! Which file a command means.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::error::SpawnError;

/// Searched when a program was given no `PATH`.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// The absolute path of a command: itself, or the first of that name in `path`.
///
/// Relative folders in `path` are passed over: what they mean depends on where we happen to stand.
pub(crate) fn find(command: &Path, path: Option<&str>) -> Result<PathBuf, SpawnError> {
    let name = command.display().to_string();
    let is_bare = command.file_name() == Some(command.as_os_str());
    let found = if command.is_absolute() {
        may_execute(command)
            .then(|| command.to_path_buf())
            .ok_or(SpawnError::NotExecutable { command: name.clone() })?
    } else if is_bare {
        let path = path.unwrap_or(USUAL_PATH);
        path.split(':')
            .map(Path::new)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(command))
            .find(|file| may_execute(file))
            .ok_or_else(|| SpawnError::NotFound { command: name.clone(), path: path.to_owned() })?
    } else {
        return Err(SpawnError::Relative { command: name });
    };
    if is_text_without_interpreter(&found) {
        return Err(SpawnError::NoInterpreter { command: name });
    }
    Ok(found)
}

fn may_execute(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// The C library hands such a file to `/bin/sh`, and we never start a shell.
///
/// A program has a NUL byte near its beginning; a file that we may not read is left to the kernel.
fn is_text_without_interpreter(file: &Path) -> bool {
    let mut start = Vec::new();
    let read = File::open(file).and_then(|file| file.take(256).read_to_end(&mut start));
    read.is_ok() && !start.starts_with(b"#!") && !start.contains(&0)
}
