//! One folder with all that is shipped, packed into one file beside its checksum.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::machine::{output, program, root};
use crate::report::finish;

/// From the checkout as it is, and where it goes in the folder.
const COPIED: [(&str, &str); 5] = [
    ("README.md", "README.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("docs/crib.example.toml", "share/doc/toolcrib/crib.example.toml"),
    ("xtask/dist/toolcrib.service", "lib/systemd/user/toolcrib.service"),
];

/// Completions by the name of their shell, where that shell looks for them.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "share/bash-completion/completions/toolcrib"),
    ("zsh", "share/zsh/site-functions/_toolcrib"),
    ("fish", "share/fish/vendor_completions.d/toolcrib.fish"),
];

/// Fills a new folder; what was there is gone.
pub(super) fn fill(folder: &Path, server: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    let binary = folder.join("bin/toolcrib");
    make_room(&binary)?;
    fs::copy(server, &binary).with_context(|| format!("cannot copy `{}`", server.display()))?;
    for (from, to) in COPIED {
        let to = folder.join(to);
        make_room(&to)?;
        fs::copy(root().join(from), to).with_context(|| format!("cannot copy `{from}`"))?;
    }
    for (shell, to) in COMPLETIONS {
        write(&folder.join(to), &output(program(&binary).args(["completion", shell]))?)?;
    }
    let manual = output(program(&binary).arg("manual"))?;
    write(&folder.join("share/doc/toolcrib/manual.md"), &manual)?;
    let pages = folder.join("share/man/man1");
    fs::create_dir_all(&pages)?;
    finish(program(&binary).args(["manual", "--man"]).arg(&pages))
}

pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    make_room(path)?;
    fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))
}

/// Packs the folder beside itself, with the same owner and order wherever it is made, and tells
/// where the file lies.
pub(super) fn pack(folder: &Path) -> Result<PathBuf> {
    let (above, name) = (folder.parent(), folder.file_name());
    let (above, name) = above.zip(name).context("the folder has no name")?;
    let packed = above.join(name).with_added_extension("tar.gz");
    let mut pack = program("tar");
    pack.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "-czf"]);
    finish(pack.arg(&packed).arg("-C").arg(above).arg(name))?;
    let file = packed.file_name().unwrap_or_default();
    let sum = output(program("sha256sum").arg(file).current_dir(above))?;
    write(&above.join("SHA256SUMS"), &sum)?;
    Ok(packed)
}

/// Unpacks into an empty folder.
pub(super) fn unpack(packed: &Path, folder: &Path) -> Result<()> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)?;
    finish(program("tar").arg("-xzf").arg(packed).arg("-C").arg(folder))
}

fn make_room(path: &Path) -> Result<()> {
    let above = path.parent().context("a file lies nowhere")?;
    fs::create_dir_all(above).with_context(|| format!("cannot make `{}`", above.display()))
}
