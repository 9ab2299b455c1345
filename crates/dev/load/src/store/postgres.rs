//! A server of Postgres for one measurement, whose syncs take as long as somebody says.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{LoadError, MeasuredProgram};

/// How long it may take to come.
const PATIENCE: Duration = Duration::from_mins(1);

/// Whom root runs it as, which refuses root.
const NOBODY: u32 = 65_534;

/// Listens on a socket in its folder, and on no port. Goes when it is dropped.
pub(super) struct ScratchPostgres {
    programs: PathBuf,
    folder: PathBuf,
    server: Option<MeasuredProgram>,
}

impl ScratchPostgres {
    /// `added`: to each sync. Postgres itself waits that long before it syncs what several
    /// transactions wrote, as a slower disk would make them wait.
    pub(super) async fn start(programs: &Path, added: Duration) -> Result<Self, LoadError> {
        let folder = std::env::temp_dir().join(format!("toolcrib-load-pg-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder)?;
        let mut scratch = Self { programs: programs.to_path_buf(), folder, server: None };
        if rustix::process::getuid().is_root() {
            std::os::unix::fs::chown(&scratch.folder, Some(NOBODY), Some(NOBODY))?;
        }
        let folder = scratch.folder.display().to_string();
        let data = format!("{folder}/data");
        let init = ["-D", &data, "-U", "crib", "--auth=trust", "-E", "UTF8", "--locale=C"];
        scratch.run("initdb", &init)?.finish()?;
        let delay = format!("commit_delay={}", added.as_micros());
        let settings = ["listen_addresses=", "max_connections=100", &delay, "commit_siblings=0"];
        let mut words = vec!["-D", &data, "-k", &folder];
        words.extend(settings.iter().flat_map(|setting| ["-c", setting]));
        scratch.server = Some(scratch.run("postgres", &words)?);
        let until = Instant::now() + PATIENCE;
        while let Err(error) = scratch.say("SELECT 1") {
            if Instant::now() > until {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(scratch)
    }

    /// Makes a database, and gives its address.
    pub(super) fn database(&self, name: &str) -> Result<String, LoadError> {
        self.say(&format!("CREATE DATABASE {name}"))?;
        let folder = self.folder.display().to_string().replace('/', "%2F");
        Ok(format!("postgres://crib@{folder}/{name}"))
    }

    /// Processor time of all its processes.
    pub(super) fn worked(&self) -> Duration {
        self.server.as_ref().map_or(Duration::ZERO, MeasuredProgram::worked)
    }

    fn say(&self, statement: &str) -> Result<(), LoadError> {
        let folder = self.folder.display().to_string();
        let words = ["-U", "crib", "-h", &folder, "-d", "postgres", "-qXAt", "-c", statement];
        self.run("psql", &words)?.finish()
    }

    fn run(&self, name: &str, words: &[&str]) -> Result<MeasuredProgram, LoadError> {
        let program = self.programs.join(name).display().to_string();
        // Those of a package bring their libraries.
        let libraries = format!("LD_LIBRARY_PATH={}/../lib", self.programs.display());
        let nobody = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        let mut all = vec!["setpriv"];
        if rustix::process::getuid().is_root() {
            all.extend(nobody.iter().map(String::as_str));
            all.push("--clear-groups");
        }
        all.push(&program);
        all.extend(words);
        MeasuredProgram::start(
            Path::new("env"),
            &[&[libraries.as_str()], &all[..]].concat(),
            &self.folder,
        )
    }
}

impl Drop for ScratchPostgres {
    fn drop(&mut self) {
        if let Some(server) = self.server.take() {
            // Killed, it would leave its processes and its memory behind.
            let _ = server.stop();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
