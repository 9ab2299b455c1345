//! The files of the repository, without what git ignores.

use std::fs;

use xtask::machine::root;

/// A file by its path below the root, with `/` between its parts.
pub(crate) struct File {
    pub(crate) path: String,
    /// `None` for a file that is no text.
    pub(crate) text: Option<String>,
}

/// Every file that is ours, in the order of the paths.
///
/// The walk asks no git, so that it also works on an unpacked archive: it leaves out what the
/// root's `.gitignore` names as a path or as an ending, and what carries the state of git.
pub(crate) fn files() -> Vec<File> {
    let ignored = read_text(".gitignore");
    let is_ours = |path: &str| {
        path != ".git"
            && !ignored.lines().any(|line| match (line.strip_prefix('/'), line.strip_prefix('*')) {
                (Some(place), _) => path == place,
                (_, Some(ending)) => path.ends_with(ending),
                (None, None) => path.rsplit('/').next() == line.strip_suffix('/'),
            })
    };
    let mut files = Vec::new();
    let mut waiting = vec![String::new()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(root().join(&folder)).expect("a folder can be read") {
            let entry = entry.expect("a folder can be read");
            let name = entry.file_name().into_string().expect("names are text");
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            if !is_ours(&path) {
                continue;
            }
            if entry.file_type().expect("a file has a type").is_dir() {
                waiting.push(path);
            } else {
                let bytes = fs::read(root().join(&path)).expect("a file can be read");
                files.push(File { path, text: String::from_utf8(bytes).ok() });
            }
        }
    }
    files.sort_by(|left, right| left.path.cmp(&right.path));
    files
}

/// The text of a file by its path below the root.
pub(crate) fn read_text(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

#[test]
fn the_walk_finds_ours_and_leaves_out_what_is_built() {
    let files = files();
    let has = |path: &str| files.iter().any(|file| file.path == path);
    assert!(has("Cargo.toml") && has("crates/base/core/src/lib.rs") && has(".ci/run"));
    let built = |path: &str| ["target/", ".tools/", ".git/"].iter().any(|at| path.starts_with(at));
    let strays: Vec<&str> =
        files.iter().map(|file| file.path.as_str()).filter(|path| built(path)).collect();
    assert_eq!(strays, Vec::<&str>::new());
}
