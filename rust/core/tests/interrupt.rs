//! Long calls stop when they are interrupted. A file of its own, that is a process of its own:
//! an interrupt stops all calls of a process.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use fedrank_core::consensus::{footrule, kemeny, pick, pivot};
use fedrank_core::mallows::Phi;
use fedrank_core::message::{Layout, Segment};
use fedrank_core::secagg::{self, Client, Identity, Params, Server};
use fedrank_core::{
    Error, Interrupt, Profile, Rankings, Result, Ties, interrupt, kendall, pairwise,
};
use rand_core::SeedableRng;

const KEY: [u8; 32] = [1; 32];

/// Held by each test, since an interrupt would stop the calls of the others.
static ALONE: Mutex<()> = Mutex::new(());

fn uniform(rows: usize, n: usize) -> Vec<u32> {
    let center: Vec<u32> = (0..n as u32).collect();
    let model = Phi::new(1.0).expect("in range");
    model.sample(Rankings::trusted(&center, n), rows, KEY, Interrupt::begin()).expect("it fits")
}

/// Starts a call that would take many seconds, and interrupts it.
fn stops<T: Send>(name: &str, call: impl FnOnce(Interrupt<'_>) -> Result<T> + Send) {
    let token = Interrupt::begin();
    let (found, waited) = std::thread::scope(|scope| {
        let worker = scope.spawn(move || call(token));
        std::thread::sleep(Duration::from_millis(300));
        let start = Instant::now();
        interrupt::all();
        (worker.join().expect("no panic"), start.elapsed())
    });
    assert_eq!(found.err(), Some(Error::Interrupted), "{name}");
    assert!(waited < Duration::from_millis(500), "{name} took {waited:?}");
}

#[test]
fn long_calls_stop_and_later_ones_run() {
    let _alone = ALONE.lock();
    let (n, ties) = (2000, Ties::Random(KEY));
    let ranks = uniform(31, n);
    let rankings = Rankings::trusted(&ranks, n);
    let profile = Profile::new(rankings, None).expect("not empty");
    stops("kemeny", |token| kemeny::consensus(&profile, 20, 100_000, ties, KEY, token));
    stops("pivot", |token| pivot::consensus(&profile, 1 << 30, ties, KEY, token));

    let few = uniform(9, kemeny::EXACT_MOST);
    let few = Profile::new(Rankings::trusted(&few, kemeny::EXACT_MOST), None).expect("not empty");
    stops("subsets", |token| {
        (0..100).try_for_each(|_| kemeny::consensus(&few, 24, 0, ties, KEY, token).map(|_| ()))
    });

    let many = uniform(40_000, 1000);
    let many = Rankings::trusted(&many, 1000);
    let weighted = Profile::new(many, None).expect("not empty");
    stops("pairwise", |token| pairwise::counts(&weighted, token));
    stops("pick", |token| pick::consensus(&weighted, ties, token));
    stops("kendall", |token| kendall::distances(many, many, token));
    stops("sample", |token| {
        Phi::new(1.0)?.sample(Rankings::trusted(&ranks[..n], n), 1_000_000, KEY, token)
    });

    let wide = uniform(50, 4000);
    let wide = Profile::new(Rankings::trusted(&wide, 4000), None).expect("not empty");
    stops("footrule", |token| footrule::consensus(&wide, ties, token));

    let before = pairwise::counts(&profile, Interrupt::begin());
    assert!(before.is_ok());
}

#[test]
fn interrupted_steps_of_secure_aggregation_change_nothing() -> secagg::Result<()> {
    let _alone = ALONE.lock();
    let stopped = Interrupt::begin();
    interrupt::all();
    let token = Interrupt::begin();
    let interrupted: secagg::Result<Vec<u8>> = Err(secagg::Error::Interrupted);
    let layout = Layout::new(vec![Segment { name: "s".into(), len: 100, bits: 9 }])?;
    let mut rng = ChaCha20Rng::from_seed(KEY);
    let identities: Vec<Identity> = (0..4).map(|_| Identity::generate(&mut rng)).collect();
    let params = Params::new(KEY, 4, Some(3), 0, layout)?;
    let params = params.signed(identities.iter().map(|i| *i.public()).collect())?;
    let input = [7; 100];

    let mut server = Server::new(params.clone(), 0, &mut rng);
    let mut clients = Vec::new();
    for me in 0..4 {
        clients.push(Client::new(params.clone(), me, server.session(), &mut rng)?);
        server.receive(me, &clients[me].advertise())?;
    }
    let close = |server: &mut Server| {
        let before = server.state();
        assert_eq!(server.close_step(stopped), Err(secagg::Error::Interrupted));
        assert_eq!(*server.state(), *before);
        server.close_step(token)
    };
    for (me, keys) in close(&mut server)? {
        let (before, signer) = (clients[me].state(), Some(&identities[me]));
        assert_eq!(clients[me].share(&keys, signer, stopped), interrupted);
        assert_eq!(*clients[me].state(), *before);
        server.receive(me, &clients[me].share(&keys, signer, token)?)?;
    }
    // Client 3 drops out, so that its masks with the others are rebuilt.
    for (me, delivery) in close(&mut server)?.into_iter().take(3) {
        let before = clients[me].state();
        assert_eq!(clients[me].mask(&delivery, &input, stopped), interrupted);
        assert_eq!(*clients[me].state(), *before);
        server.receive(me, &clients[me].mask(&delivery, &input, token)?)?;
    }
    for (me, survivors) in close(&mut server)? {
        server.receive(me, &clients[me].confirm(&survivors, &identities[me])?)?;
    }
    for (me, confirmed) in close(&mut server)? {
        server.receive(me, &clients[me].unmask(&confirmed)?)?;
    }
    close(&mut server)?;
    assert_eq!(server.result()?, (vec![21; 100], vec![0, 1, 2]));
    Ok(())
}
