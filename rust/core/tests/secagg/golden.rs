//! Whole sessions whose bytes were computed from `docs/protocol.md` by other code.

use super::session::*;
use chacha20::ChaCha20Rng;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Begin, Client, Confirmation, Identity, Params, Server};
use rand_core::SeedableRng;
use serde_json::Value;
use std::collections::BTreeMap;

fn unhex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn confirmations(bytes: &[u8]) -> Vec<Confirmation> {
    let (entries, _) = bytes.as_chunks::<66>();
    let one = |e: &[u8; 66]| (u16::from_le_bytes([e[0], e[1]]), e[2..].try_into().unwrap());
    entries.iter().map(one).collect()
}

fn numbers(list: &Value) -> Vec<u64> {
    list.as_array().unwrap().iter().map(|x| x.as_str().unwrap().parse().unwrap()).collect()
}

/// `secagg.json` is made by `secagg.py`, which shares no code with this crate.
#[test]
fn golden_sessions() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/secagg.json");
    let golden: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for mode in ["unsigned", "signed"] {
        golden_session(&golden[mode]);
    }
}

fn golden_session(golden: &Value) {
    let size = |name: &str| golden[name].as_u64().unwrap() as usize;
    let id = |id: &Value| id.as_u64().unwrap() as u16;
    let bytes = |name: &str| <[u8; 32]>::try_from(unhex(&golden[name])).unwrap();
    let shape = golden["segments"].as_array().unwrap();
    let shape: Vec<_> = shape
        .iter()
        .map(|s| (s[0].as_u64().unwrap() as usize, s[1].as_u64().unwrap() as u32))
        .collect();
    let (clients, round) = (size("clients"), size("round") as u32);
    let mut params =
        Params::new(bytes("digest"), clients, Some(size("threshold")), round, layout(&shape))
            .unwrap();
    let lines = golden["identities"].as_array().unwrap().iter();
    let identities: Vec<Identity> =
        lines.map(|line| Identity::from_line(line.as_str().unwrap()).unwrap()).collect();
    if !identities.is_empty() {
        params = params.signed(identities.iter().map(|i| *i.public()).collect()).unwrap();
    }
    let rng = |n: usize| ChaCha20Rng::from_seed([n as u8; 32]);
    let mut server = Server::new(params.clone(), golden["run"].as_u64().unwrap(), &mut rng(255));
    assert_eq!((server.nonce(), server.session()), (bytes("nonce"), bytes("session")));
    let begin = Begin {
        study: bytes("study_digest"),
        run: server.run(),
        round,
        nonce: server.nonce(),
        stage: golden["stage"].as_str().unwrap().into(),
        order: golden["order"]
            .as_array()
            .unwrap()
            .iter()
            .map(|i| i.as_u64().unwrap() as u32)
            .collect(),
        previous: bytes("previous"),
        survivors: golden["previous_survivors"].as_array().unwrap().iter().map(id).collect(),
        confirmations: confirmations(&unhex(&golden["previous_confirmations"])),
    };
    assert_eq!(begin.round_digest(), bytes("digest"));
    let mut clients: Vec<Client> = Vec::new();
    for me in 0..params.clients() {
        let message = unhex(&golden["begin"][me]);
        assert_eq!(begin.to_bytes(me as u16).as_ref(), Ok(&message));
        let opened = Begin::open(&message, me as u16).unwrap();
        assert_eq!(opened, begin);
        let session = opened.session();
        clients.push(Client::new(params.clone(), me, session, &mut rng(me + 1)).unwrap());
    }
    let mut down: BTreeMap<usize, Vec<u8>> = (0..clients.len()).map(|c| (c, vec![])).collect();
    for &step in steps(&params) {
        let (up, reply) = match step {
            Step::Advertise => ("advertise", "keys"),
            Step::Share => ("shares", "delivery"),
            Step::Mask => ("masked", "survivor_lists"),
            Step::Confirm => ("confirm", "confirmed"),
            Step::Unmask => ("reveal", ""),
        };
        for (i, (&c, request)) in down.iter().enumerate() {
            let (client, signer) = (&mut clients[c], identities.get(c));
            let message = match step {
                Step::Advertise => Ok(client.advertise()),
                Step::Share => client.share(request, signer, Interrupt::begin()),
                Step::Mask => {
                    client.mask(request, &numbers(&golden["inputs"][c]), Interrupt::begin())
                }
                Step::Confirm => client.confirm(request, signer.unwrap()),
                Step::Unmask => client.unmask(request),
            };
            let message = message.unwrap();
            assert_eq!(message, unhex(&golden[up][i]), "{up} of client {c}");
            let lost = match step {
                Step::Mask => "mask",
                Step::Confirm => "confirm",
                _ => "",
            };
            if golden["lost"][c.to_string()] != lost {
                server.receive(c, &message).unwrap();
            }
        }
        down = server.close_step(Interrupt::begin()).unwrap();
        for (i, (c, message)) in down.iter().enumerate() {
            assert_eq!(*message, unhex(&golden[reply][i]), "{reply} for client {c}");
        }
    }
    let (total, survivors) = server.result().unwrap();
    assert_eq!(total, numbers(&golden["total"]));
    assert_eq!(Value::from(survivors), golden["survivors"]);
    assert_eq!(server.faults(), []);
    let confirmed = golden.get("confirmations").map(unhex).unwrap_or_default();
    assert_eq!(server.confirmations(), confirmations(&confirmed));
}
