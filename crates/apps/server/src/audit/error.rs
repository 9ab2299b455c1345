//! Why the record cannot be kept.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// What is wrong with it, or with its place.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum AuditError {
    #[error("another process writes the record `{}`: give each a file of its own", .0.display())]
    Taken(PathBuf),
    #[error("the last record of `{}` is not whole: keep the file for whoever looks into it (`toolcrib audit verify`), and name another", .0.display())]
    Damaged(PathBuf),
    #[error("`{}` ends before the record that was written last: keep it for whoever looks into it (`toolcrib audit verify`), and name another", .0.display())]
    Shortened(PathBuf),
    #[error("the record `{}` cannot be written", path.display())]
    File { path: PathBuf, source: Arc<io::Error> },
    #[error("the record is closed")]
    Closed,
}
