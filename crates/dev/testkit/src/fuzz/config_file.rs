//! Files of settings as anybody may write them.

use toolcrib_config::{Config, import};

/// A `crib.toml`, or the file of another program: it is read without a panic, every problem
/// stands within it, and what is made of another program's file is right.
pub fn config_file(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    for file in ["crib.toml", "servers.json"] {
        told_within(&text, file);
    }
    if let Ok(imported) = import(&text, None) {
        let problems = Config::read(&imported.toml, "crib.toml").problems;
        assert_eq!(problems, vec![], "what was made is wrong:\n{}", imported.toml);
        assert_eq!(import(&text, None), Ok(imported), "read twice, it says two things");
    }
}

fn told_within(text: &str, file: &str) {
    let lines = text.matches('\n').count() + 1;
    let read = Config::read(text, file);
    for problem in read.problems.iter().chain(&read.warnings) {
        assert!((1..=lines).contains(&problem.line), "line {} of {lines}", problem.line);
        assert!(problem.column >= 1, "a column counts from 1");
        assert!(!problem.to_string().contains('\n'), "a problem is one line");
        assert!(!problem.message.starts_with("the file cannot be read"), "{problem}");
    }
    assert_eq!(read.config.is_none(), !read.problems.is_empty(), "refused without a word");
}
