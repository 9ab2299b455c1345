//! A folder for one measurement, and the servers in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::{LoadError, LoadTarget, MeasuredProgram};

/// The calls by which a program has the disk keep what it wrote.
const SYNCS: &str = "fdatasync,fsync";

/// The programs that are measured.
#[derive(Debug, Clone)]
pub struct MeasuredPrograms {
    /// `toolcrib`.
    pub server: PathBuf,
    /// The server of the SDK, `crates/sources/mcp/examples/echo.rs`.
    pub echo: PathBuf,
    /// `toolcrib-load`, which can pass bytes on; `None`: that is not measured.
    pub relay: Option<PathBuf>,
}

/// A new folder; it goes when this is dropped.
pub struct TestBed {
    folder: PathBuf,
    pub programs: MeasuredPrograms,
}

impl TestBed {
    /// A folder below this one, which should be on the disk that stores would be on.
    pub fn new(programs: &MeasuredPrograms, below: &Path) -> Result<Self, LoadError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = below.join(format!("load-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder)?;
        Ok(Self { folder, programs: programs.clone() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The server of the SDK over HTTP, with more tools than its own two.
    pub fn echo(&self, tools: usize) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        let words = ["http", &tools.to_string()];
        let mut program = MeasuredProgram::start(&self.programs.echo, &words, &self.folder)?;
        let address = program.address()?;
        Ok((program, LoadTarget { address, token: None }))
    }

    /// What passes bytes on to a server, if that is to be measured.
    pub fn relay(
        &self,
        to: &LoadTarget,
    ) -> Result<Option<(MeasuredProgram, LoadTarget)>, LoadError> {
        let Some(relay) = &self.programs.relay else { return Ok(None) };
        let mut program = MeasuredProgram::start(relay, &["relay", &to.address], &self.folder)?;
        let address = program.address()?;
        Ok(Some((program, LoadTarget { address, token: None })))
    }

    /// `toolcrib serve` with this configuration, as it comes: with its token.
    pub fn serve(&self, configuration: &str) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        let (program, mut target) = self.serve_with(configuration, None)?;
        target.token = Some(self.token()?);
        Ok((program, target))
    }

    /// The same on a disk whose every sync takes so much longer.
    pub(crate) fn serve_slowly(
        &self,
        configuration: &str,
        added: Duration,
    ) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        fs::write(self.folder.join("crib.toml"), configuration)?;
        let server = self.programs.server.to_str().ok_or("a path that is no text")?;
        let late = format!("inject={SYNCS}:delay_exit={}", added.as_micros());
        let trace = format!("trace={SYNCS}");
        // Watched by a grandchild (`-D`), so that the server is our own child, and stopped at these
        // calls alone (`--seccomp-bpf`).
        let watched = ["-D", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", &trace, "-e"];
        let serve = [late.as_str(), server, "serve", "crib.toml", "--listen", "127.0.0.1:0"];
        let words = [&watched[..], &serve].concat();
        let mut program = MeasuredProgram::start(Path::new("strace"), &words, &self.folder)?;
        let address = program.address()?;
        Ok((program, LoadTarget { address, token: Some(self.token()?) }))
    }

    /// The token of the server that was started here.
    fn token(&self) -> Result<String, LoadError> {
        MeasuredProgram::start(&self.programs.server, &["token"], &self.folder)?.line()
    }

    /// The same with a token that is known from an earlier start.
    pub(crate) fn serve_with(
        &self,
        configuration: &str,
        token: Option<String>,
    ) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        fs::write(self.folder.join("crib.toml"), configuration)?;
        let words = ["serve", "crib.toml", "--listen", "127.0.0.1:0"];
        let mut program = MeasuredProgram::start(&self.programs.server, &words, &self.folder)?;
        let address = program.address()?;
        Ok((program, LoadTarget { address, token }))
    }

    /// The same without a configuration: with what comes embedded.
    pub(crate) fn embedded(&self) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        let words = ["serve", "--listen", "127.0.0.1:0", "--insecure-local"];
        let mut program = MeasuredProgram::start(&self.programs.server, &words, &self.folder)?;
        let address = program.address()?;
        Ok((program, LoadTarget { address, token: None }))
    }

    /// The same without a place to keep anything: no record outlives it, and no token is asked for.
    pub(crate) fn forgetful(
        &self,
        configuration: &str,
    ) -> Result<(MeasuredProgram, LoadTarget), LoadError> {
        fs::write(self.folder.join("crib.toml"), configuration)?;
        let words = ["serve", "crib.toml", "--listen", "127.0.0.1:0", "--insecure-local"];
        let mut program =
            MeasuredProgram::start_homeless(&self.programs.server, &words, &self.folder)?;
        let address = program.address()?;
        Ok((program, LoadTarget { address, token: None }))
    }
}

impl Drop for TestBed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A source that is this server of the SDK over HTTP.
pub(crate) fn over_http(id: &str, target: &LoadTarget) -> String {
    format!("[[source]]\nid = \"{id}\"\nmcp = {{ url = \"http://{}/mcp\" }}\n\n", target.address)
}

/// The same as a child.
pub(crate) fn as_child(id: &str, programs: &MeasuredPrograms) -> String {
    let echo = programs.echo.display();
    format!("[[source]]\nid = \"{id}\"\nmcp = {{ command = [\"{echo}\", \"stdio\"] }}\n\n")
}

/// A server that keeps its record on the disk.
pub(crate) const STORE: &str = "[store]\nurl = \"sqlite://crib.db\"\n\n";

pub(crate) const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n";
