//! Where tokens are kept: files that nobody else can read.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};
use url::Url;
use uuid::Uuid;

use super::{TokenGrant, TokenOwner};
use crate::client::oauth::error::{OAuthError, cut};

/// A file of ours is never that large.
const LARGEST: u64 = 1024 * 1024;
/// How long another process may be at the same token.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tokens of all callers at one server.
pub(crate) struct TokenStore {
    server: Url,
    kept: TokenStorage,
}

enum TokenStorage {
    Folder(PathBuf),
    /// By file name, gone with the process.
    Memory(Mutex<HashMap<String, Vec<u8>>>),
}

/// Which issuer gave the tokens that a caller uses at a server.
#[derive(Serialize, Deserialize)]
struct CurrentIssuer {
    issuer: String,
    resource: String,
}

/// The issuer that a client of the operator's own belongs to.
#[derive(Serialize, Deserialize)]
struct ClientBinding {
    issuer: String,
}

/// While it lives, no other process renews the same tokens.
pub(crate) struct RenewalLock {
    _lock: Option<File>,
}

impl TokenStore {
    pub(crate) fn new(server: &Url, folder: Option<&Path>) -> Self {
        let kept = match folder {
            Some(folder) => TokenStorage::Folder(folder.to_owned()),
            None => TokenStorage::Memory(Mutex::default()),
        };
        Self { server: server.clone(), kept }
    }

    /// Fails if nothing could be kept: better before a person has logged in than after.
    pub(crate) fn is_ready(&self) -> Result<(), OAuthError> {
        match &self.kept {
            TokenStorage::Folder(folder) => prepare(folder).map_err(|error| self.failed(&error)),
            TokenStorage::Memory(_) => Ok(()),
        }
    }

    /// The tokens that a caller uses at this server.
    pub(crate) fn current(&self, owner: &TokenOwner) -> Result<Option<TokenGrant>, OAuthError> {
        let Some(CurrentIssuer { issuer, resource }) = self.read(&self.pointer(owner))? else {
            return Ok(None);
        };
        let grant: Option<TokenGrant> = self.read(&key(owner, &issuer, &resource))?;
        // The name of the file says all this already; a file that was moved says another thing.
        Ok(grant.filter(|grant| {
            grant.owner == *owner && grant.issuer == issuer && grant.resource == resource
        }))
    }

    /// Makes these the tokens of their owner; those of another issuer are of no use any more.
    pub(crate) fn keep(&self, grant: &TokenGrant) -> Result<(), OAuthError> {
        let pointer = self.pointer(&grant.owner);
        let before: Option<CurrentIssuer> = self.read(&pointer)?;
        let TokenGrant { owner, issuer, resource, .. } = grant;
        let name = key(owner, issuer, resource);
        self.write(&name, grant)?;
        self.write(
            &pointer,
            &CurrentIssuer { issuer: issuer.clone(), resource: resource.clone() },
        )?;
        let old = before.map(|before| key(owner, &before.issuer, &before.resource));
        old.filter(|old| *old != name).map_or(Ok(()), |old| self.remove(&old))
    }

    /// Forgets tokens that are dead, unless others have come in their place.
    pub(crate) fn forget(&self, grant: &TokenGrant) -> Result<(), OAuthError> {
        let current = self.current(&grant.owner)?;
        if current.is_none_or(|current| current.refresh != grant.refresh) {
            return Ok(());
        }
        self.remove(&key(&grant.owner, &grant.issuer, &grant.resource))
    }

    /// Binds a client that the operator registered to the first issuer that it is used with: a
    /// server that names another one later would get its secret.
    pub(crate) fn bind(&self, client: &str, issuer: &str) -> Result<(), OAuthError> {
        let name = hashed(&["client", self.server.as_str(), client], "client");
        let Some(bound) = self.read::<ClientBinding>(&name)? else {
            return self.write(&name, &ClientBinding { issuer: issuer.to_owned() });
        };
        if bound.issuer == issuer {
            return Ok(());
        }
        Err(OAuthError::OtherIssuer {
            server: self.server.origin().ascii_serialization(),
            now: cut(issuer),
            known: cut(&bound.issuer),
            file: self.place(&name),
        })
    }

