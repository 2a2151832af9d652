//! Tests of envelopes, and of HPKE by the vectors of RFC 9180.

use std::convert::Infallible;

use rand_core::{TryCryptoRng, TryRng};

use super::*;

fn identity(seed: u8) -> Identity {
    Identity::generate(&mut ChaCha20Rng::from_seed([seed; 32]))
}

/// The coordinator, two clients and an envelope's header from the first client.
fn parties() -> (Identity, Identity, Identity, Header) {
    let header = Header {
        direction: Direction::ToServer,
        round_digest: [1; 32],
        session: [2; 32],
        step: 3,
        sender: 258,
        recipient: COORDINATOR,
    };
    (identity(1), identity(2), identity(3), header)
}

fn hex<const N: usize>(text: &str) -> [u8; N] {
    assert_eq!(text.len(), 2 * N);
    std::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).expect("a byte"))
}

/// Gives 32 bytes, once.
struct Fixed(Option<[u8; 32]>);

impl TryRng for Fixed {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> std::result::Result<u32, Infallible> {
        unimplemented!()
    }

    fn try_next_u64(&mut self) -> std::result::Result<u64, Infallible> {
        unimplemented!()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> std::result::Result<(), Infallible> {
        bytes.copy_from_slice(&self.0.take().expect("HPKE draws once"));
        Ok(())
    }
}

impl TryCryptoRng for Fixed {}

/// RFC 9180, A.2.1: base setup of DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
/// ChaCha20Poly1305; the encryption of sequence number 0.
#[test]
fn hpke_as_in_rfc_9180() {
    let info = hex::<20>("4f6465206f6e2061204772656369616e2055726e");
    let ikm = hex("909a9b35d3dc4713a5e72a4da274b55d3d3821a37e5d099e74a647db583a904b");
    let public = hex("4310ee97d88cc1f088a5576c77ab0cf5c3ac797f3d95139c6c84b5429c59662a");
    let secret = StaticSecret::from(hex::<32>(
        "8057991eef8f1f1af18f4a9491d16a1ce333f695d4db8e38da75975c4478e0fb",
    ));
    let plain = hex::<29>("4265617574792069732074727574682c20747275746820626561757479");
    let aad = hex::<7>("436f756e742d30");
    let sealed = hex::<45>(
        "1c5250d8034ec2b784ba2cfd69dbdb8af406cfe3ff938e131f0def8c8b60b4db21993c62ce81883d2dd1b51a28",
    );
    assert_eq!(keys::public(&secret), public);

    let mut text = plain;
    let (enc, tag) =
        hpke_seal(&public, &info, &aad, &mut text, &mut Fixed(Some(ikm))).expect("a good key");
    assert_eq!(enc, hex("1afa08d3dec047a643885163f1180476fa7ddb54c6a8029ea33f95796bf2ac4a"));
    assert_eq!(text, sealed[..29]);
    assert_eq!(tag, sealed[29..]);
    assert_eq!(hpke_open(&secret, &info, &aad, &enc, &mut text, &tag), Ok(()));
    assert_eq!(text, plain);
}

#[test]
fn hpke_refuses_to_seal_to_a_key_of_low_order() {
    let rng = &mut Fixed(Some([1; 32]));
    assert_eq!(hpke_seal(&[0; 32], INFO, &[], &mut [], rng), Err(HpkeError::EncapError));
}

#[test]
fn envelopes_come_back() {
    let (server, alice, bob, up) = parties();
    for body in [vec![], vec![7], vec![8; 1 << 20]] {
        let blob = seal(&alice, server.public(), &up, &body);
        assert_eq!(blob.len(), body.len() + OVERHEAD);
        assert_eq!(header_of(&blob), Ok(up));
        let (header, opened) = open(&server, alice.public(), &blob).expect("an envelope");
        assert_eq!((header, &*opened), (up, &body));
        let down =
            Header { direction: Direction::ToClient, sender: COORDINATOR, recipient: 0, ..up };
        let blob = seal(&server, bob.public(), &down, &body);
        let (header, opened) = open(&bob, server.public(), &blob).expect("an envelope");
        assert_eq!((header, &*opened), (down, &body));
    }
}

#[test]
fn a_header_is_as_specified() {
    let (server, alice, _, up) = parties();
    let blob = seal(&alice, server.public(), &up, b"body");
    let head = [&[2, 1], &[1; 32][..], &[2; 32], &[3], &[2, 1], &[0xff, 0xff]].concat();
    assert_eq!(blob[..71], head);
    assert_eq!(blob.len(), 71 + 32 + 4 + 64 + 16);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let (server, alice, _, up) = parties();
    let seal = || seal(&alice, server.public(), &up, b"body");
    assert_eq!(seal(), seal());
}

#[test]
fn whatever_changes_the_ephemeral_key_changes() {
    let (server, alice, bob, up) = parties();
    let enc = |from: &Identity, to: &Identity, header: Header, body: &[u8]| {
        seal(from, to.public(), &header, body)[HEADER..HEADER + ENC].to_vec()
    };
    let mut all = vec![
        enc(&alice, &server, up, b"body"),
        enc(&alice, &server, up, b"bodz"),
        enc(&alice, &server, up, b"body "),
        enc(&alice, &server, up, b""),
        enc(&bob, &server, up, b"body"),
        enc(&alice, &bob, up, b"body"),
    ];
    all.extend(other_headers(up).map(|other| enc(&alice, &server, other, b"body")));
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count);
}

/// The header with one field changed.
fn other_headers(header: Header) -> impl Iterator<Item = Header> {
    [
        Header { direction: Direction::ToClient, ..header },
        Header { round_digest: [9; 32], ..header },
        Header { session: [9; 32], ..header },
        Header { step: 2, ..header },
        Header { sender: 257, ..header },
        Header { recipient: 258, ..header },
    ]
    .into_iter()
}

