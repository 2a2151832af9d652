//! Whatever is delivered, dropped, repeated or misdelivered, the sum is of what arrived in time.

use super::session::*;
use fedrank_core::Interrupt;
use fedrank_core::secagg::{Error, Party};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const SHAPE: [(usize, u32); 3] = [(3, 5), (2, 14), (1, 64)];

#[derive(Debug, Clone)]
enum Event {
    /// The message of the step, by this client.
    Deliver(usize),
    /// Once more, something already sent.
    Replay(usize, usize),
    /// Under a wrong name.
    Misdeliver(usize, usize),
}

fn events(clients: usize) -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0..clients).prop_map(Event::Deliver),
        2 => (0..clients, 0_usize..64).prop_map(|(c, n)| Event::Replay(c, n)),
        1 => (0..clients, 0..clients).prop_map(|(c, d)| Event::Misdeliver(c, d)),
    ];
    prop::collection::vec(event, 3 * clients)
}

proptest! {
    #![proptest_config(super::fuzz::cases(64))]
    /// Deliver, drop, duplicate, reorder: what is in the sum is what arrived in time.
    #[test]
    fn random_schedules(
        schedule in prop::array::uniform5(events(6)), seed: u64, with_identities: bool,
    ) {
        let params = both_modes(&params(6, Some(4), &SHAPE))[usize::from(with_identities)].clone();
        let inputs = inputs(&params, seed);
        let mut clients = clients(&params, seed);
        let mut server = server(&params, seed);
        let mut sent: Vec<Vec<Vec<u8>>> = vec![vec![]; 6];
        let mut down: BTreeMap<usize, Vec<u8>> = (0..6).map(|c| (c, vec![])).collect();
        let mut masked: Vec<usize> = Vec::new();
        for (&step, events) in steps(&params).iter().zip(schedule) {
            let mut arrived = BTreeSet::new();
            for event in events {
                match event {
                    Event::Deliver(c) => if let Some(request) = down.get(&c) {
                        let message = answer(&mut clients[c], step, request, &inputs[c]).unwrap();
                        prop_assert_eq!(server.receive(c, &message), Ok(()));
                        sent[c].push(message);
                        arrived.insert(c);
                    },
                    Event::Replay(c, n) => if !sent[c].is_empty() {
                        // All of these were taken once, so they are ignored.
                        let message = &sent[c][n % sent[c].len()];
                        prop_assert_eq!(server.receive(c, message), Ok(()));
                    },
                    Event::Misdeliver(c, d) => if let Some(message) = sent[c].last().filter(|_| c != d) {
                        let refused = server.receive(d, message);
                        prop_assert_eq!(refused, Err(Error::Foreign { from: Party::Client(d) }));
                    },
                }
            }
            match server.close_step(Interrupt::begin()) {
                Ok(next) => {
                    prop_assert!(arrived.len() >= 4);
                    if step < Step::Unmask {
                        prop_assert!(next.keys().eq(arrived.iter()));
                    }
                    down = next;
                }
                Err(error) => {
                    prop_assert_eq!(error.code(), "few");
                    prop_assert!(arrived.len() < 4);
                    return Ok(());
                }
            }
            if step == Step::Mask {
                prop_assert!(server.result().is_err());
                masked = arrived.into_iter().collect();
            }
        }
        let (total, survivors) = server.result().unwrap();
        prop_assert_eq!(&survivors, &masked);
        prop_assert_eq!(total, plain_sum(&params, &inputs, &survivors));
    }
}
