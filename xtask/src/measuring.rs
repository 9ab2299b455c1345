//! What the server is measured and watched with.

use std::path::PathBuf;

use anyhow::Result;

use crate::machine::{cargo, target};
use crate::report::finish;

/// Named to `crates/server/guide/rustc`: what releases are compiled with in the place of the profile.
pub(crate) const PROFILE: &str = "TOOLCRIB_PROFILE";

/// The programs on both sides of the server, in a folder of their own: they are compiled without the
/// profile of its calls, as anybody's are.
pub(crate) struct Instruments {
    pub client: PathBuf,
    /// A server of the SDK alone.
    pub echo: PathBuf,
}

impl Instruments {
    pub(crate) fn build() -> Result<Self> {
        let work = target().join("instruments");
        let mut build = cargo();
        build.args([
            "build",
            "--release",
            "--package",
            "toolcrib-load",
            "--package",
            "toolcrib-mcp",
        ]);
        build.args(["--bin", "toolcrib-load", "--example", "echo"]).arg("--target-dir").arg(&work);
        finish(build.env(PROFILE, ""))?;
        let made = work.join("release");
        Ok(Self { client: made.join("toolcrib-load"), echo: made.join("examples/echo") })
    }
}
