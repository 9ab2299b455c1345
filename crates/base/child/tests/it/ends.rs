//! However a program behaves, it ends, and nothing of it is left.

use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use toolcrib_child::Exit;

use crate::support::{Talk, is_alive, python, shell, state, until};

const KILLED: Exit = Exit { code: None, signal: Some(9) };

#[tokio::test]
async fn a_program_that_answers_is_heard_and_ends_when_its_input_closes() {
    let mut talk = Talk::with(&shell("read line; echo \"got $line\"; read line; exit 7")).await;
    talk.stdin.write_all(b"one\n").await.unwrap();
    assert_eq!(talk.line().await, "got one");
    drop(talk.stdin);
    assert_eq!(talk.child.ended().await, Exit { code: Some(7), signal: None });
    let id = talk.child.id();
    assert_eq!(talk.child.stop().await, Exit { code: Some(7), signal: None });
    assert_eq!(state(id), None);
}

#[tokio::test]
async fn the_end_can_be_awaited_by_many_and_given_up() {
    let Talk { child, stdin, .. } = Talk::with(&shell("read line; exit 3")).await;
    assert!(tokio::time::timeout(Duration::from_millis(20), child.ended()).await.is_err());
    drop(stdin);
    let expected = Exit { code: Some(3), signal: None };
    assert_eq!(tokio::join!(child.ended(), child.ended()), (expected, expected));
}

#[tokio::test]
async fn a_program_that_ignores_every_polite_word_is_killed() {
    let script = "trap '' TERM INT HUP; echo ready; while :; do sleep 1; done";
    let mut talk = Talk::with(&shell(script)).await;
    talk.line().await;
    let start = Instant::now();
    drop(talk.stdin);
    assert_eq!(talk.child.stop().await, KILLED);
    assert!(start.elapsed() >= Duration::from_secs(4), "it had its two graces");
}

#[tokio::test]
async fn a_descendant_in_a_session_of_its_own_dies_too() {
    let script = "import os, sys, time\n\
        if os.fork() == 0:\n    \
            os.setsid()\n    \
            if os.fork() > 0: os._exit(0)\n    \
            os.write(1, b'%d\\n' % os.getpid())\n    \
            time.sleep(1000)\n\
        sys.stdin.read()";
    let mut talk = Talk::with(&python(script)).await;
    let hidden = talk.id().await;
    assert!(is_alive(hidden));
    drop(talk.stdin);
    assert_eq!(talk.child.stop().await, Exit { code: Some(0), signal: None });
    assert_eq!(state(hidden), None, "neither alive nor a zombie");
}

#[tokio::test]
async fn a_dropped_child_dies_with_all_it_spawned() {
    let script = "setsid sleep 1000 & echo $!; sleep 1000 & echo $!; wait";
    let mut talk = Talk::with(&shell(script)).await;
    let ids = [talk.id().await, talk.id().await, talk.child.id()];
    drop(talk);
    until("all are gone", || ids.iter().all(|id| state(*id).is_none())).await;
}