#[test]
fn no_bit_may_change() {
    let (server, alice, _, up) = parties();
    let blob = seal(&alice, server.public(), &up, b"body");
    for bit in 0..8 * blob.len() {
        let mut wrong = blob.clone();
        wrong[bit / 8] ^= 1 << (bit % 8);
        assert!(open(&server, alice.public(), &wrong).is_err(), "{bit}");
    }
}

#[test]
fn nothing_may_be_missing_or_too_much() {
    let (server, alice, _, up) = parties();
    for body in [&b""[..], b"body"] {
        let mut blob = seal(&alice, server.public(), &up, body);
        for len in 0..blob.len() {
            assert!(open(&server, alice.public(), &blob[..len]).is_err(), "{len}");
            assert_eq!(header_of(&blob[..len]).is_ok(), len >= OVERHEAD);
        }
        blob.push(0);
        assert_eq!(open(&server, alice.public(), &blob), Err(SEAL));
    }
    assert_eq!(open(&server, alice.public(), &[]), Err(SHORT));
}

#[test]
fn another_header_is_refused() {
    let (server, alice, _, up) = parties();
    let blob = seal(&alice, server.public(), &up, b"body");
    // Consistent headers: only the seal can tell.
    let down = Header { direction: Direction::ToClient, sender: COORDINATOR, recipient: 258, ..up };
    let valid = other_headers(up).filter(|other| other.checked().is_ok()).chain([down]);
    let mut count = 0;
    for other in valid {
        let wrong = [&other.to_bytes(), &blob[HEADER..]].concat();
        assert_eq!(header_of(&wrong), Ok(other));
        assert_eq!(open(&server, alice.public(), &wrong), Err(SEAL));
        count += 1;
    }
    assert_eq!(count, 5);
}

#[test]
fn impossible_headers_are_refused_even_if_sealed_and_signed() {
    let (server, alice, _, up) = parties();
    let impossible = [
        Header { direction: Direction::ToClient, ..up },
        Header { recipient: 0, ..up },
        Header { sender: COORDINATOR, ..up },
        Header { step: 5, ..up },
    ];
    for header in impossible {
        assert!(header.checked().is_err());
        let blob = seal(&alice, server.public(), &header, b"body");
        assert!(header_of(&blob).is_err());
        assert!(open(&server, alice.public(), &blob).is_err());
    }
}

#[test]
fn only_the_recipient_opens_it() {
    let (server, alice, bob, up) = parties();
    let blob = seal(&alice, server.public(), &up, b"body");
    for other in [&alice, &bob] {
        assert_eq!(open(other, alice.public(), &blob), Err(SEAL));
    }
}

#[test]
fn only_the_sender_signs_it() {
    let (server, alice, bob, up) = parties();
    let blob = seal(&bob, server.public(), &up, b"body");
    assert_eq!(open(&server, alice.public(), &blob), refuse("it is not signed by its sender"));
    assert!(open(&server, bob.public(), &blob).is_ok());
}

/// The envelope that somebody makes who knows the body and has a signature.
fn sealed_with(to: &Identity, header: &Header, body: &[u8], signature: &[u8]) -> Vec<u8> {
    let (head, mut text) = (header.to_bytes(), [body, signature].concat());
    let rng = &mut Fixed(Some([5; 32]));
    let (enc, tag) =
        hpke_seal(to.public().sealing(), INFO, &head, &mut text, rng).expect("a good key");
    [&head, &enc[..], &text, &tag].concat()
}

#[test]
fn a_signature_is_of_one_header_and_one_body() {
    let (server, alice, _, up) = parties();
    let signature = alice.sign(&signed(&up.to_bytes(), b"body"));
    let again = sealed_with(&server, &up, b"body", &signature);
    assert!(open(&server, alice.public(), &again).is_ok());

    let unsigned = refuse("it is not signed by its sender");
    for other in other_headers(up).filter(|other| other.checked().is_ok()) {
        let blob = sealed_with(&server, &other, b"body", &signature);
        assert_eq!(open(&server, alice.public(), &blob), unsigned);
    }
    let blob = sealed_with(&server, &up, b"bodz", &signature);
    assert_eq!(open(&server, alice.public(), &blob), unsigned);
}

#[test]
fn encapsulated_keys_of_low_order_are_refused() {
    let (server, alice, _, up) = parties();
    let blob = seal(&alice, server.public(), &up, b"body");
    let minus_one: [u8; 32] = std::array::from_fn(|i| match i {
        0 => 0xec,
        31 => 0x7f,
        _ => 0xff,
    });
    let of_order_8 = hex("e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800");
    let mut one = [0; 32];
    one[0] = 1;
    for low in [[0; 32], one, minus_one, of_order_8] {
        let mut wrong = blob.clone();
        wrong[HEADER..HEADER + ENC].copy_from_slice(&low);
        assert_eq!(open(&server, alice.public(), &wrong), Err(SEAL));
        // The key itself is at fault, not the tag that does not match it.
        let opened = hpke_open(server.sealing(), INFO, &[], &low, &mut [], &[0; TAG]);
        assert_eq!(opened, Err(HpkeError::DecapError));
    }
}

#[test]
fn another_version_is_named() {
    let (server, alice, _, up) = parties();
    let mut blob = seal(&alice, server.public(), &up, b"body");
    blob[0] = 3;
    let error = header_of(&blob).expect_err("another version");
    assert_eq!(error.code(), "envelope");
    assert!(error.to_string().contains("another version"), "{error}");
}
