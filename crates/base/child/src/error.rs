//! Why a program could not be started.

use std::io;
use std::path::PathBuf;

/// Why a program could not be started: what was asked for, and what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// A bare name that no folder of `PATH` holds.
    #[error("cannot find `{command}` in the PATH `{path}`: install it, or give its absolute path")]
    NotFound { command: String, path: String },
    /// `./program` could mean several folders.
    #[error("`{command}` is neither a bare name nor an absolute path: give the absolute path")]
    Relative { command: String },
    /// The file is not there, or may not be executed.
    #[error("cannot execute `{command}`: it must be a file that this user may execute")]
    NotExecutable { command: String },
    /// A text file without a `#!` line, which libraries would hand to a shell.
    #[error(
        "`{command}` is neither a program nor a script that names its interpreter: \
         give it a first line such as `#!/bin/sh`"
    )]
    NoInterpreter { command: String },
    /// A NUL byte anywhere, or `=` in the name of a variable.
    #[error(
        "{what} of `{command}` cannot be given to a program: remove NUL bytes, and `=` in names"
    )]
    Text { command: String, what: String },
    /// The working folder cannot be made or entered.
    #[error("cannot use the folder `{}` for `{command}`: it must exist and be writable", folder.display())]
    Folder { command: String, folder: PathBuf, source: io::Error },
    /// The system refused: too many processes, no memory, an interpreter that is not there.
    #[error(
        "cannot start `{command}`: check that its interpreter exists and limits are not reached"
    )]
    Start { command: String, source: io::Error },
}
