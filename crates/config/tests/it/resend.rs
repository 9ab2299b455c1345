//! `resend`: where a call may be sent again under its key.

use toolcrib_config::Config;

#[test]
fn what_is_sent_again_needs_a_header_that_takes_the_key() {
    let read = |more: &str| {
        let text = format!(
            "[[source]]\nid = \"bank\"\n[source.openapi]\ndocument = \"https://bank.example/api\"\n\
             {more}"
        );
        let read = Config::read(&text, "crib.toml");
        let problems = read.problems.iter().map(ToString::to_string);
        problems.collect::<Vec<_>>()
    };
    let header = "idempotency_header = \"Idempotency-Key\"\n";
    assert_eq!(read("resend = []"), [""; 0]);
    assert_eq!(read(&format!("{header}resend = [\"*\"]")), [""; 0]);
    assert_eq!(
        read("resend = [\"*\"]"),
        ["crib.toml:5:10: source[0].openapi.resend: nothing tells a repetition from a second \
          call; name the `idempotency_header` of this API, or leave `resend` out"]
    );
}
