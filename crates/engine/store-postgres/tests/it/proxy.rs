//! What stands between a store and its server, and cuts.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of what goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// Whoever comes is sent away, and whoever is there as well.
    Shut,
    /// Nothing goes through any more, and nobody is told.
    Silent,
    /// Until something is to be confirmed: that does not arrive, and the way is shut.
    ShutBeforeCommit,
    /// Until something is to be confirmed: that arrives, and its answer does not.
    ShutAfterCommit,
}

pub(crate) struct Proxy {
    port: u16,
    way: Arc<Mutex<Way>>,
}

impl Proxy {
    /// In front of the socket in a server's folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let way = Arc::new(Mutex::new(Way::Open));
        let (socket, shared) = (folder.join(".s.PGSQL.5432"), Arc::clone(&way));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // Whoever gave up before it was taken must not end the proxy for the others.
                let Ok(client) = client else { continue };
                let way = Arc::clone(&shared);
                if *way.lock().unwrap() == Way::Shut {
                    continue;
                }
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                let _ = serve(&client, &server, &way);
            }
        });
        Self { port, way }
    }

    pub(crate) fn url(&self, database: &str) -> String {
        format!("postgres://crib@127.0.0.1:{}/{database}", self.port)
    }

    pub(crate) fn set(&self, way: Way) {
        *self.way.lock().unwrap() = way;
    }

    pub(crate) fn way(&self) -> Way {
        *self.way.lock().unwrap()
    }
}

fn serve(client: &TcpStream, server: &UnixStream, way: &Arc<Mutex<Way>>) -> std::io::Result<()> {
    // Each direction looks up now and then whether the way was shut.
    let often = Some(Duration::from_millis(20));
    client.set_read_timeout(often)?;
    server.set_read_timeout(often)?;
    let both = || Ok::<_, std::io::Error>((client.try_clone()?, server.try_clone()?));
    let ((from, to), (to_close, from_close)) = (both()?, both()?);
    let shared = Arc::clone(way);
    std::thread::spawn(move || {
        forward(from, to, &shared, true);
        let _ = to_close.shutdown(Shutdown::Both);
        let _ = from_close.shutdown(Shutdown::Both);
    });
    let ((to, from), (to_close, from_close)) = (both()?, both()?);
    let shared = Arc::clone(way);
    std::thread::spawn(move || {
        forward(from, to, &shared, false);
        let _ = to_close.shutdown(Shutdown::Both);
        let _ = from_close.shutdown(Shutdown::Both);
    });
    Ok(())
}

fn forward(mut from: impl Read, mut to: impl Write, way: &Arc<Mutex<Way>>, is_of_client: bool) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if *way.lock().unwrap() == Way::Shut {
            return;
        }
        let count = match from.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => continue,
            Err(_) => return,
        };
        let bytes = &buffer[..count];
        let confirms = is_of_client && bytes.windows(7).any(|seven| seven == b"COMMIT\0");
        let mut now = way.lock().unwrap();
        match *now {
            Way::Silent => continue,
            Way::Shut => return,
            Way::ShutBeforeCommit if confirms => {
                *now = Way::Shut;
                return;
            }
            Way::ShutAfterCommit if confirms => {
                // The lock is held, so that no answer goes through before the way is shut.
                let _ = to.write_all(bytes);
                *now = Way::Shut;
                // What arrived is read, although nobody is there to be answered.
                std::thread::sleep(Duration::from_millis(100));
                return;
            }
            Way::Open | Way::ShutBeforeCommit | Way::ShutAfterCommit => {}
        }
        drop(now);
        if to.write_all(bytes).is_err() {
            return;
        }
    }
}
