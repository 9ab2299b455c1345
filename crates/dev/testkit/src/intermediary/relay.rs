//! The server behind the gateway as a program: what comes on one side goes out at the other.

use std::io::{self, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

/// How long the suite may take to listen.
const PATIENCE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(20);

/// Relays standard input and output to the suite at an address, until either ends.
pub(super) fn run(address: &str) -> ExitCode {
    match relay(address) {
        // The suite closed it: this program was to end.
        Ok(()) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: no suite at `{address}`: {error}");
            ExitCode::from(2)
        }
    }
}

fn relay(address: &str) -> io::Result<()> {
    let start = Instant::now();
    let stream = loop {
        match TcpStream::connect(address) {
            Ok(stream) => break stream,
            Err(error) if start.elapsed() > PATIENCE => return Err(error),
            Err(_) => thread::sleep(LOOK),
        }
    };
    stream.set_nodelay(true)?;
    (&stream).write_all(b"PIPE / HTTP/1.1\r\n\r\n")?;
    let forward = stream.try_clone()?;
    thread::spawn(move || {
        let _ = pass(&mut io::stdin().lock(), &mut (&forward));
        // The suite then ends its side, and with it this program.
        let _ = forward.shutdown(Shutdown::Write);
    });
    pass(&mut (&stream), &mut io::stdout().lock())
}

fn pass(from: &mut impl io::Read, to: &mut impl io::Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = from.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        to.write_all(buffer.get(..count).unwrap_or_default())?;
        to.flush()?;
    }
}
