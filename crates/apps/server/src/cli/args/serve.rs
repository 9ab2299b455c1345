//! The words of `toolcrib serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Where to serve, and to whom.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The configuration; without one, that of `--config`, else `crib.toml`, else a desk and harmless
    /// tools.
    pub(crate) file: Option<PathBuf>,
    /// Where to listen; without it, with the socket that was handed over (`LISTEN_FDS`), else as the
    /// configuration says, else 127.0.0.1:7411.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = place)]
    pub(crate) listen: Option<SocketAddr>,
    /// Ask for no token. Refused on any address but those of this machine.
    #[arg(long)]
    pub(crate) insecure_local: bool,
    /// A further name that requests may call this server by; may be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// A proxy that ends TLS stands before this server: needed where others can reach it.
    #[arg(long)]
    pub(crate) behind_proxy: bool,
    /// Do without what was changed over the configuration (`toolcrib overlay`), for when that is the
    /// fault.
    #[arg(long)]
    pub(crate) no_overlay: bool,
}

/// `localhost` is this machine whatever a resolver says of it, so that nothing else is opened.
fn place(text: &str) -> Result<SocketAddr, String> {
    let here = text.strip_prefix("localhost:").map(|port| format!("127.0.0.1:{port}"));
    let parsed = here.as_deref().unwrap_or(text).parse();
    parsed.map_err(|_| "write an address and a port, such as 127.0.0.1:7411".to_owned())
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// Copy a whole record into another store that is empty.
    #[command(after_help = "\
Stop the server first, and name the other store in its `[store]` afterwards. All of it comes over, or
nothing: a copy that was cut off begins anew. Paths begin where the command is run.

Examples:
  toolcrib store copy sqlite://crib.db 'postgres://crib:${env:DB_PASSWORD}@db.internal/crib'
  toolcrib store copy postgres://crib@localhost/crib sqlite://crib.db --json")]
    Copy {
        /// The address of the store that is read. Passwords are references, as in a configuration.
        from: String,
        /// The address of the one that is written.
        to: String,
    },
}
