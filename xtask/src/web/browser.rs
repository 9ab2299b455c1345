//! The page in a real browser: Chromium of Debian, driven by Playwright.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::tool;
use crate::machine::{cargo, program, root, target};
use crate::report::finish;

/// Where Debian has it.
const INSTALLED: &str = "/usr/bin/chromium";
/// The fonts are for names in other scripts.
const PACKAGES: [&str; 4] =
    ["chromium", "fonts-liberation2", "fonts-noto-core", "fonts-noto-color-emoji"];
/// Where packages have their libraries, some of them in folders below.
const LIBRARIES: [&str; 2] = ["usr/lib", "lib"];

/// A browser that can be started.
pub(super) struct Browser {
    program: PathBuf,
    /// Where its packages were unpacked; `None`: the machine has it.
    unpacked: Option<PathBuf>,
}

/// That of the machine, else packages of Debian, unpacked into `.tools` and not installed. Debian
/// keeps only the newest build of a release, so that none can be pinned.
pub(super) fn install() -> Result<Browser> {
    if starts(Path::new(INSTALLED)) {
        return Ok(Browser { program: INSTALLED.into(), unpacked: None });
    }
    let place = root().join(".tools/chromium");
    let unpacked = place.join("root");
    // The mark is made last, so an install that broke off is done again.
    let mark = place.join("installed");
    if !mark.exists() {
        unpack(&place, &unpacked)?;
        std::fs::write(&mark, "").context("cannot note the unpacked browser")?;
    }
    let program = unpacked.join("usr/lib/chromium/chromium");
    ensure!(program.exists(), "there is no Chromium in its packages");
    Ok(Browser { program, unpacked: Some(unpacked) })
}

fn starts(path: &Path) -> bool {
    program(path).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Fetches the packages and those that they need and that the machine does not have.
fn unpack(place: &Path, unpacked: &Path) -> Result<()> {
    // Lists of our own: those of the system may be missing, and changing them needs root.
    for folder in ["lists/partial", "cache/archives/partial"] {
        std::fs::create_dir_all(place.join(folder))
            .context("cannot make the folder of Chromium")?;
    }
    let apt = |words: &[&str]| {
        let mut apt = program("apt-get");
        for (name, folder) in [("State::Lists", "lists"), ("Cache", "cache")] {
            apt.arg("-o").arg(format!("Dir::{name}={}", place.join(folder).display()));
        }
        apt.args(["-o", "APT::Sandbox::User=", "-o", "Debug::NoLocking=1", "-qq"]).args(words);
        apt
    };
    finish(&mut apt(&["update"]))?;
    let words = ["install", "--download-only", "--no-install-recommends", "--yes"];
    finish(&mut apt(&[&words[..], &PACKAGES].concat()))?;
    let packages = std::fs::read_dir(place.join("cache/archives"));
    for package in packages.context("cannot list the packages")? {
        let package = package.context("cannot list the packages")?.path();
        if package.extension().is_some_and(|ending| ending == "deb") {
            finish(program("dpkg-deb").arg("--extract").arg(package).arg(unpacked))?;
        }
    }
    // Fonts lie elsewhere than its own file says.
    let fonts = unpacked.join("usr/share/fonts");
    let cache = place.join("fonts-cache");
    let text = format!(
        "<?xml version=\"1.0\"?>\n<fontconfig><dir>{}</dir><dir>/usr/share/fonts</dir>\
         <cachedir>{}</cachedir></fontconfig>\n",
        fonts.display(),
        cache.display()
    );
    std::fs::write(unpacked.join("fonts.conf"), text).context("cannot write the list of fonts")
}

impl Browser {
    /// Runs the tests of `web/e2e` against the binary.
    pub(super) fn run(&self) -> Result<()> {
        finish(cargo().args(["build", "--package", "toolcrib-server", "--all-features"]))?;
        let mut tests = tool("playwright");
        tests.arg("test").env("TOOLCRIB", target().join("debug/toolcrib"));
        tests.env("CHROMIUM", &self.program);
        if let Some(unpacked) = &self.unpacked {
            let mut libraries = Vec::new();
            for folder in LIBRARIES {
                with_libraries(&unpacked.join(folder), &mut libraries)?;
            }
            tests.env("LD_LIBRARY_PATH", libraries.join(":"));
            tests.env("FONTCONFIG_FILE", unpacked.join("fonts.conf"));
        }
        finish(&mut tests)
    }
}

/// The folders at and below this one that libraries lie in.
fn with_libraries(folder: &Path, found: &mut Vec<String>) -> Result<()> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let mut has_any = false;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list `{}`", folder.display()))?;
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            with_libraries(&entry.path(), found)?;
        }
        has_any |= entry.file_name().to_string_lossy().contains(".so");
    }
    if has_any {
        found.push(folder.display().to_string());
    }
    Ok(())
}
