//! What the server is measured and watched with.

use std::path::PathBuf;

use anyhow::Result;

use crate::machine::{cargo, target};
use crate::report::finish;

/// The programs on both sides of the server.
pub(crate) struct Instruments {
    pub client: PathBuf,
    /// A server of the SDK alone.
    pub echo: PathBuf,
}

impl Instruments {
    pub(crate) fn build() -> Result<Self> {
        let mut build = cargo();
        build.args(["build", "--release", "--package", "toolcrib-load"]);
        build.args(["--package", "toolcrib-mcp", "--bin", "toolcrib-load", "--example", "echo"]);
        finish(&mut build)?;
        let made = target().join("release");
        Ok(Self { client: made.join("toolcrib-load"), echo: made.join("examples/echo") })
    }
}