    /// Waits until no other process renews the tokens of this caller.
    pub(crate) async fn alone(&self, owner: &TokenOwner) -> Result<RenewalLock, OAuthError> {
        let name = self.pointer(owner);
        let TokenStorage::Folder(folder) = &self.kept else {
            return Ok(RenewalLock { _lock: None });
        };
        let path = folder.join(format!("{name}.lock"));
        let failed = |error: io::Error| self.failed(&error);
        prepare(folder).map_err(failed)?;
        let file = open(OpenOptions::new().create(true).truncate(false), &path).map_err(failed)?;
        let end = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(RenewalLock { _lock: Some(file) }),
                Err(fs::TryLockError::WouldBlock) if Instant::now() < end => {
                    sleep(Duration::from_millis(25)).await;
                }
                Err(fs::TryLockError::WouldBlock) => return Err(OAuthError::Broken),
                Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }

    fn pointer(&self, owner: &TokenOwner) -> String {
        hashed(&["current", &owner.tenant, &owner.subject, self.server.as_str()], "current")
    }

    /// `None`: there is none, or it is none of ours; then a new one will replace it.
    fn read<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, OAuthError> {
        let bytes = match &self.kept {
            TokenStorage::Memory(files) => locked(files).get(name).cloned(),
            TokenStorage::Folder(folder) => {
                read(&folder.join(name)).map_err(|error| self.failed(&error))?
            }
        };
        Ok(bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
    }

    fn write<T: Serialize>(&self, name: &str, value: &T) -> Result<(), OAuthError> {
        let bytes = serde_json::to_vec_pretty(value).map_err(|_| OAuthError::Broken)?;
        match &self.kept {
            TokenStorage::Memory(files) => {
                locked(files).insert(name.to_owned(), bytes);
                Ok(())
            }
            TokenStorage::Folder(folder) => {
                write(folder, name, &bytes).map_err(|error| self.failed(&error))
            }
        }
    }

    fn remove(&self, name: &str) -> Result<(), OAuthError> {
        match &self.kept {
            TokenStorage::Memory(files) => {
                locked(files).remove(name);
                Ok(())
            }
            TokenStorage::Folder(folder) => match fs::remove_file(folder.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(self.failed(&error)),
                _ => Ok(()),
            },
        }
    }

    fn place(&self, name: &str) -> String {
        match &self.kept {
            TokenStorage::Folder(folder) => folder.join(name).display().to_string(),
            TokenStorage::Memory(_) => "nothing: start toolcrib again".to_owned(),
        }
    }

    fn failed(&self, error: &io::Error) -> OAuthError {
        let place = match &self.kept {
            TokenStorage::Folder(folder) => folder.display().to_string(),
            TokenStorage::Memory(_) => String::new(),
        };
        OAuthError::Store { place, cause: error.to_string() }
    }
}

/// The file of the tokens of one owner, by one issuer, for one resource.
fn key(owner: &TokenOwner, issuer: &str, resource: &str) -> String {
    hashed(&["grant", &owner.tenant, &owner.subject, issuer, resource], "json")
}

/// A name that tells nothing and that no two keys share: each part stands with its length.
fn hashed(parts: &[&str], ending: &str) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part.as_bytes());
    }
    let mut name = String::new();
    for byte in hash.finalize() {
        for half in [byte >> 4, byte & 15] {
            name.push(char::from_digit(u32::from(half), 16).unwrap_or_default());
        }
    }
    name.push('.');
    name.push_str(ending);
    name
}

fn locked(files: &Mutex<HashMap<String, Vec<u8>>>) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Whole or not at all: a crash half-way leaves the old file.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    prepare(folder)?;
    let draft = folder.join(format!("{}.draft", Uuid::new_v4().simple()));
    let written = open(OpenOptions::new().create_new(true), &draft)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(unix)]
fn prepare(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if fs::metadata(folder)?.permissions().mode() & 0o077 != 0 {
        let problem = "others may look into it: `chmod 700` it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(())
}

#[cfg(not(unix))]
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    options.write(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn open(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    options.write(true).open(path)
}
