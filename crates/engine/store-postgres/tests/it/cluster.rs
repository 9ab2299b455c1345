//! A server of Postgres, started for tests, which ends with them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long the server may take to come or to go.
const PATIENCE: Duration = Duration::from_mins(1);

/// Where the programs of the server are.
fn programs() -> Option<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "the chores tell tests where things are")]
    let told = std::env::var_os("TOOLCRIB_POSTGRES");
    if told.is_none() {
        // Past the capture of the harness.
        let mut out = std::io::stdout();
        writeln!(out, "[skipped] there is no Postgres: `cargo xtask peers` says where it is")
            .unwrap();
    }
    told.map(PathBuf::from)
}

/// Without a server no test of a program can check anything.
#[expect(clippy::exit, reason = "none of its tests has anything to check")]
fn skip_all() -> ! {
    std::process::exit(0)
}

/// A server that listens on a socket in its folder, and on no port.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: PathBuf,
    settings: Vec<String>,
    port: u16,
}

impl Cluster {
    /// Makes a server in a folder of its own, and starts it.
    pub(crate) fn start(name: &str) -> Self {
        Self::start_if_any(name).unwrap_or_else(|| skip_all())
    }

    /// The same; `None`: there is no Postgres here.
    pub(crate) fn start_if_any(name: &str) -> Option<Self> {
        let cluster = Self::prepare_by(programs()?, name);
        cluster.run();
        Some(cluster)
    }

    /// One that is not started yet.
    pub(crate) fn prepare(name: &str) -> Self {
        Self::prepare_by(programs().unwrap_or_else(|| skip_all()), name)
    }

    fn prepare_by(programs: PathBuf, name: &str) -> Self {
        sweep();
        // Its socket has a short name at the most.
        let folder = std::env::temp_dir().join(format!("{PREFIX}{}-{name}", std::process::id()));
        // Of an earlier process with this number.
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        let settings = vec!["listen_addresses=".to_owned(), "max_connections=300".to_owned()];
        let cluster = Self { programs, folder, settings, port: 5432 };
        if is_root() {
            std::os::unix::fs::chown(&cluster.folder, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let mut init = cluster.program("initdb");
        init.arg("-D").arg(cluster.folder.join("data"));
        init.args(["-U", "crib", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync"]);
        let made = init.stdout(Stdio::null()).status().unwrap();
        assert!(made.success(), "{made}");
        cluster
    }

    /// Has the server started with this from now on.
    pub(crate) fn set(&mut self, setting: &str) {
        self.settings.push(setting.to_owned());
    }

    /// Where it is asked from now on.
    pub(crate) fn use_port(&mut self, port: u16) {
        self.port = port;
    }

    /// Changes a setting of a server that runs, and waits until it holds.
    pub(crate) fn reload(&self, change: &str, setting: &str, value: &str) {
        self.sql("postgres", change).unwrap();
        self.sql("postgres", "SELECT pg_reload_conf()").unwrap();
        let until = Instant::now() + PATIENCE;
        while self.sql("postgres", &format!("SHOW {setting}")).unwrap().trim() != value {
            assert!(Instant::now() < until, "`{setting}` does not become `{value}`");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// A file that the server alone can read.
    pub(crate) fn hand_over(&self, name: &str) {
        let path = self.folder.join(name);
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .unwrap();
        if is_root() {
            std::os::unix::fs::chown(&path, Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server and waits until it answers.
    pub(crate) fn run(&self) {
        let mut server = self.program("postgres");
        server.arg("-D").arg(self.folder.join("data")).arg("-k").arg(&self.folder);
        server.args(self.settings.iter().flat_map(|setting| ["-c", setting]));
        server.stdout(Stdio::null()).stderr(Stdio::null());
        let (started, starts) = mpsc::channel();
        // It ends with the thread that started it, and so that thread stays.
        std::thread::spawn(move || {
            let child = server.spawn();
            started.send(child.is_ok()).unwrap();
            child.unwrap().wait().unwrap();
        });
        assert!(starts.recv().unwrap());
        let until = Instant::now() + PATIENCE;
        while self.sql("postgres", "SELECT 1").is_none() {
            assert!(Instant::now() < until, "Postgres does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Stops the server at once, as a crash does.
    pub(crate) fn crash(&self) {
        let mut stop = self.program("pg_ctl");
        stop.arg("stop").arg("-D").arg(self.folder.join("data")).args(["-m", "immediate"]);
        assert!(stop.stdout(Stdio::null()).status().unwrap().success());
    }

    /// Makes a database, and gives its address.
    pub(crate) fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}")).unwrap();
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://crib@{folder}/{name}")
    }

    /// What a statement answers; `None` if it was not done.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> Option<String> {
        let mut psql = self.program("psql");
        psql.args(["-U", "crib", "-qXAt", "-v", "ON_ERROR_STOP=1", "-d", database]);
        psql.arg("-p").arg(self.port.to_string());
        psql.arg("-h").arg(&self.folder).args(["-c", "SET search_path = toolcrib"]);
        let done = psql.args(["-c", statement]).stderr(Stdio::null()).output().unwrap();
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
    }

    /// Writes all that one database has into another.
    pub(crate) fn pour(&self, from: &str, to: &str) {
        let mut dump = self.program("pg_dump");
        dump.args(["-U", "crib", "-p", &self.port.to_string(), "-h"]).arg(&self.folder).arg(from);
        let mut dump = dump.stdout(Stdio::piped()).spawn().unwrap();
        let mut psql = self.program("psql");
        psql.args(["-U", "crib", "-qX", "-v", "ON_ERROR_STOP=1", "-d", to]);
        psql.args(["-p", &self.port.to_string(), "-h"]).arg(&self.folder);
        psql.stdin(dump.stdout.take().unwrap()).stdout(Stdio::null());
        assert!(psql.status().unwrap().success());
        assert!(dump.wait().unwrap().success());
    }

    /// Copies all that the server has, while it is stopped; or puts the copy back.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        let [from, to] = [from, to].map(|name| self.folder.join(name));
        let _ = std::fs::remove_dir_all(&to);
        let done = command("cp").arg("-a").arg(from).arg(to).status().unwrap();
        assert!(done.success(), "{done}");
    }

    /// A program of it, which refuses root and ends with who started it.
    pub(crate) fn program(&self, name: &str) -> Command {
        let mut command = command("setpriv");
        command.arg("--pdeathsig=INT");
        if is_root() {
            command.arg(format!("--reuid={NOBODY}")).arg(format!("--regid={NOBODY}"));
            command.arg("--clear-groups");
        }
        command.arg(self.programs.join(name)).current_dir(&self.folder);
        // Those of a package bring their libraries.
        command.env("LD_LIBRARY_PATH", self.programs.join("../lib"));
        command
    }
}

/// Whom root runs a server as, which refuses root.
const NOBODY: u32 = 65_534;

const PREFIX: &str = "toolcrib-pg-";

/// Removes the folders of processes that are gone: a server outlives its test for a moment.
fn sweep() {
    for folder in std::fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let name = folder.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            let _ = std::fs::remove_dir_all(folder.path());
        }
    }
}

fn is_root() -> bool {
    let owner = std::os::unix::fs::MetadataExt::uid;
    std::fs::metadata("/proc/self").is_ok_and(|this| owner(&this) == 0)
}

#[expect(clippy::disallowed_methods, reason = "a server of a test, which needs the environment")]
pub(crate) fn command(program: &str) -> Command {
    Command::new(program)
}
