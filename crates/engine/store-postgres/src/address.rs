//! Where the database is, and whether what is said to it may go there as it is.

use std::net::IpAddr;
use std::str::FromStr as _;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::Host;
use toolcrib_store::StoreError;

/// How long a connection may take to come about.
const PATIENCE: Duration = Duration::from_secs(5);

/// The address of a database that was looked at.
pub(crate) struct DatabaseAddress {
    pub(crate) config: Config,
    /// The address without its password.
    pub(crate) place: String,
}

impl DatabaseAddress {
    /// No error repeats an address that may hold a password.
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let refused =
            |told| StoreError::Database { place: "postgres://".to_owned(), told, source: None };
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(refused("has no such address: write `postgres://USER@HOST/DATABASE`"));
        }
        // What is wrong with it may be a part of the password.
        let mut config = Config::from_str(url).map_err(|_| {
            refused("has an address that cannot be read: write `postgres://USER@HOST/DATABASE`")
        })?;
        config.connect_timeout(PATIENCE).application_name("toolcrib");
        let place = place(&config);
        let refused = |told| StoreError::Database { place: place.clone(), told, source: None };
        if config.get_dbname().is_none() {
            return Err(refused("has no database in its address: write it behind the host"));
        }
        // Of two servers one could have what the other has not.
        if config.get_hosts().len() != 1 {
            return Err(refused("needs one host in its address: write one"));
        }
        let is_near = config.get_hosts().iter().all(is_of_this_machine)
            && config.get_hostaddrs().iter().all(IpAddr::is_loopback);
        if !is_near {
            return Err(refused(
                "is on another machine, and nothing may go there without encryption: name one on \
                 this machine",
            ));
        }
        Ok(Self { config, place })
    }
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

    #[test]
    fn an_address_is_told_without_its_password_and_another_machine_is_refused() {
        let told = |url: &str| match DatabaseAddress::parse(url) {
            Ok(address) => address.place,
            Err(error) => error.to_string(),
        };
        assert_eq!(
            told("postgres://crib:hunter2@127.0.0.1:5433/record"),
            "postgres://crib@127.0.0.1:5433/record"
        );
        assert_eq!(
            told("postgres://crib@%2Frun%2Fpg/record"),
            "postgres://crib@/run/pg:5432/record"
        );
        for (url, begin) in [
            (
                "postgres://crib:hunter2@db.example/record",
                "the store `postgres://crib@db.example:5432/record` is on another machine",
            ),
            (
                "postgres://crib:hunter2@127.0.0.1",
                "the store `postgres://crib@127.0.0.1:5432/` has no database",
            ),
            (
                "postgres://crib:hunter2@localhost/record?hostaddr=10.0.0.1",
                "the store `postgres://crib@localhost:5432/record` is on another machine",
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
        ] {
            let told = told(url);
            assert!(told.starts_with(begin), "{told}");
            assert!(!told.contains("hunter2"), "{told}");
        }
    }
}
