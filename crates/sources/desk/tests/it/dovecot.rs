//! A Dovecot of Debian, as `cargo xtask peers` unpacks it, on ports of its own.
//!
//! It is not installed: the folders where it was built to live are laid over those of the system in
//! a namespace of mounts that only it sees. That needs root, and so does Dovecot.

use std::fs;
use std::io::Write;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Who mail lies as: an account that every Debian has.
const DAEMON: u32 = 1;

pub(crate) struct Dovecot {
    pub(crate) port: u16,
    pub(crate) tls_port: u16,
    pub(crate) folder: PathBuf,
    process: Child,
}

#[expect(clippy::disallowed_methods, reason = "a test may start what it needs")]
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>) -> Command {
    Command::new(program)
}

/// Tells why something was not checked.
pub(crate) fn skip(why: &str) {
    // Past the capture of the harness.
    let mut out = std::io::stdout();
    writeln!(out, "[skipped] {why}").unwrap();
}

fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

impl Dovecot {
    /// One that can all it can.
    pub(crate) fn start(name: &str) -> Option<Self> {
        let folders =
            [("Entw&APw-rfe", "Drafts"), ("Sent", "Sent"), ("Bin", "Trash"), ("Junk", "Junk")];
        let folder = |(name, used)| {
            format!("mailbox {name} {{\n special_use = \\{used}\n auto = create\n}}\n")
        };
        let folders: Vec<String> = folders.into_iter().map(folder).collect();
        Self::start_with(name, "", &folders.concat())
    }

    /// One that says it can no more than the standard of 2003 asks for.
    pub(crate) fn start_bare(name: &str) -> Option<Self> {
        Self::start_with(
            name,
            "imap_capability = IMAP4rev1\n",
            "mailbox Spam {\n auto = create\n}\n",
        )
    }

    /// `None` where it cannot run, after saying why.
    fn start_with(name: &str, settings: &str, folders: &str) -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "the chores tell tests where things are")]
        let unpacked = std::env::var_os("TOOLCRIB_DOVECOT").map(PathBuf::from);
        let Some(unpacked) = unpacked else {
            skip("there is no Dovecot: `cargo xtask peers` says where it is");
            return None;
        };
        // Its sockets have short names at the most.
        let folder = std::env::temp_dir().join(format!("desk-{}-{name}", std::process::id()));
        fs::create_dir_all(folder.join("run")).unwrap();
        let mail = folder.join("mail");
        let user = mail.join("user");
        let parts = ["new", "cur", "tmp"].map(|name| user.join(name));
        for folder in [&mail, &user].into_iter().chain(&parts) {
            fs::create_dir_all(folder).unwrap();
            if std::os::unix::fs::chown(folder, Some(DAEMON), Some(DAEMON)).is_err() {
                skip("Dovecot needs root");
                return None;
            }
        }
        fs::write(folder.join("users"), "user:{PLAIN}sec ret\"\n").unwrap();
        make_certificate(&folder);
        let (port, tls_port) = (free_port(), free_port());
        let text = configuration(&folder, [port, tls_port], folders) + settings;
        let settings = folder.join("dovecot.conf");
        fs::write(&settings, text).unwrap();
        let overlay = "mount -t overlay overlay -o lowerdir=\"$1/usr/lib\":/usr/lib /usr/lib && \
             exec \"$1/usr/bin/doveconf\" -f service=master -c \"$2\" -m master \
             -e \"$1/usr/sbin/dovecot\" -F -c \"$2\"";
        let process = command("unshare")
            .args(["--mount", "sh", "-c", overlay, "sh"])
            .arg(&unpacked)
            .arg(&settings)
            .env("LD_LIBRARY_PATH", "/usr/lib/dovecot")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(folder.join("errors")).unwrap())
            .spawn()
            .unwrap();
        let dovecot = Self { port, tls_port, folder, process };
        for _ in 0..100 {
            if TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok() {
                return Some(dovecot);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let said = fs::read_to_string(dovecot.folder.join("errors")).unwrap_or_default();
        skip(&format!("Dovecot does not start here: {said}"));
        None
    }

    /// Where a mail for a user is put, as a server of SMTP does it.
    pub(crate) fn maildir(&self, user: &str) -> PathBuf {
        self.folder.join("mail").join(user)
    }

    /// Ends what serves those who are logged in: the children of this Dovecot, and no others.
    pub(crate) fn drop_connections(&self) {
        let parent = self.process.id().to_string();
        let listed = command("ps").args(["-o", "pid=,args=", "--ppid", &parent]).output().unwrap();
        let listed = String::from_utf8(listed.stdout).unwrap();
        let serving = listed.lines().filter(|line| line.ends_with("dovecot/imap"));
        let serving: Vec<&str> =
            serving.filter_map(|line| line.split_whitespace().next()).collect();
        assert!(!serving.is_empty(), "{listed}");
        assert!(command("kill").args(serving).status().unwrap().success());
    }

    pub(crate) fn certificate(&self) -> PathBuf {
        self.folder.join("certificate.pem")
    }
}

impl Drop for Dovecot {
    fn drop(&mut self) {
        // Asked to end, it ends what it started; killed, it would not.
        let _ = command("kill").arg(self.process.id().to_string()).status();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn configuration(folder: &Path, [port, tls_port]: [u16; 2], folders: &str) -> String {
    let folder = folder.display();
    format!(
        "base_dir = {folder}/run\nstate_dir = {folder}/run\nlog_path = {folder}/log\n\
         import_environment = LD_LIBRARY_PATH\n\
         default_internal_user = daemon\ndefault_internal_group = daemon\n\
         default_login_user = nobody\nfirst_valid_uid = {DAEMON}\nfirst_valid_gid = {DAEMON}\n\
         protocols = imap\nlisten = 127.0.0.1\ndisable_plaintext_auth = no\n\
         auth_mechanisms = plain login\nmail_location = maildir:{folder}/mail/%u\n\
         ssl = yes\nssl_cert = <{folder}/certificate.pem\nssl_key = <{folder}/key.pem\n\
         stats_writer_socket_path =\n\
         passdb {{\n driver = passwd-file\n args = {folder}/users\n}}\n\
         userdb {{\n driver = static\n args = uid={DAEMON} gid={DAEMON} home={folder}/mail/%u\n}}\n\
         namespace inbox {{\n inbox = yes\n separator = /\n{folders}}}\n\
         service imap-login {{\n chroot =\n inet_listener imap {{\n port = {port}\n }}\n \
         inet_listener imaps {{\n port = {tls_port}\n }}\n}}\n\
         service anvil {{\n chroot =\n}}\nservice stats {{\n chroot =\n}}\n"
    )
}

/// A certificate of `mail.test` that nobody vouches for but itself.
pub(crate) fn make_certificate(folder: &Path) {
    let settings = "[req]\ndistinguished_name = name\nx509_extensions = own\nprompt = no\n\
                    [name]\nCN = mail.test\n\
                    [own]\nbasicConstraints = critical, CA:FALSE\nsubjectAltName = DNS:mail.test\n";
    fs::write(folder.join("settings"), settings).unwrap();
    let arguments = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
                     -config settings -keyout key.pem -out certificate.pem";
    let made = command("openssl").current_dir(folder).args(arguments.split(' ')).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
}
