//! `verify`: by what a call is looked up whose outcome nobody knows.

use toolcrib_config::{Config, ConfigProblem};

fn read(verify: &str) -> (Vec<ConfigProblem>, Vec<ConfigProblem>) {
    let text = format!(
        "[[source]]\nid = \"clock\"\nprefix = \"\"\nbasics = [\"time_now\", \"text_count\"]\n\
         [tool.time_now.verify]\n{verify}"
    );
    let read = Config::read(&text, "crib.toml");
    (read.problems, read.warnings)
}

#[test]
fn the_arguments_of_a_lookup_may_be_anything_that_json_has() {
    for right in [
        "tool = \"text_count\"",
        "tool = \"text_count\"\nat = \"/a/0\"\nis = 1.5",
        "tool = \"text_count\"\nis = { a = [true, { b = -1.5e3 }], \"c d\" = \"{x}\" }",
        "tool = \"text_count\"\narguments = { text = \"{a/b}\", n = 1_0.5, all = [[1], [{ a = {} }]] }",
    ] {
        assert_eq!(read(right), (vec![], vec![]), "{right}");
    }
}

#[test]
fn what_is_wrong_with_a_lookup_is_told_with_its_place_and_cure() {
    let place = "tool.time_now.verify";
    for (wrong, at, message, cure) in [
        ("", "", "", "tool"),
        ("tool = \"a b\"", ".tool", "this cannot name a tool", "use 1 to 128 characters"),
        (
            "tool = \"text_count\"\nat = \"a\"",
            ".at",
            "this leads to no place in data",
            "JSON pointer",
        ),
        ("tool = \"text_count\"\nas = 1", ".as", "unknown key", "did you mean `at`?"),
        ("tool = \"text_count\"\nis = 2020-01-01", ".is", "wrong type: datetime", "write"),
        ("tool = \"text_count\"\nis = inf", ".is", "wrong type: float", "write"),
        (
            "tool = \"text_count\"\narguments = { a = nan }",
            ".arguments.a",
            "wrong type: float",
            "write",
        ),
        (
            "tool = \"text_count\"\narguments = 1",
            ".arguments",
            "wrong type: integer",
            "write a table",
        ),
        (
            "tool = \"text_count\"\narguments = { a = \"${env:X}\" }",
            ".arguments.a",
            "no reference",
            "write",
        ),
    ] {
        let (problems, _) = read(wrong);
        let [problem] = &problems[..] else { panic!("{wrong}: {problems:?}") };
        assert_eq!(problem.path, format!("{place}{at}"), "{wrong}: {problem:?}");
        assert!(problem.message.contains(message), "{wrong}: {problem:?}");
        assert!(format!("{problem:?}").contains(cure), "{wrong}: {problem:?}");
    }
}
