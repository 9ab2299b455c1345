//! Cards with signatures, of cribs and of agents of the SDK in Python.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::agents::BASICS;
use super::support::{Serving, eventually};
use crate::process::Folder;

const SIGNS: &str = include_str!("sdks/a2a_signs.py");
/// Made for these tests and used for nothing else.
const KEY: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgroqeMGC/uJh+u0OO
4QvbC4IObenm36zroo+UM7rFaT6hRANCAARcfQFU9teDpCjVwUZJZ3L915d2MlpW
o3N7HcW9j+RnuDSZmJT969ir2OW9P3nAR5ys53tdabDjSYRcZH3HPXYp
-----END PRIVATE KEY-----
";
const OTHER: &str = "-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgp/Qe5QRt0A5CBA+Q
zA7mBcTdEU5AHXYt/nZ0/w1pQAWhRANCAARODfop4+em/3JOoLjq8UOugKFZBSv4
/Wc+4/GpXOVCxYZkiXpOU8uYVgseugy/IUnYJKii75t+HU7Bli1wRyeJ
-----END PRIVATE KEY-----
";

/// A crib whose cards are signed with the key.
fn signing(key: &str) -> Serving {
    let folder = Folder::new();
    folder.write("card.pem", key);
    folder.write("crib.toml", &format!("[server]\ncard_key = \"card.pem\"\n{BASICS}"));
    Serving::start_in(folder, &[])
}

/// The public key that stands beside the signature of a crib's card.
fn shown(serving: &Serving) -> Value {
    let card = serving.ask("GET", "/.well-known/agent-card.json", "").json();
    card["signatures"][0]["header"]["jwk"].clone()
}

/// A crib whose tool is the agent at the address, if its card is signed with the key.
fn believing(card: &str, token: &str, key: &Value) -> Serving {
    let fields = key.as_object().unwrap().iter();
    let fields: Vec<_> = fields.map(|(name, value)| format!("{name} = {value}")).collect();
    let folder = Folder::new();
    folder.write("agent.token", token);
    folder.write(
        "crib.toml",
        &format!(
            "[[source]]\nid = \"other\"\na2a = {{ card = \"{card}\", auth = {{ bearer = \
             \"${{file:agent.token}}\" }}, keys = [{{ {} }}] }}\n",
            fields.join(", ")
        ),
    );
    Serving::start_in(folder, &[])
}

#[test]
fn a_crib_signs_its_cards_and_another_believes_the_key_alone() {
    let signs = signing(KEY);
    let base = format!("http://{}", signs.address);
    believing(&base, &signs.token, &shown(&signs)).hears("`other`: 1 tools");
    let (others, unsigned) = (signing(OTHER), Serving::start(&[]));
    for agent in [&others, &unsigned] {
        let base = format!("http://{}", agent.address);
        let believes = believing(&base, &agent.token, &shown(&signs));
        believes.hears("is not signed with a key that `keys` of this source has");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_holds_no_key_keeps_the_server_from_starting() {
    let folder = Folder::new();
    folder.write("card.pem", "hush");
    folder.write("crib.toml", "[server]\ncard_key = \"card.pem\"\n");
    let Err((_, told)) = Serving::try_start(folder) else { unreachable!("it started") };
    assert!(told.contains("server.card_key"), "{told}");
    assert!(told.contains("it begins `-----BEGIN PRIVATE KEY-----`"), "{told}");
    assert!(!told.contains("hush"), "{told}");
}

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn python() -> Option<PathBuf> {
    let found = std::env::var_os("TOOLCRIB_PYTHON_A2A").map(PathBuf::from);
    if found.is_none() {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no SDK in Python: `cargo xtask peers` installs it").unwrap();
    }
    found
}

#[expect(clippy::disallowed_methods, reason = "the SDK is a program")]
fn sdk(python: &PathBuf, folder: &Folder, words: &[&str]) -> Command {
    folder.write("signs.py", SIGNS);
    let mut command = Command::new(python);
    command.args(["-W", "ignore", "signs.py"]).args(words).current_dir(folder.path());
    command
}

#[test]
fn the_sdk_in_python_checks_what_a_crib_signs() {
    let Some(python) = python() else { return };
    let signs = signing(KEY);
    let other = shown(&signing(OTHER));
    let base = format!("http://{}", signs.address);
    for path in ["/.well-known/agent-card.json", "/a2a/default/.well-known/agent-card.json"] {
        for (key, wanted) in
            [(shown(&signs), "verified"), (other.clone(), "InvalidSignaturesError")]
        {
            let words = ["verify", &base, path, &signs.token, &key.to_string()];
            let run = sdk(&python, &signs.folder, &words).output().unwrap();
            let told = String::from_utf8_lossy(&run.stdout);
            assert_eq!(told.trim(), wanted, "{path} {}", String::from_utf8_lossy(&run.stderr));
        }
    }
}

/// An agent of the SDK whose card is signed; ends with its test.
struct SigningAgent(Child);

impl Drop for SigningAgent {
    fn drop(&mut self) {
        let _ = (self.0.kill(), self.0.wait());
    }
}

#[test]
fn a_crib_checks_what_the_sdk_in_python_signs() {
    let Some(python) = python() else { return };
    let folder = Folder::new();
    folder.write("key.pem", KEY);
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut agent = sdk(&python, &folder, &["serve", &port.to_string(), "key.pem"]);
    let agent = agent.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let _agent = SigningAgent(agent);
    assert!(eventually(|| TcpStream::connect(("127.0.0.1", port)).is_ok()));
    let base = format!("http://127.0.0.1:{port}");
    believing(&base, "any", &shown(&signing(KEY))).hears("`other`: 1 tools");
    believing(&base, "any", &shown(&signing(OTHER)))
        .hears("is not signed with a key that `keys` of this source has");
}
