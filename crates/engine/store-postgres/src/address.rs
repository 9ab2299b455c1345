//! Where the database is, and how what is said to it goes there.

use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};
use toolcrib_store::StoreError;

use crate::encryption::Encryption;
use crate::error::SessionError;

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what was sent may stay unconfirmed by the other machine.
const UNCONFIRMED: Duration = Duration::from_secs(10);

/// The address of a database that was looked at.
pub(crate) struct DatabaseAddress {
    config: Config,
    /// `None`: what is said stays on this machine.
    encryption: Option<Encryption>,
    /// The address without its password.
    pub(crate) place: String,
}

/// What an address says of encryption.
#[derive(Default)]
struct EncryptionWords {
    mode: Option<String>,
    authorities: Option<PathBuf>,
}

impl EncryptionWords {
    /// Takes them out of an address, whose rest has no word of them.
    fn take(url: &str) -> (String, Self) {
        let mut words = Self::default();
        let Some((base, query)) = url.split_once('?') else { return (url.to_owned(), words) };
        let mut rest = Vec::new();
        for word in query.split('&') {
            let (name, value) = word.split_once('=').unwrap_or((word, ""));
            let value = percent_decode_str(value).decode_utf8_lossy().into_owned();
            match name {
                "sslmode" => words.mode = Some(value),
                "sslrootcert" => words.authorities = Some(value.into()),
                _ => rest.push(word),
            }
        }
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        (format!("{base}{query}"), words)
    }

    /// Encryption as it is asked for; `Err`: why it cannot be had.
    fn encryption(
        &self,
        is_near: bool,
        is_socket: bool,
    ) -> Result<Option<Encryption>, &'static str> {
        let is_wanted = match self.mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-full") => true,
            Some(_) => {
                return Err(
                    "has an `sslmode` that is not known: write `verify-full`, `require` or \
                            `disable`",
                );
            }
            None => !is_near || self.authorities.is_some(),
        };
        if !is_wanted && !is_near {
            return Err("is on another machine, and nothing goes there without encryption: leave \
                        out `sslmode=disable`");
        }
        if !is_wanted && self.authorities.is_some() {
            return Err("has `sslrootcert` without encryption: leave out `sslmode=disable`");
        }
        if is_wanted && is_socket {
            return Err("is a socket of this machine, which has no encryption: leave out \
                        `sslmode` and `sslrootcert`");
        }
        if self.authorities.as_ref().is_some_and(|path| !path.is_absolute()) {
            return Err("has a path in `sslrootcert` that does not begin with `/`: write it whole");
        }
        if !is_wanted {
            return Ok(None);
        }
        let encryption = Encryption::of(self.authorities.as_deref());
        let Some(encryption) = encryption else {
            return Err("has no authority that could vouch for it: name a file of certificates \
                        in PEM by `sslrootcert`, which this process can read");
        };
        Ok(Some(encryption))
    }
}

impl DatabaseAddress {
    /// No error repeats an address that may hold a password.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let refused = |told: &'static str| StoreError::Database {
            place: "postgres://".to_owned(),
            told: told.into(),
            source: None,
        };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(refused("has no such address: write `postgres://USER@HOST/DATABASE`"));
        }
        let (plain, words) = EncryptionWords::take(url);
        // What is wrong with it may be a part of the password.
        let mut config = Config::from_str(&plain).map_err(|_| {
            refused("has an address that cannot be read: write `postgres://USER@HOST/DATABASE`")
        })?;
        config.connect_timeout(PATIENCE).application_name("toolcrib");
        config.tcp_user_timeout(UNCONFIRMED).keepalives_idle(UNCONFIRMED);
        if has_at_sign(&config) {
            return Err(refused("has an `@` too many: write one of a password as `%40`"));
        }
        let place = place(&config);
        let refused = |told: &'static str| StoreError::Database {
            place: place.clone(),
            told: told.into(),
            source: None,
        };
        if config.get_dbname().is_none() {
            return Err(refused("has no database in its address: write it behind the host"));
        }
        // Of two servers one could have what the other has not.
        if config.get_hosts().len() != 1 {
            return Err(refused("needs one host in its address: write one"));
        }
        let is_near = config.get_hosts().iter().all(is_of_this_machine)
            && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        let is_socket = matches!(config.get_hosts().first(), Some(Host::Unix(_)));
        let encryption = words.encryption(is_near, is_socket).map_err(refused)?;
        let mode = if encryption.is_some() { SslMode::Require } else { SslMode::Disable };
        config.ssl_mode(mode);
        Ok(Self { config, encryption, place })
    }

    /// Opens a connection; who calls is within the runtime that serves it.
    pub(crate) async fn connect(&self) -> Result<Client, SessionError> {
        // What ends a connection is told to whoever asks next.
        let Some(encryption) = self.encryption.clone() else {
            let (client, connection) = self.config.connect(NoTls).await?;
            tokio::spawn(async move { drop(connection.await) });
            return Ok(client);
        };
        let opened = self.config.connect(encryption).await;
        let (client, connection) = opened.map_err(SessionError::of_encryption)?;
        tokio::spawn(async move { drop(connection.await) });
        Ok(client)
    }
}

