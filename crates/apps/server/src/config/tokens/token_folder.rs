//! The tokens of the folder as they were read last: a file is opened when it is new or another, and
//! what cannot be read for want of descriptors stays as it was.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use toolcrib_core::Secret;

use super::token_file::read;

/// What was changed so short a time ago may have been changed once more within one tick of the
/// clock of its file system.
const SETTLED: Duration = Duration::from_secs(3);

/// Files of a folder that are looked at.
const MOST: usize = 1000;

/// A token and whose it is.
#[derive(Clone)]
pub(crate) struct CallerToken {
    pub(crate) name: String,
    pub(crate) token: Secret,
}

/// All tokens of a folder.
pub(crate) struct TokenFolder {
    folder: PathBuf,
    /// Of the folder when its names were read; `None`: they are to be read.
    stamp: Option<FileStamp>,
    files: BTreeMap<String, TokenFile>,
}

/// What was found at a look.
pub(crate) struct TokenScan {
    pub(crate) keys: Vec<CallerToken>,
    /// Why some are left out, or may be old.
    pub(crate) problems: Vec<String>,
    /// There may be tokens that nobody could read now.
    pub(crate) is_partial: bool,
}

struct TokenFile {
    /// Of the file when it was read; `None`: it is to be read.
    stamp: Option<FileStamp>,
    token: Result<Secret, String>,
}

/// What is another where a file is another, or who may read it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    changed: SystemTime,
    length: u64,
    #[cfg(unix)]
    inode: (u64, i64, i64, u32),
}

impl TokenFolder {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), stamp: None, files: BTreeMap::new() }
    }

    /// Looks what is new. Where nothing is, no file is opened.
    pub(crate) fn look(&mut self) -> TokenScan {
        let mut problems = Vec::new();
        let mut is_partial = false;
        match self.names() {
            Ok(()) => {}
            Err(error) => {
                is_partial = is_scarce(&error);
                if !is_partial {
                    self.files.clear();
                }
                problems.push(format!("cannot read `{}`: {error}", self.folder.display()));
            }
        }
        let folder = &self.folder;
        self.files.retain(|name, entry| entry.look(&folder.join(name), &mut is_partial));
        let mut keys = Vec::new();
        for (name, entry) in &self.files {
            match &entry.token {
                Ok(token) => keys.push(CallerToken { name: name.clone(), token: token.clone() }),
                Err(problem) => problems.push(problem.clone()),
            }
        }
        TokenScan { keys, problems, is_partial }
    }

    /// Reads the names anew if there may be others.
    fn names(&mut self) -> io::Result<()> {
        let now = FileStamp::of(&fs::metadata(&self.folder)?);
        if self.stamp.is_some() && self.stamp == now.settled() {
            return Ok(());
        }
        self.stamp = None;
        let mut files = BTreeMap::new();
        for entry in fs::read_dir(&self.folder)?.take(MOST) {
            let Ok(name) = entry?.file_name().into_string() else { continue };
            // What is being made is no token yet.
            if !name.starts_with('.') {
                let entry = self.files.remove(&name).unwrap_or_else(TokenFile::unread);
                files.insert(name, entry);
            }
        }
        self.files = files;
        self.stamp = now.settled();
        Ok(())
    }
}

impl TokenFile {
    fn unread() -> Self {
        Self { stamp: None, token: Err(String::new()) }
    }

    /// Reads the file anew if it may be another; `false`: it is gone.
    fn look(&mut self, path: &Path, is_partial: &mut bool) -> bool {
        let now = match fs::metadata(path) {
            Ok(found) => FileStamp::of(&found),
            Err(error) => return !matches!(error.kind(), io::ErrorKind::NotFound),
        };
        if self.stamp.is_some() && self.stamp == now.settled() {
            return true;
        }
        match read(path) {
            Ok(token) => *self = Self { stamp: now.settled(), token: Ok(token) },
            Err(error) if error.chain().any(is_scarce_cause) => {
                *is_partial = true;
                self.stamp = None;
                // One that was read before is good until it can be read again.
                if self.token.is_err() {
                    self.token = Err(format!("{error:#}"));
                }
            }
            Err(error) => *self = Self { stamp: now.settled(), token: Err(format!("{error:#}")) },
        }
        true
    }
}

impl FileStamp {
    fn of(found: &Metadata) -> Self {
        Self {
            changed: found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
            length: found.len(),
            #[cfg(unix)]
            inode: {
                use std::os::unix::fs::MetadataExt as _;
                (found.ino(), found.ctime(), found.ctime_nsec(), found.mode())
            },
        }
    }

    /// `None`: it may change without another stamp.
    fn settled(self) -> Option<Self> {
        #[cfg(unix)]
        let last = {
            let (_, seconds, ..) = self.inode;
            let seconds = u64::try_from(seconds).unwrap_or_default();
            self.changed.max(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
        };
        #[cfg(not(unix))]
        let last = self.changed;
        last.elapsed().is_ok_and(|age| age > SETTLED).then_some(self)
    }
}

fn is_scarce_cause(cause: &(dyn std::error::Error + 'static)) -> bool {
    cause.downcast_ref::<io::Error>().is_some_and(is_scarce)
}

/// Whether something failed because this process or its machine has no more of what it takes, such
/// as descriptors or memory: that says nothing of the file.
fn is_scarce(error: &io::Error) -> bool {
    #[cfg(unix)]
    {
        use rustix::io::Errno;
        let code = error.raw_os_error().map(Errno::from_raw_os_error);
        code.is_some_and(|code| {
            [Errno::MFILE, Errno::NFILE, Errno::NOMEM, Errno::AGAIN, Errno::IO].contains(&code)
        })
    }
    #[cfg(not(unix))]
    {
        error.kind() == io::ErrorKind::OutOfMemory
    }
}
