//! The files of a model's folder: read whole or in parts, never more than a bound.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

/// Why a folder gives no model. Its text names the file and the cure, for the operator.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(
        "cannot read `{}`: name the folder of a sentence-transformer, with `config.json`, \
         `tokenizer.json` and `model.safetensors` in it", file.display()
    )]
    Unreadable {
        file: PathBuf,
        #[source]
        cause: io::Error,
    },
    #[error("`{}` is larger than {max} bytes: take a smaller model", file.display())]
    TooLarge { file: PathBuf, max: u64 },
    #[error("`{}` is broken: {what}; get the model anew", file.display())]
    Broken { file: PathBuf, what: String },
    #[error(
        "`{}`: {what}; take a BERT model with a WordPiece tokenizer, as `all-MiniLM-L6-v2` is, \
         or an endpoint", file.display()
    )]
    Unsupported { file: PathBuf, what: String },
}

/// What a file is at fault for; the folder knows which file it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ModelFileFault {
    Broken(String),
    Unsupported(String),
}

impl ModelFileFault {
    pub(crate) fn broken(what: impl Into<String>) -> Self {
        Self::Broken(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }

    pub(crate) fn of(self, file: PathBuf) -> FolderError {
        match self {
            Self::Broken(what) => FolderError::Broken { file, what },
            Self::Unsupported(what) => FolderError::Unsupported { file, what },
        }
    }
}

/// A folder that is read, and the digest of all that was read of it.
pub(crate) struct ModelFolder {
    path: PathBuf,
    digest: Sha256,
}

impl ModelFolder {
    pub(crate) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), digest: Sha256::new() }
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// A JSON file in its own shape; `None` if it is not there.
    pub(crate) fn json<T: DeserializeOwned>(
        &mut self,
        name: &str,
        max: u64,
    ) -> Result<Option<T>, FolderError> {
        let Some(bytes) = self.bytes(name, max)? else { return Ok(None) };
        let read = serde_json::from_slice(&bytes);
        let broken = |cause: serde_json::Error| ModelFileFault::broken(cause.to_string());
        read.map(Some).map_err(|cause| broken(cause).of(self.file(name)))
    }

    /// The same of a file without which there is no model.
    pub(crate) fn needed<T: DeserializeOwned>(
        &mut self,
        name: &str,
        max: u64,
    ) -> Result<T, FolderError> {
        let read = self.json(name, max)?;
        read.ok_or_else(|| self.absent(name))
    }

    /// A file without which there is no model, as it is.
    pub(crate) fn needed_bytes(&mut self, name: &str, max: u64) -> Result<Vec<u8>, FolderError> {
        let read = self.bytes(name, max)?;
        read.ok_or_else(|| self.absent(name))
    }

    fn absent(&self, name: &str) -> FolderError {
        let cause = io::Error::from(io::ErrorKind::NotFound);
        FolderError::Unreadable { file: self.file(name), cause }
    }

    /// A file to read parts of.
    pub(crate) fn open(&self, name: &str) -> Result<PartialFile, FolderError> {
        let file = self.file(name);
        let unreadable = |cause| FolderError::Unreadable { file: file.clone(), cause };
        let opened = File::open(&file).map_err(unreadable)?;
        let size = opened.metadata().map_err(unreadable)?.len();
        Ok(PartialFile { opened, size, file })
    }

    /// What tells this model from every other.
    pub(crate) fn note(&mut self, bytes: &[u8]) {
        self.digest.update(bytes);
    }

    /// The digest so far, in twelve hexadecimal digits.
    pub(crate) fn fingerprint(&self) -> String {
        let digest: [u8; 32] = self.digest.clone().finalize().into();
        let six = digest.iter().take(6).fold(0, |all, byte| all << 8 | u64::from(*byte));
        format!("{six:012x}")
    }

    fn bytes(&mut self, name: &str, max: u64) -> Result<Option<Vec<u8>>, FolderError> {
        let file = self.file(name);
        let opened = match File::open(&file) {
            Ok(opened) => opened,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(FolderError::Unreadable { file, cause }),
        };
        let mut bytes = Vec::new();
        match opened.take(max + 1).read_to_end(&mut bytes) {
            Ok(read) if read as u64 > max => return Err(FolderError::TooLarge { file, max }),
            Ok(_) => {}
            Err(cause) => return Err(FolderError::Unreadable { file, cause }),
        }
        self.digest.update(&bytes);
        Ok(Some(bytes))
    }
}

/// A file of which parts are read.
pub(crate) struct PartialFile {
    opened: File,
    pub(crate) size: u64,
    pub(crate) file: PathBuf,
}

impl PartialFile {
    /// `length` bytes from `start` on. The caller has held both against the size of the file.
    pub(crate) fn part(&mut self, start: u64, length: usize) -> Result<Vec<u8>, FolderError> {
        let mut bytes = vec![0; length];
        let read = self.opened.seek(SeekFrom::Start(start));
        let read = read.and_then(|_| self.opened.read_exact(&mut bytes));
        match read {
            Ok(()) => Ok(bytes),
            Err(cause) => Err(FolderError::Unreadable { file: self.file.clone(), cause }),
        }
    }
}