/// Whether a host or the database has an `@` in its name. An address is cut at its first one, so what
/// stands before another may be the end of a password.
fn has_at_sign(config: &Config) -> bool {
    let is_in_host = config.get_hosts().iter().any(|host| match host {
        Host::Tcp(host) => host.contains('@'),
        Host::Unix(folder) => folder.to_string_lossy().contains('@'),
    });
    is_in_host || config.get_dbname().is_some_and(|name| name.contains('@'))
}

/// As it is told: whose, where and which, and nothing else.
fn place(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        Some(Host::Unix(folder)) => folder.display().to_string(),
        None => String::new(),
    };
    let port = config.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{user}{host}{port}/{}", config.get_dbname().unwrap_or_default())
}

fn is_of_this_machine(host: &Host) -> bool {
    match host {
        Host::Unix(_) => true,
        Host::Tcp(host) => {
            host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(url: &str) -> String {
        match DatabaseAddress::parse(url) {
            Ok(address) => address.place,
            Err(error) => error.to_string(),
        }
    }

    /// Each is refused in words that begin so, and that hold no password.
    fn are_refused(urls: &[(&str, &str)]) {
        for (url, begin) in urls {
            let told = told(url);
            assert!(told.starts_with(begin), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }

    #[test]
    fn an_address_is_told_without_its_password() {
        assert_eq!(
            told("postgres://crib:hunter2@127.0.0.1:5433/record"),
            "postgres://crib@127.0.0.1:5433/record"
        );
        assert_eq!(
            told("postgres://crib:hunter%402@127.0.0.1/record"),
            "postgres://crib@127.0.0.1:5432/record"
        );
        assert_eq!(
            told("postgres://crib@%2Frun%2Fpg/record"),
            "postgres://crib@/run/pg:5432/record"
        );
        are_refused(&[
            (
                "postgres://crib:hunter2@127.0.0.1",
                "the store `postgres://crib@127.0.0.1:5432/` has no database",
            ),
            (
                "postgres://crib:hunter2@127.0.0.1,127.0.0.2/record",
                "the store `postgres://crib@127.0.0.1:5432/record` needs one host",
            ),
            (
                "postgres://crib:hunter2@127.0.0.1:x/record",
                "the store `postgres://` has an address that cannot be read",
            ),
            (
                "mysql://crib:hunter2@127.0.0.1/record",
                "the store `postgres://` has no such address",
            ),
            (
                "postgres://crib:a@hunter2@127.0.0.1/record",
                "the store `postgres://` has an `@` too many: write one of a password as `%40`",
            ),
            (
                "postgres://crib:a@b/hunter2@127.0.0.1/record",
                "the store `postgres://` has an `@` too many",
            ),
            (
                "postgres://crib:a@hunter2,b@127.0.0.1/record",
                "the store `postgres://` has an `@` too many",
            ),
        ]);
    }

    #[test]
    fn nothing_goes_to_another_machine_as_it_is() {
        are_refused(&[
            (
                "postgres://crib:hunter2@db.example/record?sslmode=disable",
                "the store `postgres://crib@db.example:5432/record` is on another machine",
            ),
            (
                "postgres://crib:hunter2@db.example/record?sslmode=prefer",
                "the store `postgres://crib@db.example:5432/record` has an `sslmode` that is not",
            ),
            (
                "postgres://crib:hunter2@db.example/record?sslrootcert=%2Fno%2Fsuch.pem",
                "the store `postgres://crib@db.example:5432/record` has no authority",
            ),
            (
                "postgres://crib:hunter2@db.example/record?sslrootcert=roots.pem",
                "the store `postgres://crib@db.example:5432/record` has a path in `sslrootcert`",
            ),
            (
                "postgres://crib:hunter2@%2Frun%2Fpg/record?sslmode=require",
                "the store `postgres://crib@/run/pg:5432/record` is a socket of this machine",
            ),
            (
                "postgres://crib:hunter2@127.0.0.1/record?sslmode=disable&sslrootcert=/x.pem",
                "the store `postgres://crib@127.0.0.1:5432/record` has `sslrootcert` without",
            ),
            (
                "postgres://crib:hunter2@localhost/record?hostaddr=10.0.0.1&sslmode=disable",
                "the store `postgres://crib@localhost:5432/record` is on another machine",
            ),
        ]);
    }
}
