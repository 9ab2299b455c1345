//! The words of `toolcrib store`.

use clap::Subcommand;

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
