//! The engines that are servers, on ports of this machine.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::process::Folder;

/// How long one may take to come.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server, which ends with the test.
struct Running {
    child: Child,
    _folder: Folder,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Running {
    /// Starts a program in a folder of its own, and waits until these ports are open.
    fn start(mut command: Command, ports: &[u16]) -> Self {
        let folder = Folder::new();
        command.current_dir(folder.path()).env("HOME", folder.path());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().unwrap();
        let running = Self { child, _folder: folder };
        let until = Instant::now() + PATIENCE;
        for port in ports {
            while TcpStream::connect(("127.0.0.1", *port)).is_err() {
                assert!(Instant::now() < until, "nobody listens at {port}");
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        running
    }
}

/// Ports that nobody has at the moment.
fn ports<const COUNT: usize>() -> [u16; COUNT] {
    // Held until all of them are there, so that none comes twice.
    let listeners = [(); COUNT].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

#[expect(clippy::disallowed_methods, reason = "the engine is a program")]
fn command(program: &Path) -> Command {
    Command::new(program)
}

pub(super) struct Temporal {
    pub(super) address: String,
    _running: Running,
}

impl Temporal {
    pub(super) fn start(python: &Path) -> Self {
        let [port] = ports();
        let mut server = command(&python.with_file_name("temporal"));
        server.args(["server", "start-dev", "--headless", "--ip", "127.0.0.1"]);
        server.args(["--log-level", "never", "--port", &port.to_string()]);
        Self { address: format!("127.0.0.1:{port}"), _running: Running::start(server, &[port]) }
    }
}

pub(super) struct Restate {
    pub(super) admin: String,
    pub(super) ingress: String,
    /// The port for the service that it calls.
    pub(super) service: String,
    _running: Running,
}

impl Restate {
    /// `programs`: of the Node peers, of which its package is one.
    pub(super) fn start(programs: &Path) -> Self {
        let [own, admin, ingress, service] = ports();
        // The package of this machine; the one without a machine starts it by Node.
        let scope = programs.parent().unwrap().join("@restatedev");
        let packages = std::fs::read_dir(scope).unwrap();
        let mut found = packages.map(|package| package.unwrap().path().join("bin/restate-server"));
        let mut server = command(&found.find(|program| program.is_file()).unwrap());
        let local = |port: u16| format!("127.0.0.1:{port}");
        server.args(["--no-logo", "--base-dir", ".", "--node-name", "engine"]);
        server.args(["--listen-mode", "tcp", "--bind-ip", "127.0.0.1"]);
        server.args(["--bind-port", &own.to_string()]);
        server.env("RESTATE_ADMIN__BIND_ADDRESS", local(admin));
        server.env("RESTATE_INGRESS__BIND_ADDRESS", local(ingress));
        server.env("RESTATE_DISABLE_TELEMETRY", "true");
        server.env("RESTATE_DEFAULT_NUM_PARTITIONS", "1");
        let running = Running::start(server, &[admin, ingress]);
        let url = |port: u16| format!("http://{}", local(port));
        Self {
            admin: url(admin),
            ingress: url(ingress),
            service: service.to_string(),
            _running: running,
        }
    }
}
