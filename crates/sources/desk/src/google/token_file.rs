//! The file of a refresh token, for its owner's eyes alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;

use serde::{Deserialize, Serialize};
use toolcrib_core::Secret;
use uuid::Uuid;

use super::settings::GoogleSettings;
use crate::backend::{BackendError, BackendErrorKind};

/// A file of ours is never that large, in bytes.
const LARGEST: u64 = 64 * 1024;

#[derive(Serialize, Deserialize)]
struct RefreshTokenRecord {
    /// Whose token it is: another client's would be refused by the server in other words.
    client_id: String,
    refresh_token: String,
}

/// The refresh token that the client of the settings was given.
pub(super) fn read(path: &Path, settings: &GoogleSettings) -> Result<Secret, BackendError> {
    let sign_in = |why: &str| {
        let name = &settings.name;
        let cure = format!("{why}: the user has to sign in with `toolcrib login {name}`");
        BackendError::new(BackendErrorKind::Refused, cure)
    };
    let mut bytes = Vec::new();
    let opened = File::open(path).and_then(|file| {
        is_private(&file)?;
        file.take(LARGEST).read_to_end(&mut bytes)
    });
    match opened {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(sign_in("nobody has signed in at Google yet"));
        }
        Err(error) => {
            let message = format!("the file of the sign-in at Google cannot be used: {error}");
            return Err(BackendError::new(BackendErrorKind::Refused, message).because(error));
        }
    }
    let kept: RefreshTokenRecord = serde_json::from_slice(&bytes)
        .map_err(|_| sign_in("the file of the sign-in at Google is damaged"))?;
    if kept.client_id != settings.client_id {
        return Err(sign_in("the sign-in at Google was for another client"));
    }
    Ok(Secret::new(kept.refresh_token))
}

/// Whole or not at all: a crash half-way leaves the old file.
pub(super) fn write(
    path: &Path,
    settings: &GoogleSettings,
    refresh: &Secret,
) -> Result<(), BackendError> {
    let failed = |error: io::Error| {
        let message = format!("the sign-in at Google cannot be kept: {error}");
        BackendError::new(BackendErrorKind::Refused, message).because(error)
    };
    let kept = RefreshTokenRecord {
        client_id: settings.client_id.clone(),
        refresh_token: refresh.expose().to_owned(),
    };
    let bytes = serde_json::to_vec_pretty(&kept).map_err(|error| failed(error.into()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Some(folder) = folder {
        prepare(folder).map_err(failed)?;
    }
    let draft = path.with_file_name(format!("{}.draft", Uuid::new_v4().simple()));
    let written = create(&draft)
        .and_then(|mut file| file.write_all(&bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written.map_err(failed)
}

#[cfg(unix)]
fn is_private(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if file.metadata()?.permissions().mode() & 0o077 != 0 {
        let problem = "others may read it: `chmod 600` it";
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, problem));
    }
    Ok(())
}

#[cfg(not(unix))]
fn is_private(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn prepare(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn prepare(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}
