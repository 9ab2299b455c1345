//! Programs that say too much, or stop listening.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use toolcrib_child::{Child, Exit};

use crate::support::{Talk, is_alive, python, shell};

#[tokio::test]
async fn a_flood_on_the_error_output_is_read_and_only_its_end_kept() {
    let script = "import sys\n\
        for i in range(200000): sys.stderr.write('line %06d of noise\\n' % i)\n\
        sys.stderr.flush(); print('done')";
    let mut talk = Talk::with(&python(script)).await;
    assert_eq!(talk.line().await, "done", "it was never held up");
    assert_eq!(talk.child.ended().await, Exit { code: Some(0), signal: None });
    let tail = talk.child.stderr();
    talk.child.stop().await;
    let text = tail.text();
    assert_eq!(text.len(), 1 << 20);
    assert!(text.ends_with("line 199998 of noise\nline 199999 of noise\n"));
    assert_eq!(tail.lost(), 200_000 * 21 - (1 << 20));
}

#[tokio::test]
async fn as_much_of_the_error_output_is_kept_as_is_set() {
    for (written, kept, lost) in [(9, 9, 0), (10, 10, 0), (11, 10, 1)] {
        let mut program = shell(&format!("printf '%0{written}d' 7 >&2"));
        program.limits.stderr = 10;
        let child = Child::spawn(&program).await.unwrap();
        let tail = child.stderr();
        assert_eq!(child.ended().await, Exit { code: Some(0), signal: None });
        assert_eq!((tail.text().len(), tail.lost()), (kept, lost));
    }
}

#[tokio::test]
async fn the_error_output_is_safe_to_print_and_outlives_the_program() {
    let script = "printf 'fine\\n\\033[2J\\033]0;title\\007\\rover\\n\\377\\n' >&2; exit 1";
    let child = Child::spawn(&shell(script)).await.unwrap();
    let tail = child.stderr();
    assert_eq!(child.ended().await, Exit { code: Some(1), signal: None });
    drop(child);
    assert_eq!(tail.text(), "fine\n\\u{1b}[2J\\u{1b}]0;title\\u{7}\\u{d}over\n\u{fffd}\n");
}

#[tokio::test]
async fn the_last_words_of_a_program_are_there_when_its_end_is_told() {
    let script = "import os, sys\nos.write(2, b'x' * 60000 + b' last words')\nos._exit(1)";
    for _ in 0..20 {
        let child = Child::spawn(&python(script)).await.unwrap();
        child.ended().await;
        assert!(child.stderr().text().ends_with(" last words"));
    }
}

#[tokio::test]
async fn garbage_reaches_the_reader_byte_by_byte() {
    let script = "import os\nfor _ in range(64): os.write(1, bytes(range(256)) * 16)";
    let mut child = Child::spawn(&python(script)).await.unwrap();
    let (_stdin, mut stdout) = child.take_pipes().unwrap();
    let mut bytes = Vec::new();
    stdout.read_to_end(&mut bytes).await.unwrap();
    let expected: Vec<u8> = (0..=255).cycle().take(64 * 16 * 256).collect();
    assert!(bytes == expected, "{} bytes", bytes.len());
    assert_eq!(child.stop().await, Exit { code: Some(0), signal: None });
}

#[tokio::test]
async fn a_program_that_closed_its_output_still_runs_until_it_is_stopped() {
    let script = "import os, sys, time\nprint('bye', flush=True); os.close(1); sys.stdin.read()";
    let mut talk = Talk::with(&python(script)).await;
    assert_eq!(talk.line().await, "bye");
    assert_eq!(talk.lines.next_line().await.unwrap(), None);
    assert!(tokio::time::timeout(Duration::from_millis(50), talk.child.ended()).await.is_err());
    assert!(is_alive(talk.child.id()));
    drop(talk.stdin);
    let id = talk.child.id();
    assert!(talk.child.stop().await.code.is_some());
    assert!(!is_alive(id));
}

#[tokio::test]
async fn pipes_that_nobody_took_are_closed_by_stop() {
    let child = Child::spawn(&shell("cat > copy; exit 5")).await.unwrap();
    assert_eq!(child.stop().await, Exit { code: Some(5), signal: None });
}
