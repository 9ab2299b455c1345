//! TLS without a proxy.

use std::io::{Read as _, Write as _};

use super::keys::make;
use super::support::{Serving, bearer, eventually, state};
use crate::process::{Folder, run_in, shell};

const SERVER: &str = "[server]\nhosts = [\"crib.example\"]\n\
                      tls = { certificate = \"certificate.pem\", key = \"key.pem\" }\n";

/// A folder with a certificate that nobody vouches for but itself; `None` without `openssl` or
/// `curl`.
fn folder() -> Option<Folder> {
    let folder = Folder::new();
    let made = shell(
        &folder,
        "umask 077; curl --version >/dev/null && openssl req -x509 -newkey ec \
         -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=crib.example \
         -addext subjectAltName=DNS:crib.example -keyout key.pem -out certificate.pem",
    );
    if made.code == 0 {
        return Some(folder);
    }
    let mut out = std::io::stdout();
    writeln!(out, "[skipped] `openssl` or `curl` is not there").unwrap();
    None
}

#[test]
fn others_come_in_by_tls_without_a_proxy() {
    let Some(folder) = folder() else { return };
    let (key, entry) = make(&folder, &["ci"]);
    folder.write("crib.toml", &(SERVER.to_owned() + &entry));
    let serving = Serving::starting_at(folder, &["--listen", "0.0.0.0:0"]);
    let port = serving.address.rsplit(':').next().unwrap();
    let ask = |options: &str| {
        let line = format!(
            "curl -sS {options} --connect-to crib.example:443:127.0.0.1:{port} \
             -H '{}' -w '%{{http_code}} %{{http_version}}' https://crib.example/v1/tools",
            bearer(&key)
        );
        shell(&serving.folder, &line)
    };
    let answer = ask("--cacert certificate.pem");
    assert!(answer.out.ends_with("200 1.1"), "{answer:?}");
    assert_ne!(ask("").code, 0, "a client that does not know the certificate");
    assert_ne!(ask("--cacert certificate.pem --tls-max 1.1").code, 0);
    // Who does not greet is not answered, and harms nobody.
    let mut plain = serving.connect();
    let head = format!("GET /v1/tools HTTP/1.1\r\nHost: crib.example\r\n{}\r\n\r\n", bearer(&key));
    plain.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
    assert!(ask("--cacert certificate.pem").out.ends_with("200 1.1"));
}

#[test]
fn a_socket_is_opened_by_tls_as_well() {
    let Some(folder) = folder() else { return };
    let (key, entry) = make(&folder, &["ci"]);
    // The client answers no ping, and goes when it is let go.
    let limits = "[server.limits]\nstall = \"3s\"\nbody_time = \"3s\"\n";
    folder.write("crib.toml", &format!("{SERVER}{limits}{entry}"));
    let serving = Serving::starting_at(folder, &["--listen", "127.0.0.1:0"]);
    let head = format!(
        "GET /v1/responses HTTP/1.1\\r\\nHost: crib.example\\r\\nConnection: Upgrade\\r\\n\
         Upgrade: websocket\\r\\nSec-WebSocket-Version: 13\\r\\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n{}\\r\\n\\r\\n",
        bearer(&key)
    );
    // A text of two letters, under a mask of zeros; the heads of frames are no text.
    let line = format!(
        "(printf '{head}'; sleep 1; printf '\\201\\202\\0\\0\\0\\0{{}}'; sleep 1) | openssl s_client \
         -quiet -servername crib.example -connect {} 2>/dev/null | LC_ALL=C tr -cd '\\040-\\176'",
        serving.address
    );
    let told = shell(&serving.folder, &line).out;
    assert!(told.starts_with("HTTP/1.1 101 ") && told.contains("\"type\":\"error\""), "{told}");
}

#[test]
fn who_finds_no_room_behind_tls_is_told_when_to_come_again() {
    let Some(folder) = folder() else { return };
    let (key, entry) = make(&folder, &["ci"]);
    folder.write("crib.toml", &format!("{SERVER}[server.limits]\nconnections = 4\n{entry}"));
    let serving = Serving::starting_at(folder, &["--listen", "127.0.0.1:0"]);
    let port = serving.address.rsplit(':').next().unwrap();
    let line = format!(
        "curl -sS -i --cacert certificate.pem --connect-to crib.example:443:127.0.0.1:{port} \
         -H '{}' https://crib.example/v1/tools",
        bearer(&key)
    );
    // Who has not greeted yet holds a place.
    let silent: Vec<_> = (0..4).map(|_| serving.connect()).collect();
    let told = || shell(&serving.folder, &line);
    assert!(eventually(|| told().out.starts_with("HTTP/1.1 503")), "{:?}", told());
    let answer = told();
    assert!(answer.out.contains("retry-after: 1"), "{answer:?}");
    assert!(answer.out.contains("as many connections are open as there is room for"), "{answer:?}");
    drop(silent);
    assert!(eventually(|| told().out.starts_with("HTTP/1.1 200")), "{:?}", told());
    // Many at once are not all greeted, and the server goes on.
    let silent: Vec<_> = (0..4).map(|_| serving.connect()).collect();
    let crowd: Vec<_> = (0..200).map(|_| serving.connect()).collect();
    drop((silent, crowd));
    assert!(eventually(|| told().out.starts_with("HTTP/1.1 200")), "{:?}", told());
}

#[test]
fn a_certificate_that_cannot_be_used_is_told_at_the_start() {
    let Some(folder) = folder() else { return };
    let other = shell(&folder, "openssl ecparam -name prime256v1 -genkey -noout -out other.pem");
    assert_eq!(other.code, 0, "{other:?}");
    folder.write("empty.pem", "");
    for (certificate, key, told) in [
        ("none.pem", "key.pem", "cannot open"),
        ("certificate.pem", "none.pem", "cannot open"),
        ("empty.pem", "key.pem", "holds no certificate"),
        ("certificate.pem", "empty.pem", "holds no private key"),
        ("certificate.pem", "other.pem", "is not the key of the certificate"),
    ] {
        let server = SERVER.replace("\"key.pem\"", &format!("\"{key}\""));
        let server = server.replace("\"certificate.pem\"", &format!("\"{certificate}\""));
        folder.write("crib.toml", &server);
        let words = ["serve", "--listen", "127.0.0.1:0"];
        let ran = run_in(&folder, &words, &[("XDG_STATE_HOME", &state(&folder))]);
        assert!(ran.code == 2 && ran.err.contains(told), "{certificate} {key}: {ran:?}");
        assert!(ran.err.contains("[server.tls]"), "{ran:?}");
    }
}
