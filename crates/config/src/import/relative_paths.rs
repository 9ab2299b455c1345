//! Arguments that mean something only in the folder that the other program started its server in.

/// How the names of files end that are handed to servers.
const ENDINGS: [&str; 21] = [
    "cjs", "csv", "db", "env", "jar", "js", "json", "jsonl", "md", "mjs", "mts", "php", "py", "rb",
    "sh", "sqlite", "toml", "ts", "txt", "yaml", "yml",
];

/// Whether an argument, or the value of an option, looks like a path from the current folder on.
pub(super) fn is_path(word: &str) -> bool {
    let value = match word.split_once('=').filter(|_| word.starts_with('-')) {
        Some((_, value)) => value,
        None if word.starts_with('-') => return false,
        None => word,
    };
    starts_here(value) || [".", ".."].contains(&value) || names_file(value)
}

/// Whether a text says itself that it starts from the current folder.
pub(super) fn starts_here(text: &str) -> bool {
    ["./", "../", ".\\", "..\\"].iter().any(|start| text.starts_with(start))
}

fn names_file(text: &str) -> bool {
    // From the root, from the home folder, filled in by somebody else, or a package.
    let is_elsewhere = text.starts_with(['/', '\\', '~', '$', '@', '%'])
        || [":/", ":\\", "${"].iter().any(|part| text.contains(part));
    let ending = text.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    !is_elsewhere && ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()))
}

#[cfg(test)]
mod tests {
    use super::is_path;

    #[test]
    fn a_path_from_the_current_folder_is_told_from_all_else() {
        for path in [
            ".",
            "..",
            "./test",
            "../x",
            ".\\x",
            "math_server.py",
            "src/index.TS",
            "--config=conf.yaml",
            "--root=.",
            "./data:/data",
            ".env",
            "DB=./x.db",
        ] {
            assert!(is_path(path), "{path}");
        }
        for other in [
            "",
            "-y",
            "--x.py",
            "/a/x.py",
            "~/x.py",
            "C:\\x.py",
            "$HOME/x.py",
            "${workspaceFolder}/x.js",
            "@scope/chart.js",
            "https://x/a.json",
            "sqlite:/data/x.db",
            "python3.12",
            "mcp-server@1.2.3",
            "owner/name",
            "--file=/a/x.json",
        ] {
            assert!(!is_path(other), "{other}");
        }
    }
}
