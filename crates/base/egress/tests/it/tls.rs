//! TLS with a certificate that is trusted, and with one that is not.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::fs;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use h2::Reason;
use http::Method;
use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use toolcrib_egress::{Egress, EgressError, EgressErrorKind, EgressRequest, EgressScope, Network};
use url::Url;

use crate::server::{answer, hear};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("egress-tls")
}

#[expect(clippy::disallowed_methods, reason = "a test may start what it needs")]
fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// A certificate of `named.test` that nobody vouches for but itself; false without `openssl`.
fn make_certificate() -> bool {
    fs::create_dir_all(folder()).unwrap();
    let settings = "[req]\ndistinguished_name = name\nx509_extensions = own\nprompt = no\n\
                    [name]\nCN = named.test\n\
                    [own]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = DNS:named.test\n";
    fs::write(folder().join("settings"), settings).unwrap();
    let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                     -config settings -keyout key.pem -out certificate.pem";
    let mut openssl = command("openssl");
    openssl.current_dir(folder()).args(arguments.split(' '));
    openssl.output().is_ok_and(|output| output.status.success())
}

/// A server that speaks what is said of `protocol`, on a port of its own.
async fn serve(protocol: &str) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let certificate = CertificateDer::from_pem_file(folder().join("certificate.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder().join("key.pem")).unwrap();
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let accepting = acceptor.accept(stream);
            tokio::spawn(async move {
                let Ok(stream) = accepting.await else { return };
                match stream.get_ref().1.alpn_protocol() {
                    Some(b"h2") => answer_two(stream).await,
                    _ => answer_one(stream).await,
                }
            });
        }
    });
    port
}

async fn answer_one(mut stream: TlsStream<TcpStream>) {
    while hear(&mut stream, &Mutex::default()).await {
        stream.write_all(&answer("200 OK", "", b"one")).await.unwrap();
    }
}

async fn answer_two(stream: TlsStream<TcpStream>) {
    let mut connection = h2::server::handshake(stream).await.unwrap();
    while let Some(Ok((request, mut respond))) = connection.accept().await {
        match request.uri().path() {
            "/refuse" => respond.send_reset(Reason::REFUSED_STREAM),
            "/break" => respond.send_reset(Reason::INTERNAL_ERROR),
            _ => {
                let mut body = respond.send_response(http::Response::new(()), false).unwrap();
                body.send_data(Bytes::from_static(b"two"), true).unwrap();
            }
        }
    }
}

fn egress(port: u16) -> Egress {
    let hosts = ["named.test", "other.test"];
    let schemes = ["https", "imap", "imaps"];
    let urls = |host| schemes.map(|scheme| format!("{scheme}://{host}:{port}"));
    let named = hosts.into_iter().flat_map(urls).map(|url| Url::parse(&url).unwrap());
    let lookup = |_: &str| Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]);
    Egress::with_lookup(EgressScope::Named, named, Network::default(), lookup).unwrap()
}

async fn get(egress: &Egress, url: &str) -> Result<Bytes, EgressError> {
    let request = EgressRequest::new(Method::GET, Url::parse(url).unwrap());
    egress.send(request).await?.bytes(1000).await
}

/// Bare connections, with TLS at once and later.
async fn lines(egress: &Egress, port: u16) {
    let within = Duration::from_secs(5);
    let open = async |scheme: &str, host: &str| {
        let url = Url::parse(&format!("{scheme}://{host}:{port}")).unwrap();
        egress.line(&url, within).await
    };
    let plain = open("imap", "named.test").await.unwrap();
    assert_eq!((plain.is_secure(), plain.is_local()), (false, true));
    for mut line in
        [plain.secure(within).await, open("imaps", "named.test").await].map(Result::unwrap)
    {
        assert_eq!((line.is_secure(), line.is_local()), (true, true));
        line.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
        let mut answer = [0; 15];
        line.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 200 OK");
    }
    let plain = open("imap", "other.test").await.unwrap();
    for wrong in [plain.secure(within).await, open("imaps", "other.test").await] {
        assert_eq!(wrong.err().map(|error| error.kind), Some(EgressErrorKind::NotConnected));
    }
}

#[tokio::test]
async fn a_certificate_counts_only_if_the_system_trusts_it() {
    if !make_certificate() {
        writeln!(std::io::stdout(), "[skipped] `openssl` is not there").unwrap();
        return;
    }
    let port = serve("http/1.1").await;
    let error = get(&egress(port), &format!("https://named.test:{port}/")).await.unwrap_err();
    assert_eq!((error.kind, error.never_sent()), (EgressErrorKind::NotConnected, true));
    assert!(error.causes().unwrap().contains("UnknownIssuer"), "{error:?}");
    // The roots are read once in a process, so another one trusts the certificate.
    let inner = ["tls::a_trusted_server_is_spoken_to", "--exact", "--nocapture"];
    let output = command(std::env::current_exe().unwrap())
        .args(inner)
        .env("SSL_CERT_FILE", folder().join("certificate.pem"))
        .env(TRUSTING, "yes")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("1 passed"), "{said}{complained}");
}

/// Says to a process that it was started to trust the certificate.
const TRUSTING: &str = "TOOLCRIB_TEST_TRUSTING";

/// Checks something only in the process that the test above starts.
#[tokio::test]
async fn a_trusted_server_is_spoken_to() {
    #[expect(clippy::disallowed_methods, reason = "the process is told what it is for")]
    if std::env::var_os(TRUSTING).is_none() {
        return;
    }
    for (protocol, word) in [("http/1.1", "one"), ("h2", "two")] {
        let port = serve(protocol).await;
        let egress = egress(port);
        let url = format!("https://named.test:{port}/");
        assert_eq!(get(&egress, &url).await.unwrap(), word);
        assert_eq!(get(&egress, &url).await.unwrap(), word);
        let route = egress.route(&url.parse().unwrap()).unwrap();
        let body = Bytes::new();
        let headers = http::HeaderMap::new();
        let response = egress.exchange(&route, Method::GET, headers, body).await.unwrap();
        let chunks = response.try_collect::<Vec<_>>().await.unwrap();
        assert_eq!(chunks.concat(), word.as_bytes());
        let error = get(&egress, &format!("https://other.test:{port}/")).await.unwrap_err();
        assert_eq!((error.kind, error.never_sent()), (EgressErrorKind::NotConnected, true));
        if protocol == "http/1.1" {
            lines(&egress, port).await;
        }
        if protocol == "h2" {
            let refused = get(&egress, &format!("{url}refuse")).await.unwrap_err();
            assert_eq!(
                (refused.kind, refused.never_sent()),
                (EgressErrorKind::Broken, true),
                "{refused:?}"
            );
            let broken = get(&egress, &format!("{url}break")).await.unwrap_err();
            assert_eq!(
                (broken.kind, broken.never_sent()),
                (EgressErrorKind::Broken, false),
                "{broken:?}"
            );
        }
    }
    assert!(CryptoProvider::get_default().is_none(), "TLS was made without one for the process");
}
