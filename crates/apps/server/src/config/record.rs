//! Where the record is kept: in the file or the database that the configuration names, else in a
//! file of its own.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use toolcrib_config::{ClusterSettings, Config};
use toolcrib_core::Fingerprint;
use toolcrib_store::{self as store, Store, StoreError, StoreOptions};
use toolcrib_store_postgres::{Database, ReplicaSettings};

use crate::config;

/// What is said where replicas would have a record each.
const UNSHARED: &str = "replicas share a record only in a database of Postgres: write `[store]` \
     with `url = \"postgres://…\"`, or leave out `[cluster]`";

/// What is said of a database that cannot be used.
const UNOPENED: &str = "cannot open the store";

/// The database that the file names, else one of its own in the state folder; `None`: there is no
/// place to keep one.
pub(crate) fn kept(path: &Path, checked: &Config) -> Result<Option<Store>> {
    if let Some(store) = store_of(path, checked)? {
        return Ok(Some(store));
    }
    let Some(folder) = state_folder() else { return Ok(None) };
    let cure = "name a file to keep it in: `[store]` with `url = \"sqlite://crib.db\"`";
    config::private_folder(&folder)
        .with_context(|| format!("cannot make `{}` for the record; {cure}", folder.display()))?;
    let path = folder.join(format!("{}.db", of_file(path, "")));
    let path = store::path(&format!("sqlite://{}", path.display()));
    let opened = path.and_then(|path| Store::open(&path, bounds(checked)));
    opened.map(Some).with_context(|| format!("cannot keep the record; {cure}"))
}

/// The database that the file names; a path in it starts where the file is.
pub(crate) fn store_of(path: &Path, checked: &Config) -> Result<Option<Store>> {
    let Some(place) = StorePlace::find(path, checked)? else { return Ok(None) };
    let bounds = bounds(checked);
    let opened = match place {
        Err(error) => Err(error),
        Ok(StorePlace::File(path)) => Store::open(&path, bounds),
        Ok(StorePlace::Database(database, note)) => {
            if let Some(folder) = note.as_deref().and_then(Path::parent) {
                let told = || format!("cannot make `{}` beside the store", folder.display());
                config::private_folder(folder).with_context(told)?;
            }
            let database = noting(database, note);
            match cluster(checked)? {
                Some(cluster) => database.shared(replica(path, cluster)).open(bounds),
                None => database.open(bounds),
            }
        }
    };
    Ok(Some(opened.context(UNOPENED)?))
}

/// Fails as [`store_of`] would, and leaves all as it is.
pub(crate) fn try_store(path: &Path, checked: &Config) -> Result<()> {
    let Some(place) = StorePlace::find(path, checked)? else { return Ok(()) };
    let tried = match place {
        Err(error) => Err(error),
        Ok(StorePlace::File(path)) => Store::try_out(&path),
        Ok(StorePlace::Database(database, note)) => {
            noting(database, note).try_out(&bounds(checked))
        }
    };
    tried.context(UNOPENED)
}

/// Where a store is that a file names.
pub(crate) enum StorePlace {
    File(PathBuf),
    /// With the file that tells how far it has come, if there is a place for one.
    Database(Database, Option<PathBuf>),
}

impl StorePlace {
    /// `None`: the file names none. What its address is, or why it is none.
    pub(crate) fn find(file: &Path, checked: &Config) -> Result<Option<Result<Self, StoreError>>> {
        let address = checked.store(&config::ProcessLookup).map_err(|missing| {
            let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
            anyhow!("the address of the store is not there: {}", lines.join("; "))
        })?;
        let is_shared = address.as_ref().is_some_and(|address| is_of_postgres(address.expose()));
        if cluster(checked)?.is_some() && !is_shared {
            return Err(anyhow!(UNSHARED));
        }
        Ok(address.map(|address| Self::of(file, address.expose())))
    }

    /// Of an address in a file, beside which its path begins.
    fn of(file: &Path, address: &str) -> Result<Self, StoreError> {
        if is_of_postgres(address) {
            let database = Database::at(address)?;
            let note = state_folder()
                .map(|folder| folder.join(format!("{}.json", of_file(file, database.place()))));
            return Ok(Self::Database(database, note));
        }
        let path = address.strip_prefix("sqlite://").or_else(|| address.strip_prefix("sqlite:"));
        let folder = file.parent().unwrap_or(Path::new(""));
        // What is no path of ours is refused by the store in its own words.
        let path = match path {
            Some(path) if !path.is_empty() && !path.starts_with(':') => {
                store::path(&format!("sqlite://{}", folder.join(path).display()))
            }
            _ => store::path(address),
        };
        path.map(Self::File)
    }
}

/// What makes the server one of several.
pub(crate) fn cluster(checked: &Config) -> Result<Option<ClusterSettings>> {
    checked.cluster(&config::ProcessLookup).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the secret of the cluster is not there: {}", lines.join("; "))
    })
}

/// What a server of this file tells the other replicas.
fn replica(file: &Path, cluster: ClusterSettings) -> ReplicaSettings {
    let ClusterSettings { secret, address, lease } = cluster;
    let digest = |path: &Path| {
        let text = std::fs::read(path).ok()?;
        Some(Fingerprint::of(&String::from_utf8_lossy(&text).into_owned().into()).to_string())
    };
    let said = serde_json::json!({
        "configuration": digest(file),
        "pins": digest(&file.with_file_name("crib.lock")),
    });
    let version = env!("CARGO_PKG_VERSION").to_owned();
    ReplicaSettings { secret, address: address.map(Into::into), lease, version, said }
}

pub(crate) fn is_of_postgres(address: &str) -> bool {
    ["postgres://", "postgresql://"].iter().any(|scheme| address.starts_with(scheme))
}

fn noting(database: Database, note: Option<PathBuf>) -> Database {
    match note {
        Some(note) => database.noting(note),
        None => database,
    }
}

fn state_folder() -> Option<PathBuf> {
    config::state_folder().map(|state| state.join("records"))
}

/// A name of what belongs to a configuration, and to a place that it names.
fn of_file(file: &Path, place: &str) -> Fingerprint {
    let whole = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
    let whole = whole.display().to_string();
    if place.is_empty() {
        Fingerprint::of(&whole.into())
    } else {
        Fingerprint::of(&serde_json::json!([whole, place]))
    }
}

/// How much is kept, and for how long.
pub(crate) fn bounds(checked: &Config) -> StoreOptions {
    let (kept, default) = (&checked.kept, StoreOptions::default());
    StoreOptions {
        calls_for: kept.calls_for.unwrap_or(default.calls_for),
        most_calls: kept.most_calls.unwrap_or(default.most_calls),
        results_for: kept.results_for.unwrap_or(default.results_for),
        result_bytes_per_tenant: kept.results_per_tenant.unwrap_or(default.result_bytes_per_tenant),
        keys_for: kept.keys_for.unwrap_or(default.keys_for),
        tickets: checked.limits.tickets,
        max_bytes: kept.max_size.or(default.max_bytes),
    }
}
