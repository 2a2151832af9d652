//! What a server opens a round with is read as it was written, or refused.

use super::session::*;
use fedrank_core::secagg::{Begin, Error, Party, round_digest};

fn first() -> Begin {
    Begin {
        study: [1; 32],
        run: 1 << 40,
        round: 0,
        nonce: [3; 32],
        stage: "start".into(),
        order: vec![],
        previous: [0; 32],
        survivors: vec![],
        confirmations: vec![],
    }
}

fn later() -> Begin {
    Begin {
        round: 7,
        stage: "refine".into(),
        order: vec![4, 0, u32::MAX, 1, 0],
        previous: [5; 32],
        survivors: vec![0, 3, 65_534],
        confirmations: vec![(0, [6; 64]), (65_534, [7; 64])],
        ..first()
    }
}

fn malformed(bytes: &[u8]) -> bool {
    matches!(Begin::open(bytes, 2), Err(Error::Malformed { from: Party::Server, .. }))
}

#[test]
fn what_is_written_is_read() {
    let names = ["", "ä", &"x".repeat(255)].map(|stage| Begin { stage: stage.into(), ..later() });
    for begin in [first(), later()].into_iter().chain(names) {
        for recipient in [0, 2, 65_535] {
            let bytes = begin.to_bytes(recipient).unwrap();
            assert_eq!(Begin::open(&bytes, recipient), Ok(begin.clone()));
            let other = Begin::open(&bytes, recipient ^ 1);
            assert_eq!(other, Err(Error::Foreign { from: Party::Server }));
        }
    }
}

/// Byte by byte from the definition.
#[test]
fn the_bytes_are_those_of_the_definition() {
    let begin = later();
    let order: Vec<u8> = begin.order.iter().flat_map(|i| i.to_le_bytes()).collect();
    let survivors = hash("survivors", &[&ids(&begin.survivors)]);
    let round = 7_u32.to_le_bytes();
    let digest = hash("round", &[&[1; 32], &round, b"refine", &order, &[5; 32], &survivors]);
    assert_eq!(begin.round_digest(), digest);
    assert_eq!(
        digest,
        round_digest(&[1; 32], 7, "refine", &begin.order, &[5; 32], &begin.survivors)
    );
    let run = (1_u64 << 40).to_le_bytes();
    let session = hash("session", &[&digest, &[3; 32], &run]);
    assert_eq!(begin.session(), session);
    let text = [
        &[1; 32][..],
        &run,
        &round,
        &[3; 32],
        &[5; 32],
        &[6],
        b"refine",
        &[5, 0, 0, 0],
        &order,
        &[3, 0],
        &ids(&begin.survivors),
        &[0, 0],
        &[6; 64],
        &[0xfe, 0xff],
        &[7; 64],
    ];
    assert_eq!(begin.to_bytes(2), Ok(message(10, 2, &session, &text.concat())));
}

#[test]
fn its_session_is_the_one_it_describes() {
    for begin in [first(), later()] {
        let right = begin.to_bytes(2).unwrap();
        // Study, run, round, nonce, previous round; then any byte but those of confirmations.
        for at in 0..body(&right).len() - 66 * begin.confirmations.len() {
            let wrong = tamper(&right, |b| b[at] ^= 1);
            assert!(malformed(&wrong), "byte {at}");
        }
        for at in 4..36 {
            let mut wrong = right.clone();
            wrong[at] ^= 1;
            assert!(malformed(&reseal(wrong)), "byte {at}");
        }
    }
}

#[test]
fn damage_is_refused() {
    let right = later().to_bytes(2).unwrap();
    for n in 0..right.len() {
        assert!(malformed(&right[..n]));
    }
    // With a right checksum only whole confirmations can be missing: no hash binds them.
    let len = body(&right).len();
    for n in 0..len {
        let cut = tamper(&right, |b| b.truncate(n));
        assert_eq!(malformed(&cut), n != len - 66 && n != len - 132, "{n}");
    }
    for bit in 8..8 * right.len() {
        let mut wrong = right.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(malformed(&wrong));
    }
    let other = first().to_bytes(2).unwrap();
    assert!(malformed(&message(6, 2, session_of(&other), body(&other))));
}

#[test]
fn another_version_is_named() {
    let mut old = first().to_bytes(2).unwrap();
    old[0] = 1;
    let error = Begin::open(&reseal(old), 2).unwrap_err();
    assert_eq!(error, Error::Version { from: Party::Server, theirs: 1, ours: 2 });
}

#[test]
fn the_first_round_follows_nothing() {
    for wrong in [
        Begin { stage: "refine".into(), ..first() },
        Begin { order: vec![0], ..first() },
        Begin { previous: [1; 32], ..first() },
        Begin { survivors: vec![1], ..first() },
        Begin { confirmations: vec![(1, [0; 64])], ..first() },
    ] {
        assert_eq!(wrong.to_bytes(2).unwrap_err().code(), "malformed");
        // As another program might write it.
        let bytes = Begin { round: 1, ..wrong.clone() }.to_bytes(2).unwrap();
        let body = [&body(&bytes)[..40], &[0; 4], &body(&bytes)[44..]].concat();
        assert!(malformed(&message(10, 2, &wrong.session(), &body)));
    }
}

#[test]
fn lists_rise_and_the_stage_is_a_short_text() {
    for wrong in [
        Begin { survivors: vec![3, 0], ..later() },
        Begin { survivors: vec![3, 3], ..later() },
        Begin { confirmations: vec![(3, [0; 64]), (0, [0; 64])], ..later() },
        Begin { confirmations: vec![(3, [0; 64]), (3, [1; 64])], ..later() },
    ] {
        assert_eq!(wrong.to_bytes(2).unwrap_err().code(), "list");
        let lists = [
            ids(&wrong.survivors),
            wrong
                .confirmations
                .iter()
                .flat_map(|(id, s)| [&id.to_le_bytes()[..], s].concat())
                .collect(),
        ];
        let right = Begin { survivors: vec![], confirmations: vec![], ..wrong.clone() };
        let right = right.to_bytes(2).unwrap();
        let text = &body(&right)[..body(&right).len() - 2];
        let count = (wrong.survivors.len() as u16).to_le_bytes();
        let text = [text, &count, &lists.concat()].concat();
        let error = Begin::open(&message(10, 2, &wrong.session(), &text), 2).unwrap_err();
        assert_eq!(error.code(), "list");
    }
    let long = Begin { stage: "x".repeat(256), ..later() };
    assert_eq!(long.to_bytes(2).unwrap_err().code(), "malformed");
    let begin = Begin { stage: "x".into(), ..later() };
    let not_text = tamper(&begin.to_bytes(2).unwrap(), |b| b[109] = 0xff);
    let error = Begin::open(&not_text, 2).unwrap_err();
    assert!(error.to_string().contains("UTF-8"));
}
