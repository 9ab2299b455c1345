//! A person at the terminal is asked, and what they say is done.

use crate::process::{Folder, Ran, at_terminal};

const CALL: &str = "toolcrib --policy rules.toml call text_count '{\"text\": \"a b\"}'";
const ASKED: &str = "approval needed: the rules ask for consent\n\
                     Run `text_count` with {\"text\":\"a b\"}? [y/N] ";

fn say(words: &str) -> Ran {
    let folder = Folder::new();
    folder.write("rules.toml", "ask = [\"category:text\"]\n");
    at_terminal(&folder, CALL, words)
}

#[test]
fn a_person_who_says_yes_lets_the_call_run() {
    let said = say("y\n");
    assert_eq!(said.code, 0, "{said:?}");
    let answer = r#"{"characters":3,"words":2,"lines":1,"bytes":3}"#;
    assert!(said.out.ends_with(&format!("{ASKED}{answer}\n")), "{said:?}");
}

#[test]
fn a_person_who_says_anything_else_denies_it() {
    for words in ["n\n", "\n", "yy\n"] {
        let said = say(words);
        assert_eq!(said.code, 3, "{said:?}");
        let answer = format!("{ASKED}Denied: the person at the terminal said no. ");
        assert!(said.out.contains(&answer), "{said:?}");
    }
}

#[test]
fn colour_is_seen_at_a_terminal_and_not_with_no_color() {
    let folder = Folder::new();
    let coloured = at_terminal(&folder, "env -u NO_COLOR TERM=xterm toolcrib tools", "");
    assert!(coloured.out.contains("\u{1b}[1mNAME"), "{coloured:?}");
    let plain = at_terminal(&folder, "NO_COLOR=1 TERM=xterm toolcrib tools", "");
    assert!(plain.out.contains("NAME") && !plain.out.contains('\u{1b}'), "{plain:?}");
}
