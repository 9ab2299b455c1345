//! A server of SMTP over a real socket, that wants a password and delivers into a maildir.

use std::fs;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

/// `user` and `sec ret"`, as `AUTH PLAIN` has it.
const PASSWORD: &str = "AHVzZXIAc2VjIHJldCI=";

/// What is odd about a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    Not,
    /// Breaks off at a command.
    BreaksAt(&'static str),
    /// Answers a command with this.
    Says(&'static str, &'static str),
    /// Has no end of its answers.
    NeverEnds,
    /// Speaks on before TLS has begun.
    SpeaksBeforeTls,
}

/// Receivers and bytes.
type Taken = (Vec<String>, String);

#[derive(Clone)]
pub(crate) struct Sink {
    pub(crate) port: u16,
    odd: Odd,
    /// Where mails for `user@mail.test` go.
    maildir: Option<PathBuf>,
    tls: Option<TlsAcceptor>,
    /// Everything that was taken.
    taken: Arc<Mutex<Vec<Taken>>>,
    /// Every command.
    heard: Arc<Mutex<Vec<String>>>,
    delivered: Arc<AtomicU64>,
}

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}
type Talk = BufReader<Box<dyn Stream>>;
impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

impl Sink {
    pub(crate) async fn start(odd: Odd, maildir: Option<PathBuf>, tls: Option<PathBuf>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let tls = tls.map(|folder| {
            let certificate =
                CertificateDer::from_pem_file(folder.join("certificate.pem")).unwrap();
            let key = PrivateKeyDer::from_pem_file(folder.join("key.pem")).unwrap();
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_safe_default_protocol_versions()
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![certificate], key)
                .unwrap();
            TlsAcceptor::from(Arc::new(config))
        });
        let (taken, heard, delivered) = <_>::default();
        let sink = Self { port, odd, maildir, tls, taken, heard, delivered };
        let server = sink.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(async move { server.talk(stream).await });
            }
        });
        sink
    }

    pub(crate) fn taken(&self) -> Vec<Taken> {
        self.taken.lock().unwrap().clone()
    }

    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }

    async fn talk(self, stream: tokio::net::TcpStream) -> Option<()> {
        let mut stream: Talk = BufReader::new(Box::new(stream));
        let mut is_secure = false;
        let mut is_known = false;
        let mut to = Vec::new();
        stream.write_all(b"220 sink\r\n").await.ok()?;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
            let line = line.trim_end().to_owned();
            self.heard.lock().unwrap().push(line.clone());
            let verb = line.split([' ', ':']).next().unwrap().to_ascii_uppercase();
            match self.odd {
                Odd::BreaksAt(at) if at == verb => return None,
                Odd::Says(at, answer) if at == verb => {
                    stream.write_all(answer.as_bytes()).await.ok()?;
                    continue;
                }
                Odd::NeverEnds => {
                    stream.write_all(&b"250-more\r\n".repeat(10_000)).await.ok()?;
                }
                Odd::Not | Odd::BreaksAt(_) | Odd::Says(..) | Odd::SpeaksBeforeTls => {}
            }
            let answer = match &*verb {
                "EHLO" if self.tls.is_some() && !is_secure => {
                    "250-sink\r\n250-AUTH PLAIN\r\n250 STARTTLS\r\n"
                }
                "EHLO" => "250-sink\r\n250-AUTH LOGIN PLAIN\r\n250 8BITMIME\r\n",
                "STARTTLS" => {
                    stream = self.secure(stream).await?;
                    is_secure = true;
                    continue;
                }
                "AUTH" if line == format!("AUTH PLAIN {PASSWORD}") => {
                    is_known = true;
                    "235 welcome\r\n"
                }
                "AUTH" => "535 who are you\r\n",
                "MAIL" if !is_known => "530 who are you\r\n",
                "MAIL" => "250 ok\r\n",
                "RCPT" => {
                    to.push(line.split_once('<')?.1.strip_suffix('>')?.to_owned());
                    "250 ok\r\n"
                }
                "DATA" => {
                    stream.write_all(b"354 go\r\n").await.ok()?;
                    let message = self.message(&mut stream).await?;
                    if self.odd == Odd::BreaksAt(".") {
                        return None;
                    }
                    self.deliver(std::mem::take(&mut to), message);
                    "250 taken\r\n"
                }
                "QUIT" => return None,
                _ => "500 what\r\n",
            };
            stream.write_all(answer.as_bytes()).await.ok()?;
        }
    }

    async fn secure(&self, mut stream: Talk) -> Option<Talk> {
        let odd = self.odd == Odd::SpeaksBeforeTls;
        let more = if odd { "250 AUTH PLAIN\r\n" } else { "" };
        stream.write_all(format!("220 go\r\n{more}").as_bytes()).await.ok()?;
        let accepted = self.tls.as_ref()?.accept(stream.into_inner()).await.ok()?;
        Some(BufReader::new(Box::new(accepted)))
    }

    async fn message(&self, stream: &mut Talk) -> Option<String> {
        let mut message = String::new();
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).await.ok().filter(|read| *read > 0)?;
            assert!(line.ends_with("\r\n"), "{line:?}");
            if line == ".\r\n" {
                return Some(message);
            }
            message.push_str(line.strip_prefix('.').unwrap_or(&line));
        }
    }

    fn deliver(&self, to: Vec<String>, message: String) {
        let is_here = to.iter().any(|address| address == "user@mail.test");
        if let Some(maildir) = self.maildir.as_ref().filter(|_| is_here) {
            let number = self.delivered.fetch_add(1, Ordering::SeqCst);
            let made = maildir.join("tmp").join(format!("{number}.sink"));
            let file = fs::File::create(&made).unwrap();
            fs::write(&made, &message).unwrap();
            // Dovecot tells seconds apart, and each comes in one of its own.
            let date = SystemTime::now() - Duration::from_secs(1000 - number);
            file.set_modified(date).unwrap();
            fs::rename(&made, maildir.join("new").join(format!("{number}.sink"))).unwrap();
        }
        self.taken.lock().unwrap().push((to, message));
    }
}
